package portable

import (
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/store"
)

// output makes relations of the plan's output variables.
func (r *run) output() {
	for _, v := range r.req.Plan.Vars {
		if !v.Output {
			continue
		}
		cols := r.c.columns[v]
		rows := r.c.rows[v]
		if t := r.c.tables[v]; t != nil {
			t.dropSet()
			for _, x := range t.growing {
				x.free()
			}
			rows = t.rows(queryplan.Full)
			cols = r.columns(v, t)
			t.clear()
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

func (r *run) emptyColumn(v *queryplan.Var, i int) *store.Column {
	var dict *store.Dict
	if d := r.c.domains.vars[v][i]; d != nil {
		dict = d.find().dict
	}
	return store.ColumnOf(v.Cols[i].Type, nil, dict)
}

// outputBlock is how many rows are unpacked at a time.
const outputBlock = 1 << 13

// columns unpacks a table, a column at a time on each worker.
func (r *run) columns(v *queryplan.Var, t *table) []*store.Column {
	cols := make([]*store.Column, len(v.Cols))
	r.tasks(len(cols), func(i int) {
		var dict *store.Dict
		if d := r.c.domains.vars[v][i]; d != nil {
			dict = d.find().dict
		}
		b := store.NewBuilder(v.Cols[i].Type, dict)
		words := make([]int64, outputBlock)
		k := t.lay.words
		t.eachSpan(queryplan.Full, func(rows []uint64, n int) {
			for from := 0; from < n; from += outputBlock {
				m := min(outputBlock, n-from)
				t.lay.unpack(words, rows[from*k:], i, m)
				b.AppendWords(words[:m])
			}
			r.stop.check()
		})
		cols[i] = b.Finish()
	})
	return cols
}
