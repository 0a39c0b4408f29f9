package portable

import (
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
)

// checkNode evaluates an integrity constraint and appends its violation, if
// there is one, to the answer.
type checkNode struct {
	check *queryplan.Check
	pipes []*pipeline
	cols  []string
	binds []binding
	order []sortColumn
}

func (c *checkNode) run(r *run) int64 {
	first := topK{name: "the violations of " + c.check.Text, pipes: c.pipes, cols: c.cols, by: c.order, limit: int64(r.req.MaxViolations)}
	p, count := first.collectCounted(r)
	defer func() {
		for _, col := range p.cols {
			free(r.mem, col)
		}
	}()
	if count == 0 {
		return 0
	}
	v := runtime.Violation{Check: c.check, Count: count, Cols: c.check.Node.Columns()}
	s := newSorter(r.mem, first.name, p, c.order)
	defer s.free()
	for _, row := range s.rows {
		v.Tuples = append(v.Tuples, tupleAt(c.binds, p.cols, int(row.row)))
	}
	r.answer.Violations = append(r.answer.Violations, v)
	return count
}

func tupleAt(binds []binding, cols [][]int64, row int) []scalar.Value {
	out := make([]scalar.Value, len(binds))
	for i := range binds {
		out[i] = binds[i].value(cols[i][row])
	}
	return out
}

// keyCheck tests that the key of a table determines the rest of its tuples.
type keyCheck struct {
	cmd   *queryplan.CheckKey
	table *table
	binds []binding // of all columns

	// again says that the table grows after the check, as in a loop: then the keys
	// seen stay, so that a round looks at its own tuples only.
	again bool
	seen  *table
	known int // tuples whose keys are in seen
}

func (c *keyCheck) run(r *run) {
	keys := c.cmd.Var.Keys
	rows := c.table.rows(queryplan.Full)
	if keys == len(c.binds) || rows <= 1 {
		return
	}
	if c.keysDiffer(r, rows) {
		return
	}
	// There is a conflict: report the first one in sorted order.
	p := collect(r, c.table.name, []*pipeline{c.scan(queryplan.Full, len(c.binds))}, c.names()).gather(r.mem)
	order := make([]sortColumn, len(c.binds))
	for i, b := range c.binds {
		order[i] = sortColumn{binding: b}
	}
	s := newSorter(r.mem, c.table.name, &p, order)
	for i := 1; i < len(s.rows); i++ {
		if s.sameGroup(i-1, i, keys) {
			abort(&runtime.KeyError{Var: c.cmd.Var, Span: c.cmd.Span,
				First:  tupleAt(c.binds, p.cols, int(s.rows[i-1].row)),
				Second: tupleAt(c.binds, p.cols, int(s.rows[i].row))})
		}
	}
}

// keysDiffer reports whether no two tuples have the same key. Tuples being
// distinct, two of them with one key differ in the rest.
func (c *keyCheck) keysDiffer(r *run, rows int) bool {
	keys := c.cmd.Var.Keys
	version := queryplan.Delta
	if c.seen == nil || c.known+c.table.rows(queryplan.Delta) != rows {
		c.forget()
		ranges := make([]interval, keys)
		for i := range ranges {
			ranges[i] = c.binds[i].rng
		}
		c.seen = newTable(r.mem, "the key of "+c.table.name, ranges, true)
		version = queryplan.Full
	}
	sink := &insertSink{table: c.seen, cols: c.names()[:keys]}
	runInto(r, sink, []*pipeline{c.scan(version, keys)})
	_, kept := sink.finish()
	c.known += int(kept)
	differ := c.known == rows
	if !differ || !c.again {
		c.forget()
	}
	return differ
}

// forget frees the keys seen.
func (c *keyCheck) forget() {
	if c.seen != nil {
		c.seen.clear()
	}
	c.seen, c.known = nil, 0
}

// scan reads the leading columns.
func (c *keyCheck) scan(version queryplan.Version, n int) *pipeline {
	src := &tableSource{table: c.table, version: version}
	for i := range n {
		src.cols = append(src.cols, i)
	}
	return &pipeline{src: src, cols: c.binds[:n], slots: n}
}

func (c *keyCheck) names() []string {
	out := make([]string, len(c.binds))
	for i, b := range c.binds {
		out[i] = b.name
	}
	return out
}
