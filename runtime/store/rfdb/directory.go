package rfdb

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/redfoxdb/redfox/internal/frontcode"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// directory is the directory of a transaction.
type directory struct {
	Redfox    string             `json:"redfox"` // the version that wrote it
	Tables    []*tableEntry      `json:"tables"`
	Dicts     []*dictEntry       `json:"dictionaries"`
	Relations []*relationEntry   `json:"relations"`
	Texts     map[string]section `json:"texts"`
}

// section is a range of bytes in the file.
type section struct {
	At   int64 `json:"at"`
	Size int64 `json:"size"`
	// Room is the number of free bytes after the section that are reserved for
	// it.
	Room int64  `json:"room,omitempty"`
	Sums []byte `json:"sums"` // the CRC-32C of each block
}

// blocks returns the number of blocks.
func (s *section) blocks() int { return int((s.Size + blockSize - 1) / blockSize) }

// block returns the range of a block in the section, and its checksum.
func (s *section) block(i int) (from, until int64, sum uint32) {
	from = int64(i) * blockSize
	return from, min(from+blockSize, s.Size), binary.LittleEndian.Uint32(s.Sums[4*i:])
}

// sumsFrom returns the checksums of the blocks of data, from the given block
// on.
func sumsFrom(data []byte, block int) []byte {
	var out []byte
	for from := block * blockSize; from < len(data); from += blockSize {
		out = binary.LittleEndian.AppendUint32(out,
			checksum(data[from:min(from+blockSize, len(data))]))
	}
	return out
}

// isWithin reports whether the section can be in a file of this size.
func (s *section) isWithin(end int64) bool {
	return s.At >= firstPage && s.Size >= 0 && s.Room >= 0 && s.At <= end && s.Size <= end-s.At &&
		s.Room <= end-s.At-s.Size
}

// check returns an error if the section cannot be in a file of this size.
func (s *section) check(end int64, align int64) error {
	switch {
	case !s.isWithin(end):
		return fmt.Errorf("a section of %d bytes at byte %d of %d", s.Size, s.At, end)
	case s.At%align != 0:
		return fmt.Errorf("a section at byte %d, which is no multiple of %d", s.At, align)
	case len(s.Sums) != 4*s.blocks():
		return fmt.Errorf("a section of %d bytes with %d bytes of checksums", s.Size, len(s.Sums))
	}
	return nil
}

// tableEntry is a table.
type tableEntry struct {
	Name    string         `json:"name"`
	Rows    int            `json:"rows"`
	Columns []*columnEntry `json:"columns"`
}

// encoding is the form in which a column's entries are written.
type encoding string

const (
	// offsets are the entries in the form that store.Column has in memory.
	offsets encoding = "offsets"
	// packedOffsets are offsets, the first of which are packed.
	packedOffsets encoding = "packed"
)

// columnEntry is a column.
type columnEntry struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Encoding encoding `json:"encoding"`
	Dict     *int     `json:"dictionary,omitempty"`
	Base     int64    `json:"base"`
	Step     int64    `json:"step"`
	Width    uint8    `json:"width"`
	// Packed has the first rows, and Entries the others.
	Packed  *packedEntry `json:"packed,omitempty"`
	Entries section      `json:"entries"`
	Stats   columnStats  `json:"statistics"`
	Sample  *sample      `json:"sample,omitempty"`

	layout store.Layout
}

// columnStats are store.ColumnStats.
type columnStats struct {
	Min       int64 `json:"min"`
	Max       int64 `json:"max"`
	Bounded   bool  `json:"bounded,omitempty"`
	Distinct  int64 `json:"distinct"`
	Ascending bool  `json:"ascending,omitempty"`
}

// sample is the sample of a column of a long table. A short table has none,
// because its sample would be all of it.
type sample struct {
	Words  section `json:"words"`
	Equal  float64 `json:"equal"`
	Rising float64 `json:"rising"`
}

// dictEntry is a dictionary.
type dictEntry struct {
	// Text has the strings, and Ends the end of each. If the strings are
	// packed, Text has the blocks of internal/frontcode, and Ends the end of
	// each block.
	Text   section     `json:"text"`
	Ends   section     `json:"ends"`
	Wide   bool        `json:"wide,omitempty"`
	Packed *packedText `json:"packed,omitempty"`
}

// packedText has the further properties of packed strings.
type packedText struct {
	Strings int64   `json:"strings"`
	Bytes   int64   `json:"bytes"` // of the strings
	Symbols section `json:"symbols"`
}

// check returns an error if the packed strings cannot be in the file.
func (p *packedText) check(blocks, end int64) error {
	if p.Strings < 1 || p.Bytes < 0 || (p.Strings-1)/frontcode.Strings+1 != blocks {
		return fmt.Errorf("%d strings of %d bytes in %d blocks", p.Strings, p.Bytes, blocks)
	}
	return p.Symbols.check(end, 1)
}

// len returns the number of strings.
func (d *dictEntry) len() int64 {
	if d.Packed != nil {
		return d.Packed.Strings
	}
	return d.Ends.Size / d.width()
}

// bytes returns the size of the strings in memory.
func (d *dictEntry) bytes() int64 {
	if d.Packed != nil {
		return d.Packed.Bytes + 4*d.Packed.Strings
	}
	return d.Text.Size + d.Ends.Size
}

// stored returns the size of the strings in the file.
func (d *dictEntry) stored() int64 {
	if d.Packed != nil {
		return d.Text.Size + d.Ends.Size + d.Packed.Symbols.Size
	}
	return d.Text.Size + d.Ends.Size
}

// width returns the bytes of an end.
func (d *dictEntry) width() int64 {
	if d.Wide {
		return 8
	}
	return 4
}

