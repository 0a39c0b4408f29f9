package store

import (
	"sort"
	"strings"
	"unsafe"
)

// WithPrefix returns the range of codes [from, to) of the sorted strings that
// begin with the prefix.
func (d *Dict) WithPrefix(prefix string) (from, to int) {
	from = d.LowerBound(prefix)
	n := sort.Search(d.Sorted()-from, func(i int) bool {
		return !strings.HasPrefix(d.sortedAt(from+i), prefix)
	})
	return from, from + n
}

// Finder finds the strings of a dictionary that contain a text. The sorted
// strings are contiguous in memory and are searched as one text, so the cost
// depends on their bytes and hardly on their number.
type Finder struct {
	dict *Dict
	text string
	// at is the index in text of its rarest byte, which is searched for first.
	// It is -1 if even that byte is so frequent that searching for the whole
	// text is faster.
	at int
}

// frequentByte bounds the frequency of a byte that is searched for by itself:
// at most one byte in frequentByte.
const frequentByte = 16

// Finder returns a finder of one of the texts: the one with the rarest byte. No
// text may be empty.
func (d *Dict) Finder(texts ...string) *Finder {
	counts, n := d.sample()
	best := &Finder{dict: d, text: texts[0], at: -1}
	least := n/frequentByte + 1
	for _, t := range texts {
		for i := range len(t) {
			if c := counts[t[i]]; c < least {
				best.text, best.at, least = t, i, c
			}
		}
	}
	return best
}

// Find calls found for each code in [from, to) whose string contains the text.
// The codes are of sorted strings. The string is valid until found returns.
func (f *Finder) Find(from, to int, found func(code int, s string)) {
	f.dict.scan(from, to, func(a *stringArena, first, from, to int) {
		f.find(a, from-first, to-first, func(i int) { found(first+i, a.at(i)) })
	})
}

// Each calls f for each code in [from, to). The codes are of sorted strings.
// The string is valid until f returns.
func (d *Dict) Each(from, to int, f func(code int, s string)) {
	d.scan(from, to, func(a *stringArena, first, from, to int) {
		for code := from; code < to; code++ {
			f(code, a.at(code-first))
		}
	})
}

// find calls found for each string in [from, to) that contains the text.
func (f *Finder) find(a *stringArena, from, to int, found func(i int)) {
	if from >= to {
		return
	}
	at, end := a.start(from), a.start(to)
	code, next := from, a.start(from+1)
	for {
		hit := f.index(a.text(at, end))
		if hit < 0 {
			return
		}
		hit += at
		if next <= hit {
			code = a.holding(hit, code+1, to)
			next = a.start(code + 1)
		}
		if hit+len(f.text) > next {
			at = hit + 1 // the hit spans two strings
			continue
		}
		found(code)
		at = next
	}
}

// index returns the index of the first occurrence of the text in s, or -1.
func (f *Finder) index(s string) int {
	if f.at < 0 {
		return strings.Index(s, f.text)
	}
	for from := f.at; from < len(s); from++ {
		i := strings.IndexByte(s[from:], f.text[f.at])
		if i < 0 {
			return -1
		}
		from += i
		if at := from - f.at; strings.HasPrefix(s[at:], f.text) {
			return at
		}
	}
	return -1
}

// start returns where string i begins; start(len) is where the last one ends.
func (a *stringArena) start(i int) int {
	switch {
	case i == 0:
		return 0
	case a.wide != nil:
		return int(a.wide[i-1])
	}
	return int(a.ends[i-1])
}

// text returns bytes from..to-1 of the concatenated strings.
func (a *stringArena) text(from, to int) string {
	return unsafe.String(unsafe.SliceData(a.data[from:to]), to-from)
}

// holding returns the string in [from, to) that contains a byte. It searches in
// steps that double, then by bisection.
func (a *stringArena) holding(at, from, to int) int {
	step := 1
	for from+step < to && a.start(from+step) <= at {
		from += step
		step *= 2
	}
	n := min(step, to-from)
	return from + sort.Search(n, func(i int) bool { return a.start(from+i+1) > at })
}

// The frequencies of bytes are estimated from a sample of this many bytes, in
// samplePieces pieces.
const (
	sampled        = 1 << 16
	samplePieces   = 16
	sampledStrings = 64 // in a piece, if strings are packed
)

// sample counts the bytes of some of the text.
func (d *Dict) sample() (counts [256]int, n int) {
	if d.packed == nil {
		return d.sorted.sample()
	}
	// A few strings from each of samplePieces places.
	strings := d.Sorted()
	step := max(strings/samplePieces, 1)
	for from := 0; from < strings; from += step {
		d.Each(from, min(from+sampledStrings, from+step, strings), func(_ int, s string) {
			for i := range len(s) {
				counts[s[i]]++
			}
			n += len(s)
		})
	}
	return counts, n
}

func (a *stringArena) sample() (counts [256]int, n int) {
	piece, distance := len(a.data), len(a.data)+1
	if piece > sampled {
		piece, distance = sampled/samplePieces, piece/samplePieces
	}
	for at := 0; at+piece <= len(a.data); at += distance {
		for _, b := range a.data[at : at+piece] {
			counts[b]++
		}
		n += piece
	}
	return counts, n
}
