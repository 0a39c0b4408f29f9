package provenance

import (
	"encoding/binary"

	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// NewBest returns the table of a predicate that keeps the best value of each
// key, given its steps: the tuples that were the best of their keys at the end
// of a round, in the order of the rounds. The last step of a key is its value,
// and the round of that step is the one that found it.
func NewBest(steps *store.Relation, rounds runtime.Rounds, keys int) *Table {
	t := NewTable(steps, rounds)
	rows := lastRows(t.cols[:keys], t.rows)
	if len(rows) == t.rows {
		return t
	}
	best := &store.Table{Name: steps.Table.Name, Rows: len(rows)}
	all := make([]int, len(t.cols))
	for i, c := range t.cols {
		all[i] = i
		best.Columns = append(best.Columns, c.Select(rows))
	}
	var ends runtime.Rounds
	n := 0
	for _, end := range rounds {
		for n < len(rows) && int64(rows[n]) < end.Rows {
			n++
		}
		ends = append(ends, runtime.RoundEnd{Round: end.Round, Rows: int64(n)})
	}
	return NewTable(&store.Relation{Table: best, Cols: all, Keys: keys}, ends)
}

// lastRows returns the rows whose words no later row has, in ascending order.
func lastRows(cols []*store.Column, count int) []uint32 {
	seen := make(map[string]bool, count)
	key := make([]byte, 0, 8*len(cols))
	last := make([]bool, count)
	n := 0
	for row := count - 1; row >= 0; row-- {
		key = key[:0]
		for _, c := range cols {
			key = binary.LittleEndian.AppendUint64(key, uint64(c.Word(row)))
		}
		if !seen[string(key)] {
			seen[string(key)], last[row] = true, true
			n++
		}
	}
	rows := make([]uint32, 0, n)
	for row, is := range last {
		if is {
			rows = append(rows, uint32(row))
		}
	}
	return rows
}
