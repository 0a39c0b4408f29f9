package parquet

import (
	"io"
	"slices"
)

// Kept is the unpacked pages of a column chunk, to be read once more. Its room
// serves one chunk after the other.
type Kept struct {
	dictionary bool // dictionary pages have their values
	pages      []keptPage
	next       int
	data       []byte
	spans      []keptSpan // of data, of the pages that were unpacked
}

// keptPage is a page without its body.
type keptPage struct {
	page Page
	span int // -1 if it was not unpacked
}

// keptSpan is the values of a page, whose bytes are parts of the data.
type keptSpan struct {
	levels Hybrid
	values Values
	// The bytes of the levels end at one place, and those of the values at the
	// other.
	from, levelsEnd, end int
}

// Clear forgets the pages.
func (k *Kept) Clear() {
	k.pages, k.next, k.data, k.spans = k.pages[:0], 0, k.data[:0], k.spans[:0]
}

// Keep has the pages that are read from now on kept; dictionary pages without
// their values, unless these are wanted.
func (p *Pages) Keep(k *Kept, dictionary bool) { p.kept, k.dictionary = k, dictionary }

func (k *Kept) add(page *Page) {
	k.pages = append(k.pages, keptPage{*page, -1})
	k.pages[len(k.pages)-1].page.Body = nil
}

func (k *Kept) unpacked(levels Hybrid, v Values) {
	if k.pages[len(k.pages)-1].page.Dictionary != nil && !k.dictionary {
		return
	}
	k.pages[len(k.pages)-1].span = len(k.spans)
	s := keptSpan{levels: levels, values: v, from: len(k.data)}
	k.data = append(k.data, levels.data...)
	s.levelsEnd = len(k.data)
	if v.Plain != nil {
		k.data = append(k.data, v.Plain...)
	} else {
		k.data = append(k.data, v.Numbers.data...)
	}
	s.end = len(k.data)
	k.spans = append(k.spans, s)
}

// Next returns the next page, as Pages does, without its body.
func (k *Kept) Next() (*Page, error) {
	if k.next == len(k.pages) {
		return nil, io.EOF
	}
	k.next++
	return &k.pages[k.next-1].page, nil
}

// Unpack returns the values of the page that Next has returned. It must be one
// that was unpacked when it was kept.
func (k *Kept) Unpack(*Page) (levels Hybrid, v Values, err error) {
	at := k.pages[k.next-1].span
	if at < 0 {
		return levels, v, damaged("a page was not kept")
	}
	s := k.spans[at]
	levels, v = s.levels, s.values
	levels.data = slices.Clip(k.data[s.from:s.levelsEnd])
	if data := slices.Clip(k.data[s.levelsEnd:s.end]); v.Plain != nil {
		v.Plain = data
	} else {
		v.Numbers.data = data
	}
	return levels, v, nil
}
