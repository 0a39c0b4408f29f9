package parquet

import "io"

// PageIndex is what a file says of the data pages of a column chunk beside the
// pages, so that a reader need not read those without a row that it wants.
type PageIndex struct {
	Pages []PageLocation
	// Min and Max are bounds of the values of each page, as PLAIN bytes; nil if
	// there are none.
	Min, Max [][]byte

	rows int64
}

// Rows returns the rows of a page: its first one in the row group, and the one
// behind its last.
func (x *PageIndex) Rows(page int) (from, until int64) {
	if page+1 < len(x.Pages) {
		return x.Pages[page].Row, x.Pages[page+1].Row
	}
	return x.Pages[page].Row, x.rows
}

// PageIndex returns the page index of a column in a row group, with bounds if
// the caller wants them. If the chunk has no index, or one that does not fit
// its pages, it returns nil, and readers read all pages.
func (f *Footer) PageIndex(file io.ReaderAt, size int64, group, column int,
	bounds bool) *PageIndex {
	g := &f.Groups[group]
	chunk := &g.Chunks[column]
	if f.Columns[column].Repetition > 0 || chunk.Meta.Values != g.Rows {
		return nil
	}
	var at offsetIndex
	if !readIndex(file, size, chunk.Locations, chunk.LocationsLength, &at) {
		return nil
	}
	x := &PageIndex{Pages: at.Pages, rows: g.Rows}
	from, until := f.Span(size, group, column)
	row := int64(0)
	for i, p := range x.Pages {
		end := p.Offset + int64(p.Packed)
		if p.Packed <= 0 || p.Offset < from || end > until || i == 0 && p.Row != 0 ||
			i > 0 && p.Row <= row || p.Row >= g.Rows {
			return nil
		}
		from, row = end, p.Row
	}
	if len(x.Pages) == 0 {
		return nil
	}
	var within columnIndex
	if bounds && readIndex(file, size, chunk.Bounds, chunk.BoundsLength, &within) &&
		len(within.Min) == len(x.Pages) && len(within.Max) == len(x.Pages) {
		x.Min, x.Max = within.Min, within.Max
	}
	return x
}

// Runs returns the parts of a file that a reader of the wanted pages reads,
// from the start of the column chunk on: [from, until) in ascending order. A
// gap between them is longer than gap bytes.
func (x *PageIndex) Runs(start int64, wanted func(from, until int64) bool, gap int64) [][2]int64 {
	runs := [][2]int64{{start, x.Pages[0].Offset}}
	for i, p := range x.Pages {
		if from, until := x.Rows(i); !wanted(from, until) {
			continue
		}
		last := &runs[len(runs)-1]
		if end := p.Offset + int64(p.Packed); p.Offset-last[1] <= gap {
			last[1] = end
		} else {
			runs = append(runs, [2]int64{p.Offset, end})
		}
	}
	return runs
}

// readIndex reads a part of a page index, and reports whether it is there.
func readIndex(file io.ReaderAt, size int64, at *int64, length *int32, into any) bool {
	if at == nil || length == nil || *at < 0 || *length <= 0 || *length > maxHeader ||
		*at > size-int64(*length) {
		return false
	}
	data := make([]byte, *length)
	if readAt(file, data, *at) != nil {
		return false
	}
	_, err := unmarshal(data, into)
	return err == nil
}

// Skip has Next pass over data pages of the index without reading them, where
// wanted reports that none of their rows is. Next returns several such pages as
// one, which has a number of values, and no body.
func (p *Pages) Skip(x *PageIndex, wanted func(from, until int64) bool) {
	p.index, p.wanted, p.until = x, wanted, x.Pages[0].Offset
}

// setUntil finds the end of the pages that are to be read from the next one on.
func (p *Pages) setUntil() {
	for i := p.nextPage; i < len(p.index.Pages); i++ {
		if from, until := p.index.Rows(i); !p.wanted(from, until) {
			return
		}
		p.until = p.index.Pages[i].Offset + int64(p.index.Pages[i].Packed)
	}
}

// skip passes over pages from here on. It returns nil if the next page is to be
// read.
func (p *Pages) skip() *Page {
	pages := p.index.Pages
	if p.nextPage == len(pages) || pages[p.nextPage].Offset != p.at-int64(len(p.window)) {
		return nil
	}
	first, _ := p.index.Rows(p.nextPage)
	rows := first
	page := &Page{}
	for p.nextPage < len(pages) {
		from, until := p.index.Rows(p.nextPage)
		if p.wanted(from, until) {
			break
		}
		rows = until
		page.Skipped++
		p.Unread += int64(pages[p.nextPage].Packed)
		p.nextPage++
	}
	p.setUntil()
	if page.Skipped == 0 {
		from, until := p.index.Rows(p.nextPage)
		p.expected = until - from
		p.nextPage++
		return nil
	}
	p.values -= rows - first
	page.Data = &DataHeader{Values: int32(rows - first)}
	if p.nextPage < len(pages) {
		if ahead := pages[p.nextPage].Offset - (p.at - int64(len(p.window))); ahead <
			int64(len(p.window)) {
			p.window = p.window[ahead:]
		} else {
			p.at, p.window = pages[p.nextPage].Offset, nil
		}
	}
	return page
}
