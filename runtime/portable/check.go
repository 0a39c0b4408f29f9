package portable

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
)

// checkNode evaluates an integrity constraint and reports its violation, if there
// is one.
type checkNode struct {
	check    *queryplan.Check
	limit    int64 // of the violations that are reported
	violated func(runtime.Violation)
	pipes    []*pipeline
	cols     []string
	binds    []binding
}

func (c *checkNode) run(r *run) int64 {
	first := topK{ordering: ordering{name: "the violations of " + c.check.About(), binds: c.binds},
		pipes: c.pipes, cols: c.cols, limit: c.limit}
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
	rows := first.rows(p)
	for i := range p.n {
		v.Tuples = append(v.Tuples, rows.Tuple(uint32(i)))
	}
	c.violated(v)
	return count
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
	x := (&ordering{name: c.table.name, binds: c.binds}).rows(&p)
	first, second, found, err := r.sorter().KeyConflict(r.stop.ctx, x, keys)
	if err != nil {
		abort(err)
	}
	if found {
		abort(&runtime.KeyError{Var: c.cmd.Var, Span: c.cmd.Span, First: x.Tuple(first), Second: x.Tuple(second)})
	}
}

// keysDiffer reports whether no two tuples have the same key. Tuples being
// distinct, two of them with one key differ in the rest.
func (c *keyCheck) keysDiffer(r *run, rows int) bool {
	keys := c.cmd.Var.Keys
	version := queryplan.Delta
	if c.seen == nil || c.known+c.table.rows(queryplan.Delta) != rows {
		c.forget()
		ranges := make([]interval.Interval, keys)
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
