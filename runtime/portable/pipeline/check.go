package pipeline

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable/columns"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// checkNode evaluates an integrity constraint and reports its violation, if
// there is one.
type checkNode struct {
	check    *queryplan.Check
	limit    int64 // of the violations that are reported
	violated func(runtime.Violation)
	pipes    []*pipeline
	cols     []string
	binds    []columns.Column
}

func (c *checkNode) run(r *work.Run) int64 {
	first := topK{ordering: ordering{name: "the violations of " + c.check.About(), binds: c.binds},
		pipes: c.pipes, cols: c.cols, limit: c.limit}
	p, count := first.collectCounted(r)
	defer func() {
		for _, col := range p.cols {
			work.Free(r.Mem, col)
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
	table *tables.Table
	binds []columns.Column // of all columns

	// again says that the table grows after the check, as in a loop: then the
	// keys seen stay, so that a round looks at its own tuples only.
	again bool
	seen  *tables.Table
	known int // tuples whose keys are in seen
}

func (c *keyCheck) run(r *work.Run) {
	keys := c.cmd.Var.Keys
	rows := c.table.Rows(queryplan.Full)
	if keys == len(c.binds) || rows <= 1 {
		return
	}
	if c.keysDiffer(r, rows) {
		return
	}
	// There is a conflict: report the first one in sorted order.
	p := collect(r, c.table.Name, []*pipeline{c.scan(queryplan.Full, len(c.binds))},
		c.names()).gather(r.Mem)
	x := (&ordering{name: c.table.Name, binds: c.binds}).rows(&p)
	first, second, found, err := r.Sorter().KeyConflict(r.Stop.Ctx, x, keys)
	if err != nil {
		work.Abort(err)
	}
	if found {
		work.Abort(&runtime.KeyError{Var: c.cmd.Var, Span: c.cmd.Span, First: x.Tuple(first),
			Second: x.Tuple(second)})
	}
}

// keysDiffer reports whether no two tuples have the same key. Tuples being
// distinct, two of them with one key differ in the rest.
func (c *keyCheck) keysDiffer(r *work.Run, rows int) bool {
	keys := c.cmd.Var.Keys
	version := queryplan.Delta
	if c.seen == nil || c.known+c.table.Rows(queryplan.Delta) != rows {
		c.forget()
		ranges := make([]interval.Interval, keys)
		for i := range ranges {
			ranges[i] = c.binds[i].Bound
		}
		c.seen = tables.New(r.Mem, "the key of "+c.table.Name, ranges, true)
		version = queryplan.Full
	}
	sink := &insertSink{table: c.seen, cols: c.names()[:keys]}
	runInto(r, sink, []*pipeline{c.scan(version, keys)})
	c.known += int(sink.finish().Kept)
	differ := c.known == rows
	if !differ || !c.again {
		c.forget()
	}
	return differ
}

// forget frees the keys seen.
func (c *keyCheck) forget() {
	if c.seen != nil {
		c.seen.Clear()
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
		out[i] = b.Name
	}
	return out
}
