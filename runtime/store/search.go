package store

import (
	"math"
	"slices"
	"sort"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// RowRange is the rows from From on and up to Until without that.
type RowRange struct{ From, Until int }

// Find returns the rows that have a value in a column whose words ascend. There
// are none if the value is of another type.
func (c *Column) Find(v scalar.Value) RowRange {
	key, ok := c.keyOf(v)
	if !ok {
		return RowRange{}
	}
	if c.isDense() {
		return c.denseRow(key)
	}
	from := c.firstFrom(key)
	return RowRange{from, from + sort.Search(c.n-from,
		func(i int) bool { return orderKeyOf(c.Type.Kind, c.Word(from+i)) > key })}
}

// keyOf returns the order key of a value, and false if the column cannot have
// it.
func (c *Column) keyOf(v scalar.Value) (key uint64, ok bool) {
	if v.Type != c.Type || c.n == 0 {
		return 0, false
	}
	word := int64(v.Bits())
	if c.Type.Kind == scalar.String {
		code, found := c.Dict.Lookup(v.Str())
		if !found {
			return 0, false
		}
		word = int64(code)
	}
	return orderKeyOf(c.Type.Kind, word), true
}

// isDense reports whether a column whose words ascend has each word between its
// bounds once.
func (c *Column) isDense() bool {
	k := c.Type.Kind
	return c.Stats.Distinct == int64(c.n) &&
		orderKeyOf(k, c.Stats.Max)-orderKeyOf(k, c.Stats.Min) == uint64(c.n-1)
}

// denseRow returns the row with a key in a dense column.
func (c *Column) denseRow(key uint64) RowRange {
	at := key - orderKeyOf(c.Type.Kind, c.Stats.Min)
	if at >= uint64(c.n) {
		return RowRange{}
	}
	return RowRange{int(at), int(at) + 1}
}

// FirstFrom returns the first row with at least a value of the column's type,
// which is no string, in a column whose words ascend; the number of rows if
// there is none.
func (c *Column) FirstFrom(v scalar.Value) int {
	return c.firstFrom(orderKeyOf(c.Type.Kind, int64(v.Bits())))
}

func (c *Column) firstFrom(key uint64) int {
	return sort.Search(c.n, func(i int) bool { return orderKeyOf(c.Type.Kind, c.Word(i)) >= key })
}

// FindAll is Find for several values. Of a column that is not decoded it reads
// the pages in which the values may be. The error is that of ReadRows.
func (c *Column) FindAll(values []scalar.Value) ([]RowRange, error) {
	out := make([]RowRange, len(values))
	if _, ok := c.Encoded.(RowReader); !ok || c.IsDecoded() || c.isDense() {
		for i, v := range values {
			out[i] = c.Find(v)
		}
		return out, nil
	}
	var keys []uint64 // and those behind them, whose first rows are the ends
	for _, v := range values {
		if key, ok := c.keyOf(v); ok {
			if keys = append(keys, key); key < math.MaxUint64 {
				keys = append(keys, key+1)
			}
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	first, err := c.firstRows(keys)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if key, ok := c.keyOf(v); ok {
			at, _ := slices.BinarySearch(keys, key)
			out[i] = RowRange{first[at], c.n} // no key is greater than the greatest number
			if at+1 < len(keys) {
				out[i].Until = first[at+1]
			}
		}
	}
	return out, nil
}

// probeRows is how many rows before and behind the place where a key is
// expected are read with it.
const probeRows = 32

// firstRows is firstFrom for keys that ascend. It reads rows where the keys
// would be if the words were spread evenly, and in every other round those in
// the middle of what is left.
func (c *Column) firstRows(keys []uint64) ([]int, error) {
	k := c.Type.Kind
	brackets := make([]bracket, len(keys))
	for i, key := range keys {
		b := &brackets[i]
		*b = bracket{0, c.n, orderKeyOf(k, c.Stats.Min), orderKeyOf(k, c.Stats.Max)}
		if key <= b.least {
			b.until = 0
		} else if key > b.most {
			b.from = c.n
		}
	}
	for round := 0; ; round++ {
		var rows []uint32
		for i, key := range keys {
			b := &brackets[i]
			at := b.from + (b.until-b.from)/2
			if round%2 == 0 {
				at = b.expected(key)
			}
			for row := max(at-probeRows, b.from); row < min(at+probeRows, b.until); row++ {
				rows = append(rows, uint32(row))
			}
		}
		if len(rows) == 0 {
			break
		}
		slices.Sort(rows)
		rows = slices.Compact(rows)
		words, err := c.ReadRows(rows)
		if err != nil {
			return nil, err
		}
		for i, key := range keys {
			brackets[i].narrow(key, rows, func(at int) uint64 { return orderKeyOf(k, words[at]) })
		}
	}
	first := make([]int, len(keys))
	for i, b := range brackets {
		first[i] = b.from
	}
	return first, nil
}

// bracket is the rows among which the first one with at least a key is, or the
// one behind them. Rows before have at least the key least and less than it;
// those behind have it or more, up to most.
type bracket struct {
	from, until int
	least, most uint64
}

// expected returns a row of the bracket where the key is if keys are spread
// evenly.
func (b *bracket) expected(key uint64) int {
	share := float64(key-b.least) / max(float64(b.most-b.least), 1)
	return min(b.from+int(share*float64(b.until-b.from)), b.until-1)
}

// narrow leaves out what the keys of rows, which ascend, exclude.
func (b *bracket) narrow(key uint64, rows []uint32, keyAt func(at int) uint64) {
	if b.from == b.until {
		return
	}
	at := sort.Search(len(rows), func(i int) bool { return keyAt(i) >= key })
	if at < len(rows) && int(rows[at]) < b.until {
		b.until, b.most = int(rows[at]), keyAt(at)
	}
	if at > 0 && int(rows[at-1]) >= b.from {
		b.from, b.least = min(int(rows[at-1])+1, b.until), keyAt(at-1)
	}
}
