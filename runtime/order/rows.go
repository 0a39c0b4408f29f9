package order

import (
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Words is the words of a column, as scalar.OfBits and a dictionary read them.
// It is read from several goroutines at once. A *store.Column is one.
type Words interface {
	// Read sets dst to the words of the rows from, from+1, ...
	Read(dst []int64, from int)
	// Gather sets dst to the words of the given rows, in their order; dst is at
	// least as long.
	Gather(dst []int64, rows []uint32)
}

// Slice is words in memory.
type Slice []int64

// Read copies words from, from+1, ...
func (s Slice) Read(dst []int64, from int) { copy(dst, s[from:from+len(dst)]) }

// Gather copies the words of the given rows.
func (s Slice) Gather(dst []int64, rows []uint32) {
	dst = dst[:len(rows)]
	for i, r := range rows {
		dst[i] = s[r]
	}
}

// Strings is the dictionary of a String column. The first Sorted() of its Len()
// codes order as their strings do. A *store.Dict is one.
type Strings interface {
	Len() int
	Sorted() int
	String(code uint32) string
	// Compare orders two codes by their strings.
	Compare(a, b uint32) int
	// Ranks returns the position of each code's string in byte order, or nil
	// when codes are positions themselves.
	Ranks() []uint32
}

// Column is a column of rows.
type Column struct {
	Type  scalar.Type
	Dict  Strings // of a String column, else nil
	Words Words
}

// Value returns the column's value in a row.
func (c *Column) Value(row uint32) scalar.Value {
	w := c.word(row)
	if c.Type.Kind == scalar.String {
		return scalar.OfString(c.Dict.String(uint32(w)))
	}
	return scalar.OfBits(c.Type, uint64(w))
}

func (c *Column) word(row uint32) int64 {
	var w [1]int64
	c.Words.Read(w[:], int(row))
	return w[0]
}

// Rows is what is ordered.
type Rows struct {
	// Name is what errors call the rows, in the user's names.
	Name string
	N    int
	Cols []Column
}

// Tuple returns the values of a row.
func (x *Rows) Tuple(row uint32) []scalar.Value {
	out := make([]scalar.Value, len(x.Cols))
	for i := range x.Cols {
		out[i] = x.Cols[i].Value(row)
	}
	return out
}

// Key is a column of an ordering.
type Key struct {
	Col  int
	Desc bool
}

// blockRows is how many rows are read at a time: few enough that their words
// stay in the first-level cache.
const blockRows = 1024

// groups calls visit with each range of places in an order whose rows agree on
// the given columns, for rows that are ordered by these columns first. It ends
// when visit returns false.
func (x *Rows) groups(order []uint32, cols []int, visit func(from, to int) bool) {
	words := make([]int64, blockRows+1)
	differs := make([]bool, blockRows+1)
	from := 0
	for at := 1; at < len(order) && len(cols) > 0; at += blockRows {
		// The block starts with the row before, to compare with.
		part := order[at-1 : min(at+blockRows, len(order))]
		clear(differs)
		for _, c := range cols {
			words := words[:len(part)]
			x.Cols[c].Words.Gather(words, part)
			for i := 1; i < len(words); i++ {
				if words[i] != words[i-1] {
					differs[i] = true
				}
			}
		}
		for i := 1; i < len(part); i++ {
			if !differs[i] {
				continue
			}
			to := at - 1 + i
			if !visit(from, to) {
				return
			}
			from = to
		}
	}
	if from < len(order) {
		visit(from, len(order))
	}
}
