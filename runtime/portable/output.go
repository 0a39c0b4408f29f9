package portable

import (
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/store"
)

// output makes relations of the plan's output variables.
func (r *evaluation) output() {
	for _, v := range r.req.Plan.Vars {
		if !v.Output {
			continue
		}
		cols := r.cols.Stored[v]
		rows := r.cols.Rows[v]
		if t := r.c.Tables[v]; t != nil {
			t.Settle()
			rows = t.Rows(queryplan.Full)
			cols = r.columns(v, t, queryplan.Full)
			t.Clear()
		}
		table := &store.Table{Name: v.Name, Rows: rows}
		rel := &store.Relation{Name: v.Name, Table: table, Keys: v.Keys}
		for i, c := range v.Cols {
			if cols[i] == nil {
				cols[i] = r.emptyColumn(v, i)
			}
			table.Names = append(table.Names, c.Name)
			table.Columns = append(table.Columns, cols[i])
			rel.Cols = append(rel.Cols, i)
		}
		r.answer.Outputs[v.Name] = rel
	}
}

func (r *evaluation) emptyColumn(v *queryplan.Var, i int) *store.Column {
	return store.ColumnOf(v.Cols[i].Type, nil, r.dict(v, i))
}

// dict returns the dictionary of a String column, else nil.
func (r *evaluation) dict(v *queryplan.Var, i int) *store.Dict {
	if d := r.cols.Dicts.Vars[v][i]; d != nil {
		return d.Dict
	}
	return nil
}

// outputBlock is how many rows are unpacked at a time.
const outputBlock = 1 << 13

// packedOutput is the number of rows from which a column keeps the layout's
// bounds instead of looking for narrower ones.
const packedOutput = 1 << 20

// columns unpacks a version of a table.
func (r *evaluation) columns(v *queryplan.Var, t *tables.Table,
	version queryplan.Version) []*store.Column {
	cols := make([]*store.Column, len(v.Cols))
	rows := t.Rows(version)
	spans := t.Version(nil, version)
	var small []int
	for i, c := range v.Cols {
		rng := r.cols.Ranges[v][i]
		if rows >= packedOutput && rng.Bits() <= 32 && inOrder(c.Type, rng) {
			cols[i] = store.NewPacked(c.Type, r.dict(v, i), rows, rng.Lo, rng.Hi)
			r.fill(cols[i], t, i, spans)
			continue
		}
		small = append(small, i)
	}
	r.Tasks(len(small), func(k int) {
		i := small[k]
		b := store.NewBuilder(v.Cols[i].Type, r.dict(v, i))
		words := make([]int64, outputBlock)
		for _, s := range spans {
			for from := 0; from < s.Rows(); from += outputBlock {
				n := min(outputBlock, s.Rows()-from)
				b.AppendWords(t.Read(words, s, from, i, n, 0))
			}
			r.Stop.Check()
		}
		cols[i] = b.Finish()
	})
	return cols
}

// fill copies a field of all rows into a column of its width.
func (r *evaluation) fill(col *store.Column, t *tables.Table, i int, spans []tables.Span) {
	starts := make([]int, len(spans))
	at := 0
	for k, s := range spans {
		starts[k] = at
		at += s.Rows()
	}
	r.Tasks(len(spans), func(k int) {
		s := spans[k]
		n := s.Rows()
		switch col.Width {
		case 1:
			fillOffsets(col.U8[starts[k]:][:n], s, t, i)
		case 2:
			fillOffsets(col.U16[starts[k]:][:n], s, t, i)
		case 4:
			fillOffsets(col.U32[starts[k]:][:n], s, t, i)
		case 8:
			fillOffsets(col.U64[starts[k]:][:n], s, t, i)
		}
	})
}

func fillOffsets[T uint8 | uint16 | uint32 | uint64](dst []T, s tables.Span, t *tables.Table,
	i int) {
	l := &t.Layout
	f := l.Fields[i]
	if t.ByColumn {
		for j, w := range t.Read(nil, s, 0, i, len(dst), 0) {
			dst[j] = T(w - f.Base)
		}
		return
	}
	mask := f.Mask()
	rows := s.Packed(l.Words, 0, len(dst))
	if l.Words == 1 {
		for j, w := range rows[:len(dst)] {
			dst[j] = T(w >> (f.Shift & 63) & mask)
		}
		return
	}
	at := f.Word
	for j := range dst {
		dst[j] = T(rows[at] >> (f.Shift & 63) & mask)
		at += l.Words
	}
}
