package tables

import (
	"sort"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
)

// PositionIndex finds the rows of a version of a table by their positions. It
// has no memory of its own but a list of where the rows are.
type PositionIndex struct {
	table   *Table
	version queryplan.Version
	key     interval.Layout
	payCols []int // of the table
	// The rows of all versions: starts has the position of each span's first
	// row, and the number of all.
	spans       []Span
	starts      []int
	from, until int // the version's positions
}

// NewPositionIndex returns an index that is to be updated before it is used.
// Positions are within bounds.
func NewPositionIndex(t *Table, version queryplan.Version, bounds interval.Interval,
	payCols []int) *PositionIndex {
	return &PositionIndex{table: t, version: version, payCols: payCols,
		key: interval.NewLayout([]interval.Interval{bounds})}
}

// Update makes the index one of the table as it is, and returns the number of
// rows.
func (x *PositionIndex) Update() int {
	t := x.table
	t.CheckPositions(t.Rows(queryplan.Full))
	x.spans, x.starts = t.Version(x.spans[:0], queryplan.Full), x.starts[:0]
	rows := 0
	for _, s := range x.spans {
		x.starts = append(x.starts, rows)
		rows += s.Rows()
	}
	x.starts = append(x.starts, rows)
	x.from, x.until = 0, t.Rows(queryplan.Full)
	switch x.version {
	case queryplan.Delta:
		x.from = t.Rows(queryplan.Old)
	case queryplan.Old:
		x.until = t.Rows(queryplan.Old)
	}
	return x.until - x.from
}

// KeyLayout returns the layout of keys.
func (x *PositionIndex) KeyLayout() *interval.Layout { return &x.key }

// Distinct is true: a position has one row.
func (x *PositionIndex) Distinct() bool { return true }

// Dense is false: a key outside its bounds cannot be packed.
func (x *PositionIndex) Dense() bool { return false }

// Lookup finds the rows of n packed keys; keys that are not valid have none.
func (x *PositionIndex) Lookup(keys []uint64, valid []bool, n int, out *Runs) {
	from, rows := uint64(x.from), uint64(x.until-x.from)
	for i, k := range keys[:n] {
		out.Count[i] = 0
		if k-from < rows && (valid == nil || valid[i]) {
			out.Start[i], out.Count[i] = uint32(k), 1
		}
	}
}

// Payload reads column i of the payload of the rows at the given positions.
func (x *PositionIndex) Payload(dst []int64, places []uint32, i int) {
	t, col, span := x.table, x.payCols[i], 0
	for j, place := range places {
		row := int(place)
		if row < x.starts[span] || row >= x.starts[span+1] {
			span = sort.SearchInts(x.starts, row+1) - 1
		}
		words := x.spans[span].Packed(t.Layout.Words, row-x.starts[span], 1)
		t.Unpack(dst[j:j+1], words, col, 1, row)
	}
}

// Run returns nil: there is no payload, only the table's rows.
func (x *PositionIndex) Run() (words []uint32, base int64) { return nil, 0 }

// Token returns nil.
func (x *PositionIndex) Token() *Token { return nil }
