package parquet

import (
	"encoding/binary"
	"errors"
	"io"
	"math/bits"

	"github.com/redfoxdb/redfox/internal/hugepage"
)

// Bounds of what damaged files may make a reader allocate. Writers keep pages
// and headers far smaller.
const (
	maxPage   = 256 << 20
	maxHeader = 16 << 20
)

// windowBytes is how much of a file is read at a time.
const windowBytes = 256 << 10

// headerSlack is how far pages may reach beyond the length of their column
// chunk: some old writers do not count the header of the dictionary.
const headerSlack = 100

// Room is the memory in which the pages of one column chunk after the other are
// read. It is for one goroutine.
type Room struct {
	// Reserve is called before n more bytes are allocated; nil allows
	// everything.
	Reserve func(n int) error

	window, unpacked, plain []byte
	codecs
}

// grow returns n bytes, in the memory of *b if that is large enough.
func (r *Room) grow(b *[]byte, n int) ([]byte, error) {
	if n > maxPage {
		return nil, damaged("a page takes more than %d MiB", maxPage>>20)
	}
	if more := n - cap(*b); more > 0 {
		if r.Reserve != nil {
			if err := r.Reserve(more); err != nil {
				return nil, err
			}
		}
		*b = hugepage.Advise(make([]byte, n))
	}
	return (*b)[:n], nil
}

// Pages reads the pages of a column chunk.
type Pages struct {
	room   *Room
	file   io.ReaderAt
	column *Column
	codec  Codec
	at     int64  // of the file, behind the window
	end    int64  // of the pages
	window []byte // of the file, before at
	values int64  // of the pages to come

	index    *PageIndex // nil if all pages are read
	nextPage int        // of the index
	wanted   func(from, until int64) bool
	until    int64 // of the file: the end of the pages to read before others are passed over
	expected int64 // values of the next data page by the index, 0 if it does not say
	// Unread is the number of bytes of pages that were passed over.
	Unread int64
	kept   *Kept // nil if pages are not kept
}

// Page is a page as it is stored.
type Page struct {
	PageHeader
	Body []byte // of the file; overwritten by the next page
	// Skipped is the number of pages that were passed over, 0 for a page that
	// was read.
	Skipped int
}

// Values returns the number of values of a data page, with the missing ones.
func (p *Page) Values() int {
	if p.Data != nil {
		return int(p.Data.Values)
	}
	return int(p.DataV2.Values)
}

// Span returns where the pages of a column in a row group are.
func (f *Footer) Span(size int64, group, column int) (from, until int64) {
	m := f.Groups[group].Chunks[column].Meta
	return m.start(), min(size, m.start()+m.Packed+headerSlack)
}

// Pages returns the pages of a column in a row group. size is that of the file
// in bytes.
func (f *Footer) Pages(file io.ReaderAt, size int64, group, column int, room *Room) *Pages {
	m := f.Groups[group].Chunks[column].Meta
	from, until := f.Span(size, group, column)
	return &Pages{
		room: room, file: file, column: &f.Columns[column], codec: m.Codec,
		at: from, end: until, values: m.Values,
	}
}

// Next returns the next dictionary or data page, or io.EOF when the pages have
// all values of the chunk.
func (p *Pages) Next() (*Page, error) {
	page, err := p.read()
	if err == nil && p.kept != nil {
		p.kept.add(page)
	}
	return page, err
}

// read is Next without keeping the page.
func (p *Pages) read() (*Page, error) {
	for p.values > 0 {
		if p.index != nil {
			if page := p.skip(); page != nil {
				return page, nil
			}
		}
		page := &Page{}
		if err := p.header(&page.PageHeader); err != nil {
			return nil, err
		}
		if page.Packed < 0 || page.Packed > maxPage || page.Bytes < 0 || page.Bytes > maxPage {
			return nil, damaged("column %s has a page of more than %d MiB", p.column.Name,
				maxPage>>20)
		}
		if err := p.fill(int(page.Packed)); err != nil {
			return nil, err
		}
		page.Body, p.window = p.window[:page.Packed], p.window[page.Packed:]
		values := int64(0)
		h := &page.PageHeader
		switch {
		case h.Kind == dataPage && h.Data != nil:
			h.Dictionary, h.DataV2, values = nil, nil, int64(h.Data.Values)
			p.values -= values
		case h.Kind == dataPageV2 && h.DataV2 != nil:
			h.Data, h.Dictionary, values = nil, nil, int64(h.DataV2.Values)
			p.values -= values
		case h.Kind == dictionaryPage && h.Dictionary != nil:
			h.Data, h.DataV2, values = nil, nil, int64(h.Dictionary.Values)
		default:
			continue // an index, or a kind of page that is newer
		}
		if h.Dictionary == nil {
			if p.expected > 0 && values != p.expected {
				return nil, damaged("column %s has other pages than its page index says",
					p.column.Name)
			}
			p.expected = 0
		}
		if values < 0 || p.values < 0 {
			return nil, damaged("column %s has other numbers of values than its metadata say",
				p.column.Name)
		}
		return page, nil
	}
	return nil, io.EOF
}

// header reads a page header, of which only the file knows how long it is.
func (p *Pages) header(h *PageHeader) error {
	for want := 1 << 10; ; want *= 4 {
		want = min(want, len(p.window)+int(p.stop()-p.at))
		if err := p.fill(want); err != nil {
			return err
		}
		*h = PageHeader{}
		n, err := unmarshal(p.window, h)
		if err == nil {
			p.window = p.window[n:]
			return nil
		}
		if !errors.Is(err, errShort) {
			return err
		}
		if p.at >= p.end || want > maxHeader {
			return damaged("column %s has a page without a whole header", p.column.Name)
		}
	}
}

