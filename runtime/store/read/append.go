package read

import "github.com/redfoxdb/redfox/runtime/store"

// maxAppended bounds the tuples that Append looks up one by one.
const maxAppended = 256

// Append returns the union of a relation without a function's value and new
// tuples, which are a set. It costs one pass over the relation, and no memory
// beyond the new tuples where they fit the stored columns.
func Append(rel, tuples *store.Relation) (*store.Relation, error) {
	if tuples.Rows() == 0 {
		return rel, nil
	}
	if tuples.Rows() <= maxAppended {
		if out := appended(rel, tuples); out != nil {
			return out, nil
		}
	}
	s := store.Schema{Name: rel.Name, Keys: len(rel.Cols)}
	for i, name := range rel.Names() {
		s.Args = append(s.Args, store.Field{Name: name, Type: rel.Column(i).Type})
	}
	return Concat(s, rel, tuples)
}

// appended returns the union if the new tuples fit the columns, else nil.
func appended(rel, tuples *store.Relation) *store.Relation {
	words := make([][]int64, len(rel.Cols)) // of the new tuples, by column
	for i := range words {
		from, to := tuples.Column(i), rel.Column(i)
		words[i] = make([]int64, tuples.Rows())
		from.Read(words[i], 0)
		if to.Dict == nil {
			continue
		}
		for row, code := range words[i] {
			text := from.ValueOf(code).Str()
			at := to.Dict.LowerBound(text)
			if at >= to.Dict.Sorted() || to.Dict.String(uint32(at)) != text {
				return nil
			}
			words[i][row] = int64(at)
		}
	}
	words = absent(rel, words)
	if len(words[0]) == 0 {
		return rel
	}
	out := &store.Relation{Name: rel.Name, Keys: rel.Keys,
		Table: &store.Table{Name: rel.Name, Names: rel.Names(), Rows: rel.Rows() + len(words[0])}}
	for i := range words {
		c, ok := rel.Column(i).Grow(words[i])
		if !ok {
			return nil
		}
		out.Cols = append(out.Cols, i)
		out.Table.Columns = append(out.Table.Columns, c)
	}
	return out
}

// absent returns the tuples that a relation does not have. It compares the most
// selective column first, and the others only where that column agrees.
func absent(rel *store.Relation, words [][]int64) [][]int64 {
	columns := rel.Columns()
	best := 0
	for i, c := range columns {
		if c.Stats.Distinct > columns[best].Stats.Distinct {
			best = i
		}
	}
	rows := map[int64][]int{} // of the new tuples, by their word in that column
	for row, w := range words[best] {
		rows[w] = append(rows[w], row)
	}
	present := make([]bool, len(words[best]))
	block := make([]int64, min(rel.Rows(), 1024))
	for from := 0; from < rel.Rows(); from += len(block) {
		block = block[:min(len(block), rel.Rows()-from)]
		columns[best].Read(block, from)
		for i, w := range block {
			for _, row := range rows[w] {
				present[row] = present[row] || isRow(columns, from+i, words, row)
			}
		}
	}
	out := make([][]int64, len(words))
	for i, column := range words {
		for row, w := range column {
			if !present[row] {
				out[i] = append(out[i], w)
			}
		}
	}
	return out
}

// isRow reports whether a row of columns has the words of a new tuple.
func isRow(columns []*store.Column, at int, words [][]int64, row int) bool {
	for i, c := range columns {
		if c.Word(at) != words[i][row] {
			return false
		}
	}
	return true
}