// relationEntry is a relation. No two rows agree in its first Keys columns.
type relationEntry struct {
	Name  string `json:"name"`
	Table int    `json:"table"`
	Cols  []int  `json:"columns"`
	Keys  int    `json:"keys"`
}

// columnOf describes a column without its sections.
func columnOf(name string, c *store.Column) (*columnEntry, error) {
	l := c.Layout()
	s := l.Stats
	e := &columnEntry{Name: name, Type: l.Type.String(), Encoding: offsets, Base: l.Base,
		Step: l.Step, Width: l.Width, layout: l,
		Stats: columnStats{s.Min, s.Max, s.Bounded, s.Distinct, s.Ascending}}
	if t, ok := scalar.ParseType(e.Type); !ok || t != l.Type {
		return nil, fmt.Errorf("column %s has the type %s, which a database cannot hold", name,
			e.Type)
	}
	if err := l.Check(); err != nil {
		return nil, fmt.Errorf("column %s has %w", name, err)
	}
	return e, nil
}

// parseDirectory parses the directory of a transaction. Its sections have to
// lie before end. The error names the impossible entry.
func parseDirectory(data []byte, end int64) (*directory, error) {
	d := &directory{}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(d); err != nil {
		return nil, err
	}
	for i, e := range d.Dicts {
		if e == nil {
			return nil, errNothing
		}
		if err := errors.Join(e.Text.check(end, 1), e.Ends.check(end, e.width())); err != nil {
			return nil, fmt.Errorf("dictionary %d has %w", i, err)
		}
		if e.Ends.Size%e.width() != 0 || e.len() > math.MaxUint32 {
			return nil, fmt.Errorf("dictionary %d has %d bytes of ends", i, e.Ends.Size)
		}
		if e.Packed != nil {
			if err := e.Packed.check(e.Ends.Size/e.width(), end); err != nil {
				return nil, fmt.Errorf("dictionary %d has %w", i, err)
			}
		}
	}
	for _, t := range d.Tables {
		if t == nil {
			return nil, errNothing
		}
		if t.Rows < 0 || t.Rows > math.MaxUint32 {
			return nil, fmt.Errorf("table %s has %d rows", t.Name, t.Rows)
		}
		for _, c := range t.Columns {
			if c == nil {
				return nil, errNothing
			}
			if err := c.read(t.Rows, d.Dicts, end); err != nil {
				return nil, fmt.Errorf("column %s of table %s has %w", c.Name, t.Name, err)
			}
		}
	}
	seen := map[string]bool{}
	for _, r := range d.Relations {
		if r == nil {
			return nil, errNothing
		}
		bad := r.Table < 0 || r.Table >= len(d.Tables) || r.Keys < 0 || r.Keys > len(r.Cols) ||
			seen[r.Name]
		seen[r.Name] = true
		for _, c := range r.Cols {
			bad = bad || c < 0 || c >= len(d.Tables[r.Table].Columns)
		}
		if bad {
			return nil, fmt.Errorf("predicate %s is there twice, or has columns of no table", r.Name)
		}
	}
	for name, s := range d.Texts {
		if err := s.check(end, 1); err != nil {
			return nil, fmt.Errorf("text %s has %w", name, err)
		}
	}
	return d, nil
}

var errNothing = errors.New("a null stands in a list")

// read completes a column that was parsed.
func (e *columnEntry) read(rows int, dicts []*dictEntry, end int64) error {
	t, ok := scalar.ParseType(e.Type)
	if !ok || t.IsWide() || t.Kind == scalar.Entity {
		return fmt.Errorf("the type %q", e.Type)
	}
	if (e.Packed == nil || e.Encoding != packedOffsets) &&
		(e.Packed != nil || e.Encoding != offsets) {
		return fmt.Errorf("the encoding %q, which this redfox does not read", e.Encoding)
	}
	s := e.Stats
	e.layout = store.Layout{Type: t, Base: e.Base, Step: e.Step, Width: e.Width, Rows: rows,
		Stats: store.ColumnStats{Min: s.Min, Max: s.Max, Bounded: s.Bounded, Distinct: s.Distinct,
			Ascending: s.Ascending}}
	if err := e.layout.Check(); err != nil {
		return err
	}
	if (t.Kind == scalar.String) != (e.Dict != nil) ||
		e.Dict != nil && (*e.Dict < 0 || *e.Dict >= len(dicts)) {
		return errors.New("no dictionary, or one that is not there")
	}
	if e.Dict != nil && rows > 0 && (s.Min < 0 || s.Max < s.Min || s.Max >= dicts[*e.Dict].len()) {
		return fmt.Errorf("codes from %d to %d of %d", s.Min, s.Max, dicts[*e.Dict].len())
	}
	if e.Packed != nil {
		if err := e.Packed.check(rows, e.Width, end); err != nil {
			return err
		}
	}
	if err := e.Entries.check(end, max(1, int64(e.Width))); err != nil {
		return err
	}
	if e.Entries.Size != int64(rows-e.packedRows())*int64(e.Width) {
		return fmt.Errorf("%d bytes for %d rows of %d", e.Entries.Size, rows, e.Width)
	}
	if (e.Sample != nil) != (rows > store.SampleRows) {
		return errors.New("no sample")
	}
	if e.Sample == nil {
		return nil
	}
	if err := e.Sample.Words.check(end, 8); err != nil {
		return err
	}
	isShare := func(x float64) bool { return x >= 0 && x <= 1 }
	if e.Sample.Words.Size != 8*store.SampleRows || !isShare(e.Sample.Equal) ||
		!isShare(e.Sample.Rising) {
		return errors.New("no sample of its rows")
	}
	return nil
}
