package portable

import "math/bits"

// interval bounds the words of a column, inclusive, in the order of int64. It
// is empty, the bound of no words, if lo > hi.
type interval struct{ lo, hi int64 }

var (
	noWords  = interval{0, -1}
	allWords = interval{-1 << 63, 1<<63 - 1}
)

func (r interval) empty() bool { return r.lo > r.hi }

func (r interval) contains(w int64) bool { return r.lo <= w && w <= r.hi }

// bits returns how many bits tell the words of the interval apart.
func (r interval) bits() int {
	if r.empty() {
		return 0
	}
	return bits.Len64(uint64(r.hi) - uint64(r.lo))
}

func (r interval) union(s interval) interval {
	switch {
	case r.empty():
		return s
	case s.empty():
		return r
	}
	return interval{min(r.lo, s.lo), max(r.hi, s.hi)}
}

func (r interval) intersect(s interval) interval {
	t := interval{max(r.lo, s.lo), min(r.hi, s.hi)}
	if t.empty() {
		return noWords
	}
	return t
}

// field is the place of a column in a packed tuple: the word minus base, in
// some bits of one of the tuple's words.
type field struct {
	word  int
	shift uint8
	bits  uint8
	base  int64
}

func (f field) mask() uint64 { return 1<<f.bits - 1 }

// layout packs tuples into words of 64 bits. Columns get as many bits as their
// interval needs; most tuples, such as pairs of ids, then fit one word.
type layout struct {
	words  int // of a tuple; 0 if no column needs a bit
	bits   int // used, if words is at most 1
	fields []field
}

// newLayout places columns in order, the first one highest, so that packed
// single words sort as their tuples do. Columns that do not fit one word
// together are spread first-fit over several.
func newLayout(ranges []interval) layout {
	l := layout{fields: make([]field, len(ranges))}
	total := 0
	for i, r := range ranges {
		l.fields[i] = field{bits: uint8(r.bits()), base: r.lo}
		if r.empty() {
			l.fields[i].base = 0
		}
		total += r.bits()
	}
	if total <= 64 {
		l.bits = total
		if total > 0 {
			l.words = 1
		}
		for i := range l.fields {
			total -= int(l.fields[i].bits)
			// A column without bits may stand above the highest bit.
			l.fields[i].shift = uint8(total & 63)
		}
		return l
	}
	var used []int
	for i := range l.fields {
		f := &l.fields[i]
		w := 0
		for w < len(used) && used[w]+int(f.bits) > 64 {
			w++
		}
		if w == len(used) {
			used = append(used, 0)
		}
		f.word, f.shift = w, uint8(used[w]&63)
		used[w] += int(f.bits)
	}
	l.words = len(used)
	return l
}

// pack writes n tuples to dst, which has room for n*words words. Every word of
// column i lies in the interval that field i was made for.
func (l *layout) pack(dst []uint64, cols [][]int64, n int) {
	switch {
	case l.words == 0:
	case len(cols) == 0:
		clear(dst[:n*l.words])
	case l.words == 1 && len(cols) == 1:
		base := l.fields[0].base
		dst = dst[:n]
		for i, v := range cols[0][:n] {
			dst[i] = uint64(v - base)
		}
	case l.words == 1 && len(cols) == 2:
		f, g := l.fields[0], l.fields[1]
		a, b, dst := cols[0][:n], cols[1][:n], dst[:n]
		for i := range dst {
			dst[i] = uint64(a[i]-f.base)<<(f.shift&63) | uint64(b[i]-g.base)
		}
	case l.words == 1:
		dst = dst[:n]
		for j, f := range l.fields {
			col := cols[j][:n]
			if j == 0 {
				for i := range dst {
					dst[i] = uint64(col[i]-f.base) << (f.shift & 63)
				}
				continue
			}
			for i := range dst {
				dst[i] |= uint64(col[i]-f.base) << (f.shift & 63)
			}
		}
	default:
		clear(dst[:n*l.words])
		for j, f := range l.fields {
			at := f.word
			for _, v := range cols[j][:n] {
				dst[at] |= uint64(v-f.base) << (f.shift & 63)
				at += l.words
			}
		}
	}
}

// unpack reads field i of the n tuples that start at rows[0].
func (l *layout) unpack(dst []int64, rows []uint64, i, n int) {
	f := l.fields[i]
	mask := f.mask()
	dst = dst[:n]
	switch {
	case f.bits == 0:
		for i := range dst {
			dst[i] = f.base
		}
	case l.words == 1:
		for i, w := range rows[:n] {
			dst[i] = int64(w>>(f.shift&63)&mask) + f.base
		}
	default:
		at := f.word
		for i := range dst {
			dst[i] = int64(rows[at]>>(f.shift&63)&mask) + f.base
			at += l.words
		}
	}
}

// unpackAt reads field i of the n tuples with the given numbers.
func (l *layout) unpackAt(dst []int64, rows []uint64, numbers []uint32, i int) {
	f := l.fields[i]
	mask := f.mask()
	dst = dst[:len(numbers)]
	switch {
	case f.bits == 0:
		for i := range dst {
			dst[i] = f.base
		}
	case l.words == 1:
		for i, r := range numbers {
			dst[i] = int64(rows[r]>>(f.shift&63)&mask) + f.base
		}
	default:
		for i, r := range numbers {
			dst[i] = int64(rows[int(r)*l.words+f.word]>>(f.shift&63)&mask) + f.base
		}
	}
}
