package store

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Layout is how the entries of a column are stored. Column has fields of the
// same names.
type Layout struct {
	Type  scalar.Type
	Base  int64
	Step  int64
	Width uint8
	Rows  int
	Stats ColumnStats
}

// Layout returns how the column is stored.
func (c *Column) Layout() Layout {
	return Layout{c.Type, c.Base, c.Step, c.Width, c.n, c.Stats}
}

// Check returns an error if no column can have the layout.
func (l *Layout) Check() error {
	switch {
	case l.Width > 8 || l.Width&(l.Width-1) != 0:
		return fmt.Errorf("entries of %d bytes", l.Width)
	case l.Rows < 0:
		return fmt.Errorf("%d rows", l.Rows)
	case l.Step == 0:
		return errors.New("a step of 0")
	case l.Stats.Distinct < 0 || l.Stats.Distinct > int64(l.Rows):
		return fmt.Errorf("%d different values in %d rows", l.Stats.Distinct, l.Rows)
	case l.Type.Kind == scalar.Boolean && l.Rows > 0 &&
		(l.Stats.Min < 0 || l.Stats.Min > l.Stats.Max || l.Stats.Max > 1):
		return fmt.Errorf("truth values from %d to %d", l.Stats.Min, l.Stats.Max)
	}
	return nil
}

// StoredColumn returns the column of a layout over entries in a mapped file,
// which are aligned to the width. It keeps entries, which stay valid as long as
// owner is reachable. It does not check them: Holds does.
func StoredColumn(l Layout, dict *Dict, entries []byte, owner any) *Column {
	c := &Column{Type: l.Type, Dict: dict, Base: l.Base, Step: l.Step, Width: l.Width,
		Stats: l.Stats, n: l.Rows, owner: owner}
	if l.Width > 0 && l.Rows > 0 {
		c.OnDisk = true
		c.view(unsafe.Pointer(unsafe.SliceData(entries)))
	}
	return c
}

// UnreadColumn returns the column of a layout whose entries are packed in a
// file. The caller has to call MakeRoom and unpack the entries before anyone
// reads the column.
func UnreadColumn(l Layout, dict *Dict) *Column {
	return &Column{Type: l.Type, Dict: dict, Base: l.Base, Step: l.Step, Width: l.Width,
		Stats: l.Stats, n: l.Rows}
}

// MakeRoom allocates the entries of an UnreadColumn. The caller fills them. The
// ledger reserves their memory under the name what.
func (c *Column) MakeRoom(ledger *Ledger, what string) error {
	_, err := c.allocate(ledger, what)
	return err
}

// DropRoom drops the entries of an UnreadColumn that could not be filled.
func (c *Column) DropRoom() {
	c.U8, c.U16, c.U32, c.U64, c.owner, c.OnDisk = nil, nil, nil, nil, nil, false
}

// Between returns the words of the least and the greatest offset. It returns
// false if words do not ascend with their offsets.
func (l *Layout) Between(least, greatest uint64) (lo, hi int64, ok bool) {
	if l.Type.Kind == scalar.Float {
		return 0, 0, false
	}
	flip := orderKeyOf(l.Type.Kind, 0)
	over, product := bits.Mul64(greatest, uint64(l.Step))
	first := uint64(l.Base) ^ flip
	if over > 0 || first+product < first {
		return 0, 0, false
	}
	return orderWord(l.Type.Kind, first+least*uint64(l.Step)),
		orderWord(l.Type.Kind, first+product), true
}

// Within reports whether the words from lo to hi are within the bounds of the
// column.
func (l *Layout) Within(lo, hi int64) bool {
	key := func(w int64) uint64 { return orderKeyOf(l.Type.Kind, w) }
	return key(lo) >= key(l.Stats.Min) && key(hi) <= key(l.Stats.Max)
}

