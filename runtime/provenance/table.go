package provenance

import (
	"math/bits"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Table is the tuples of a predicate. It looks tuples up: columns get an index
// once they have been scanned often enough to pay for it. It is not safe for
// concurrent use.
type Table struct {
	rounds runtime.Rounds
	cols   []*store.Column
	fields []int // the first column of each argument: a wide decimal has two
	rows   int
	index  []*index
	waste  []int // rows that an index on the column would have left out
}

// index lists the rows of a column by their words, or by hashes of them where
// the words are far apart. Rows of one bucket are in ascending order.
type index struct {
	least  int64
	hashed bool
	shift  int
	starts []uint32 // of the buckets, and the end
	rows   []uint32
}

// block is how many words are read at a time.
const block = 4096

// NewTable returns the table of a relation. Tuples in the order of the rounds
// have rounds; others have none.
func NewTable(r *store.Relation, rounds runtime.Rounds) *Table {
	t := &Table{rounds: rounds, cols: r.Columns(), rows: r.Rows()}
	for i, c := range t.cols {
		if c.Type.Word != scalar.Low {
			t.fields = append(t.fields, i)
		}
	}
	t.index, t.waste = make([]*index, len(t.cols)), make([]int, len(t.cols))
	return t
}

// value returns an argument of a row.
func (t *Table) value(row, arg int) scalar.Value {
	at := t.fields[arg]
	if c := t.cols[at]; c.Type.Word == scalar.High {
		return scalar.JoinWords(c.Type.Scale, c.Word(row), t.cols[at+1].Word(row))
	}
	return t.cols[at].Value(row)
}

// wanted is a word that a column must have.
type wanted struct {
	col  int
	word int64
}

// want adds the words that an argument has in rows with a value. It fails if no
// row has the value.
func (t *Table) want(list []wanted, arg int, v scalar.Value) ([]wanted, bool) {
	at := t.fields[arg]
	switch c := t.cols[at]; {
	case c.Type.Word == scalar.High:
		high, low := v.Words()
		return append(list, wanted{at + 1, int64(low.Bits())}, wanted{at, int64(high.Bits())}), true
	case c.Type.Kind == scalar.String:
		if t.rows == 0 {
			return list, false
		}
		code, ok := c.Dict.Lookup(v.Str())
		return append(list, wanted{at, int64(code)}), ok
	}
	return append(list, wanted{at, int64(v.Bits())}), true
}

// each calls found with the rows below limit that have the words, in ascending
// order, until found returns true, which it then returns.
func (t *Table) each(words []wanted, limit int, found func(row int) bool) bool {
	limit = min(limit, t.rows)
	if len(words) == 0 {
		for row := range limit {
			if found(row) {
				return true
			}
		}
		return false
	}
	at := t.best(words, limit)
	if at < 0 {
		return t.scan(words, limit, found)
	}
	rest := append(append([]wanted{}, words[:at]...), words[at+1:]...)
	for _, row := range t.index[words[at].col].bucket(words[at].word) {
		if int(row) >= limit {
			break
		}
		// Rows of a bucket may have other words with the same hash.
		if t.cols[words[at].col].Word(int(row)) == words[at].word && t.has(int(row), rest) &&
			found(int(row)) {
			return true
		}
	}
	return false
}

// best returns the word whose index leaves the fewest rows, or -1 for a scan.
func (t *Table) best(words []wanted, limit int) int {
	best, fewest := -1, limit
	for i, w := range words {
		if x := t.index[w.col]; x != nil && len(x.bucket(w.word)) <= fewest {
			best, fewest = i, len(x.bucket(w.word))
		}
	}
	for i, w := range words {
		if t.index[w.col] != nil {
			continue
		}
		if t.waste[w.col] += fewest; t.waste[w.col] > 8*t.rows {
			t.index[w.col] = newIndex(t.cols[w.col], t.rows)
			if n := len(t.index[w.col].bucket(w.word)); best < 0 || n < fewest {
				best, fewest = i, n
			}
		}
	}
	return best
}

func (t *Table) has(row int, words []wanted) bool {
	for _, w := range words {
		if t.cols[w.col].Word(row) != w.word {
			return false
		}
	}
	return true
}

// scan reads a column for the rows that have its word.
func (t *Table) scan(words []wanted, limit int, found func(row int) bool) bool {
	var buffer [block]int64
	for from := 0; from < limit; from += block {
		part := buffer[:min(block, limit-from)]
		t.cols[words[0].col].Read(part, from)
		for i, word := range part {
			if word == words[0].word && t.has(from+i, words[1:]) && found(from+i) {
				return true
			}
		}
	}
	return false
}

// newIndex sorts the rows of a column into buckets.
func newIndex(c *store.Column, rows int) *index {
	x := &index{least: c.Stats.Min}
	buckets := uint64(c.Stats.Max) - uint64(c.Stats.Min) + 1
	if most := uint64(2*rows + 1024); buckets-1 >= most {
		x.hashed = true
		x.shift = 64 - bits.Len(uint(rows))
		buckets = 1 << (64 - x.shift)
	}
	x.starts, x.rows = make([]uint32, buckets+2), make([]uint32, rows)
	x.read(c, rows, func(_ int, bucket uint64) { x.starts[bucket+2]++ })
	for i := 2; i < len(x.starts); i++ {
		x.starts[i] += x.starts[i-1]
	}
	x.read(c, rows, func(row int, bucket uint64) {
		x.rows[x.starts[bucket+1]] = uint32(row)
		x.starts[bucket+1]++
	})
	return x
}

// read calls f with the bucket of each row.
func (x *index) read(c *store.Column, rows int, f func(row int, bucket uint64)) {
	var buffer [block]int64
	for from := 0; from < rows; from += block {
		part := buffer[:min(block, rows-from)]
		c.Read(part, from)
		for i, word := range part {
			f(from+i, x.place(word))
		}
	}
}

// place returns the bucket of a word.
func (x *index) place(word int64) uint64 {
	if x.hashed {
		return uint64(word) * 0x9e3779b97f4a7c15 >> x.shift
	}
	return uint64(word) - uint64(x.least)
}

// bucket returns the rows that may have a word.
func (x *index) bucket(word int64) []uint32 {
	b := x.place(word)
	if b >= uint64(len(x.starts)-2) {
		return nil
	}
	return x.rows[x.starts[b]:x.starts[b+1]]
}
