package interval

// Field is the place of a column in a packed tuple: the word minus base, in
// some bits of one of the tuple's words.
type Field struct {
	Word  int
	Shift uint8
	Bits  uint8
	Base  int64
}

// Mask returns the field's bits, not yet shifted to their place.
func (f Field) Mask() uint64 { return 1<<f.Bits - 1 }

// Layout packs tuples into words of 64 bits. Columns get as many bits as their
// interval needs; most tuples, such as pairs of ids, then fit one word.
type Layout struct {
	Words  int // of a tuple; 0 if no column needs a bit
	Bits   int // used, if Words is at most 1
	Fields []Field
}

// NewLayout places columns in order, the first one highest, so that packed
// single words sort as their tuples do. Columns that do not fit one word
// together are spread first-fit over several.
func NewLayout(ranges []Interval) Layout {
	l := Layout{Fields: make([]Field, len(ranges))}
	total := 0
	for i, r := range ranges {
		l.Fields[i] = Field{Bits: uint8(r.Bits()), Base: r.Lo}
		if r.Empty() {
			l.Fields[i].Base = 0
		}
		total += r.Bits()
	}
	if total <= 64 {
		l.Bits = total
		if total > 0 {
			l.Words = 1
		}
		for i := range l.Fields {
			total -= int(l.Fields[i].Bits)
			// A column without bits may stand above the highest bit.
			l.Fields[i].Shift = uint8(total & 63)
		}
		return l
	}
	var used []int
	for i := range l.Fields {
		f := &l.Fields[i]
		w := 0
		for w < len(used) && used[w]+int(f.Bits) > 64 {
			w++
		}
		if w == len(used) {
			used = append(used, 0)
		}
		f.Word, f.Shift = w, uint8(used[w]&63)
		used[w] += int(f.Bits)
	}
	l.Words = len(used)
	return l
}

// Pack writes n tuples to dst, which has room for n*Words words. Every word of
// column i lies in the interval that field i was made for.
func (l *Layout) Pack(dst []uint64, cols [][]int64, n int) {
	switch {
	case l.Words == 0:
	case len(cols) == 0:
		clear(dst[:n*l.Words])
	case l.Words == 1 && len(cols) == 1:
		base := l.Fields[0].Base
		dst = dst[:n]
		for i, v := range cols[0][:n] {
			dst[i] = uint64(v - base)
		}
	case l.Words == 1 && len(cols) == 2:
		f, g := l.Fields[0], l.Fields[1]
		a, b, dst := cols[0][:n], cols[1][:n], dst[:n]
		for i := range dst {
			dst[i] = uint64(a[i]-f.Base)<<(f.Shift&63) | uint64(b[i]-g.Base)
		}
	case l.Words == 1:
		dst = dst[:n]
		for j, f := range l.Fields {
			col := cols[j][:n]
			if j == 0 {
				for i := range dst {
					dst[i] = uint64(col[i]-f.Base) << (f.Shift & 63)
				}
				continue
			}
			for i := range dst {
				dst[i] |= uint64(col[i]-f.Base) << (f.Shift & 63)
			}
		}
	default:
		clear(dst[:n*l.Words])
		for j, f := range l.Fields {
			at := f.Word
			for _, v := range cols[j][:n] {
				dst[at] |= uint64(v-f.Base) << (f.Shift & 63)
				at += l.Words
			}
		}
	}
}

// Unpack reads field i of the n tuples that start at rows[0].
func (l *Layout) Unpack(dst []int64, rows []uint64, i, n int) {
	f := l.Fields[i]
	mask := f.Mask()
	dst = dst[:n]
	switch {
	case f.Bits == 0:
		for i := range dst {
			dst[i] = f.Base
		}
	case l.Words == 1:
		for i, w := range rows[:n] {
			dst[i] = int64(w>>(f.Shift&63)&mask) + f.Base
		}
	default:
		at := f.Word
		for i := range dst {
			dst[i] = int64(rows[at]>>(f.Shift&63)&mask) + f.Base
			at += l.Words
		}
	}
}

// UnpackAt reads field i of the n tuples with the given numbers.
func (l *Layout) UnpackAt(dst []int64, rows []uint64, numbers []uint32, i int) {
	f := l.Fields[i]
	mask := f.Mask()
	dst = dst[:len(numbers)]
	switch {
	case f.Bits == 0:
		for i := range dst {
			dst[i] = f.Base
		}
	case l.Words == 1:
		for i, r := range numbers {
			dst[i] = int64(rows[r]>>(f.Shift&63)&mask) + f.Base
		}
	default:
		for i, r := range numbers {
			dst[i] = int64(rows[int(r)*l.Words+f.Word]>>(f.Shift&63)&mask) + f.Base
		}
	}
}