// stop returns where to stop reading ahead.
func (p *Pages) stop() int64 {
	if p.index != nil && p.until > p.at {
		return min(p.until, p.end)
	}
	return p.end
}

// fill reads on until the window has n bytes.
func (p *Pages) fill(n int) error {
	if len(p.window) >= n {
		return nil
	}
	if int64(n-len(p.window)) > p.end-p.at {
		return errShortPage
	}
	old := p.window
	if _, err := p.room.grow(&p.room.window, max(n, windowBytes)); err != nil {
		return err
	}
	b := p.room.window[:cap(p.room.window)]
	have := copy(b, old)
	b = b[:min(len(b), max(n, have+int(p.stop()-p.at)))]
	if err := readAt(p.file, b[have:], p.at); err != nil {
		return err
	}
	p.at += int64(len(b) - have)
	p.window = b
	return nil
}

// Values are the values of a page that are there, in one of three forms.
type Values struct {
	Coded   bool   // Numbers are places in the dictionary
	Numbers Hybrid // if Coded, or of a Boolean column: 0 or 1
	Plain   []byte // otherwise
}

// Unpack decompresses a page. The levels of a data page say which values are
// there; a column that has no missing values has none. The result is
// overwritten by the next page.
func (p *Pages) Unpack(page *Page) (levels Hybrid, v Values, err error) {
	levels, v, err = p.unpack(page)
	if err == nil && p.kept != nil {
		p.kept.unpacked(levels, v)
	}
	return levels, v, err
}

// unpack is Unpack without keeping the values.
func (p *Pages) unpack(page *Page) (levels Hybrid, v Values, err error) {
	switch {
	case page.Dictionary != nil:
		v.Plain, err = p.room.unpack(p.codec, page.Body, int(page.Bytes))
		return levels, v, err
	case page.Data != nil:
		h := page.Data
		data, err := p.room.unpack(p.codec, page.Body, int(page.Bytes))
		if err == nil {
			levels, data, err = p.levels(h, data)
		}
		if err == nil {
			v, err = p.decode(h.Encoding, data, int(h.Values))
		}
		return levels, v, err
	}
	h := page.DataV2
	n := int(h.DefinitionBytes)
	if n < 0 || n > len(page.Body) || n > int(page.Bytes) || h.RepetitionBytes != 0 {
		return levels, v, errShortPage
	}
	levels = Hybrid{data: page.Body[:n], width: p.levelBits()}
	data := page.Body[n:]
	if (h.Compressed == nil || *h.Compressed) && len(data) > 0 {
		if data, err = p.room.unpack(p.codec, data, int(page.Bytes)-n); err != nil {
			return levels, v, err
		}
	}
	v, err = p.decode(h.Encoding, data, int(h.Values))
	return levels, v, err
}

func (p *Pages) levelBits() int { return bits.Len(uint(p.column.Definition)) }

// levels splits the data of a page into its definition levels and its values.
func (p *Pages) levels(h *DataHeader, data []byte) (Hybrid, []byte, error) {
	width := p.levelBits()
	if width == 0 {
		return Hybrid{}, data, nil
	}
	switch h.Definition {
	case RLE:
		if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
			return Hybrid{}, nil, errShortPage
		}
		n := 4 + int(binary.LittleEndian.Uint32(data))
		return Hybrid{data: data[4:n], width: width}, data[n:], nil
	case BitPacked:
		n := (int(h.Values)*width + 7) / 8
		if n > len(data) {
			return Hybrid{}, nil, errShortPage
		}
		return packedFromTop(data[:n], width, int(h.Values)), data[n:], nil
	}
	return Hybrid{}, nil, damaged("column %s has levels in %v", p.column.Name, h.Definition)
}

// decode brings the values of a page into one of the forms of Values. n counts
// the missing ones, too.
func (p *Pages) decode(e Encoding, data []byte, n int) (v Values, err error) {
	typ := p.column.Type
	switch e {
	case Plain:
		if typ == Boolean {
			v.Numbers = packed(data, 1, 8*len(data))
		} else {
			v.Plain = data
		}
		return v, nil
	case PlainDictionary, RLEDictionary:
		v.Coded = true
		if len(data) > 0 { // a page of nothing but missing values may have no width
			v.Numbers = Hybrid{data: data[1:], width: int(data[0])}
		}
		if v.Numbers.width > 32 {
			return v, errShortPage
		}
		return v, nil
	case RLE:
		if typ == Boolean {
			if len(data) < 4 {
				return v, errShortPage
			}
			v.Numbers = Hybrid{data: data[4:], width: 1}
			return v, nil
		}
	case DeltaBinaryPacked:
		if typ == Int32 || typ == Int64 {
			v.Plain, err = p.room.deltas(data, typ.size(), n)
			return v, err
		}
	case DeltaLengthByteArray:
		if typ == ByteArray {
			v.Plain, err = p.room.lengths(data, n)
			return v, err
		}
	case DeltaByteArray:
		if typ == ByteArray || typ == FixedLenByteArray {
			v.Plain, err = p.room.prefixes(data, p.column.Length, n)
			return v, err
		}
	case ByteStreamSplit:
		if size := max(typ.size(), p.column.Length); size > 0 {
			v.Plain, err = p.room.streams(data, size)
			return v, err
		}
	}
	return v, damaged("column %s of type %v has values in %v", p.column.Name, typ, e)
}
