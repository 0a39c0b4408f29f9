package store

import (
	"sort"
	"strings"
	"unsafe"
)

// WithPrefix returns the codes from and up to to, without it, of the strings in
// byte order that begin with the prefix.
func (d *Dict) WithPrefix(prefix string) (from, to int) {
	from = d.LowerBound(prefix)
	n := sort.Search(d.Sorted()-from, func(i int) bool {
		return !strings.HasPrefix(d.sortedAt(from+i), prefix)
	})
	return from, from + n
}

// Finder finds strings of a dictionary with a text in them. The strings in byte
// order lie one behind the other in memory, which it searches as one text: what
// it costs depends on their bytes, hardly on their number.
type Finder struct {
	dict *Dict
	text string
	// at is the place in text of the byte that is looked for first; -1 if even
	// that one is so frequent that looking for the whole text is faster.
	at int
}

// frequentByte bounds the frequency of a byte that is searched for by itself:
// one byte of frequentByte.
const frequentByte = 16

// Finder returns a finder of one of the texts, that with the least frequent
// byte. None of them may be empty.
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

// Find calls found with each of the codes from from and below to, which are of
// strings in byte order, whose string has the text in it. The string is valid
// until found returns.
func (f *Finder) Find(from, to int, found func(code int, s string)) {
	f.dict.scan(from, to, func(a *stringArena, first, from, to int) {
		f.find(a, from-first, to-first, func(i int) { found(first+i, a.at(i)) })
	})
}

// Each calls f with each of the codes from from and below to, which are of
// strings in byte order. The string is valid until f returns.
func (d *Dict) Each(from, to int, f func(code int, s string)) {
	d.scan(from, to, func(a *stringArena, first, from, to int) {
		for code := from; code < to; code++ {
			f(code, a.at(code-first))
		}
	})
}

// find calls found with each of the strings from from and below to that have
// the text in them.
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
			at = hit + 1 // it is in two strings
			continue
		}
		found(code)
		at = next
	}
}

// index returns the first place of the text.
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

// start returns where string i begins; that of len is where the last one ends.
func (a *stringArena) start(i int) int {
	switch {
	case i == 0:
		return 0
	case a.wide != nil:
		return int(a.wide[i-1])
	}
	return int(a.ends[i-1])
}

// text returns the bytes of strings, one behind the other.
func (a *stringArena) text(from, to int) string {
	return unsafe.String(unsafe.SliceData(a.data[from:to]), to-from)
}

// holding returns the string in which a byte is, one of from and below to. It
// looks at the first few one by one, then in steps that double.
func (a *stringArena) holding(at, from, to int) int {
	step := 1
	for from+step < to && a.start(from+step) <= at {
		from += step
		step *= 2
	}
	n := min(step, to-from)
	return from + sort.Search(n, func(i int) bool { return a.start(from+i+1) > at })
}

// sampled is the number of bytes, in samplePieces pieces, that the frequencies
// of bytes are estimated from.
const (
	sampled        = 1 << 16
	samplePieces   = 16
	sampledStrings = 64 // of a piece, if strings are packed
)

// sample counts the bytes of some of the text.
func (d *Dict) sample() (counts [256]int, n int) {
	if d.packed == nil {
		return d.sorted.sample()
	}
	// A few strings from as many places.
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