// Holds reports whether the words of some rows are within the column's bounds
// and, if they are codes, within its dictionary.
func (c *Column) Holds(from, until int) bool {
	if from == until {
		return true
	}
	c.onHost()
	part := *c
	part.n, part.Encoded, part.decoding = until-from, nil, nil
	switch c.Width {
	case 1:
		part.U8 = c.U8[from:until]
	case 2:
		part.U16 = c.U16[from:until]
	case 4:
		part.U32 = c.U32[from:until]
	case 8:
		part.U64 = c.U64[from:until]
	}
	lo, hi := part.bounds()
	k := c.Type.Kind
	if k == scalar.String && hi >= uint64(c.Dict.Len()) {
		return false
	}
	return lo >= orderKeyOf(k, c.Stats.Min) && hi <= orderKeyOf(k, c.Stats.Max)
}

// StartsWith reports whether two layouts are equal except for the number of
// rows, and l has at least as many rows as short. Only then can the entries of
// the one column begin with those of the other.
func (l *Layout) StartsWith(short *Layout) bool {
	return l.Type == short.Type && l.Base == short.Base && l.Step == short.Step &&
		l.Width == short.Width && l.Rows >= short.Rows
}

// Text returns the sorted strings of the dictionary, concatenated, and the end
// of each, in 4 bytes or, if wide is set, in 8. The slices are valid while the
// dictionary is reachable.
func (d *Dict) Text() (text, ends []byte, wide bool) {
	a := d.arena()
	if a.wide != nil {
		return a.data, bytesOf(a.wide), true
	}
	return a.data, bytesOf(a.ends), false
}

// StoredDict returns the dictionary of text and ends in a mapped file, in the
// form that Text returns. It keeps both. ends is aligned to its width. It does
// not check the ends: EndsHold does.
func StoredDict(text, ends []byte, wide bool) *Dict {
	d := &Dict{OnDisk: true}
	d.sorted.data = text
	data := unsafe.Pointer(unsafe.SliceData(ends))
	if wide {
		d.sorted.wide = unsafe.Slice((*uint64)(data), len(ends)/8)
	} else {
		d.sorted.ends = unsafe.Slice((*uint32)(data), len(ends)/4)
	}
	return d
}

// EndsHold reports whether the ends of the strings ascend to the end of the
// text.
func (d *Dict) EndsHold() bool {
	last, n := uint64(0), d.sorted.len()
	if d.sorted.wide != nil {
		if n > 0 {
			last = d.sorted.wide[n-1]
		}
		return last == uint64(len(d.sorted.data)) && slices.IsSorted(d.sorted.wide)
	}
	if n > 0 {
		last = uint64(d.sorted.ends[n-1])
	}
	return last == uint64(len(d.sorted.data)) && slices.IsSorted(d.sorted.ends)
}

// Ascends reports whether the sorted strings strictly ascend. If they are
// packed, it also compares their total length with the recorded one.
func (d *Dict) Ascends() bool {
	a := d.arena()
	for i := 1; i < a.len(); i++ {
		if a.at(i-1) >= a.at(i) {
			return false
		}
	}
	return d.packed == nil || d.packed.Bytes == int64(len(a.data))
}

// Compact returns a column of the same values whose dictionary is sorted. If
// the dictionary has more strings than the column has rows, it drops the unused
// ones.
func (c *Column) Compact() *Column {
	if c.Dict == nil {
		return c
	}
	if c.Dict.Len() <= c.n {
		if c.Dict.Sorted() == c.Dict.Len() {
			return c
		}
		merged, remaps := MergeDicts([]*Dict{c.Dict}, nil)
		return c.WithDict(merged, remaps[0], 1)
	}
	b := NewBuilder(c.Type, nil)
	words := make([]int64, min(c.n, chunkRows))
	for from := 0; from < c.n; from += len(words) {
		part := words[:min(len(words), c.n-from)]
		c.Read(part, from)
		for _, w := range part {
			b.AppendString(c.Dict.String(uint32(w)))
		}
	}
	return b.Finish()
}
