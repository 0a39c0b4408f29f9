package portable

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable/columns"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/store"
)

// leaves asks the caller, before a round of a loop of one block, whether the
// run ends here. The run comes from a block that it has visited so often.
func (r *evaluation) leaves(next, from *queryplan.Block, visits int) bool {
	if r.req.Round == nil || next == nil {
		return false
	}
	if loop, ok := next.Term.(*queryplan.Branch); !ok || loop.Then != next {
		return false
	}
	at := runtime.Round{Block: next.Name, Dropped: r.Dropped.Load(), Copy: r.copies}
	if next == from {
		at.Number = int64(visits)
	}
	_, _, at.Total = r.filled(next)
	return r.req.Round(at)
}

// copies returns relations of parts of variables, as runtime.Round has it.
func (r *evaluation) copies(how runtime.Copying, parts []runtime.Part) []*store.Relation {
	vars := make([]*queryplan.Var, len(parts))
	for i, p := range parts {
		at := slices.IndexFunc(r.req.Plan.Vars, func(v *queryplan.Var) bool {
			return v.Name == p.Var
		})
		if at < 0 || !r.copyable(r.req.Plan.Vars[at]) {
			return nil
		}
		vars[i] = r.req.Plan.Vars[at]
	}
	if how == runtime.Take {
		for _, v := range vars {
			r.c.Tables[v].Settle()
		}
	}
	out := make([]*store.Relation, len(parts))
	for i, p := range parts {
		v, t := vars[i], r.c.Tables[vars[i]]
		table := &store.Table{Name: p.Relation}
		if how != runtime.Bounds {
			table.Rows = t.Rows(p.Version)
		}
		table.Columns = r.bounded(v, t, p.Version, table.Rows)
		out[i] = &store.Relation{Name: p.Relation, Table: table, Keys: len(v.Cols)}
		for at, c := range v.Cols {
			table.Names = append(table.Names, c.Name)
			out[i].Cols = append(out[i].Cols, at)
		}
		if how == runtime.Take && !slices.Contains(vars[i+1:], v) {
			t.Clear()
		}
	}
	return out
}

// copyable reports whether all tuples of a variable are merged, and all of its
// strings known.
func (r *evaluation) copyable(v *queryplan.Var) bool {
	t := r.c.Tables[v]
	grows := func(c columns.Column) bool { return c.Dict != nil && c.Dict.Grows }
	return t != nil && t.IsMerged() && !slices.ContainsFunc(r.cols.Of(v), grows)
}

// bounded unpacks the first rows of a version of a table. The columns have the
// bounds of the variable and the width for them, whatever the rows are.
func (r *evaluation) bounded(v *queryplan.Var, t *tables.Table, version queryplan.Version,
	rows int) []*store.Column {
	cols := make([]*store.Column, len(v.Cols))
	spans := t.Version(nil, version)
	if rows == 0 {
		spans = nil
	}
	for i, c := range v.Cols {
		rng := r.cols.Ranges[v][i]
		if rng.Empty() {
			cols[i] = r.emptyColumn(v, i)
			continue
		}
		if !inOrder(c.Type, rng) && rng.Bits() > 0 {
			cols[i] = wide(c.Type, t, i, spans, rows)
			continue
		}
		cols[i] = store.NewPacked(c.Type, r.dict(v, i), rows, rng.Lo, rng.Hi)
		cols[i].Stats.Bounded = true
		if rows > 0 {
			r.fill(cols[i], t, i, spans)
		}
	}
	return cols
}

// inOrder reports whether words within bounds are in the order of the type.
func inOrder(t scalar.Type, bound interval.Interval) bool {
	return t.Kind != scalar.Float && (t.Kind != scalar.Uint || bound.Lo >= 0)
}

// wide unpacks a column whose words may be any.
func wide(typ scalar.Type, t *tables.Table, i int, spans []tables.Span, rows int) *store.Column {
	col := store.NewPacked(typ, nil, rows, 0, -1)
	col.Stats = store.AnyWords(typ.Kind, rows)
	col.Stats.Bounded = true
	words := make([]int64, outputBlock)
	to := col.U64
	for _, s := range spans {
		for from := 0; from < s.Rows(); from += outputBlock {
			n := min(outputBlock, s.Rows()-from)
			for k, w := range t.Read(words, s, from, i, n, 0) {
				to[k] = uint64(w)
			}
			to = to[n:]
		}
	}
	return col
}
