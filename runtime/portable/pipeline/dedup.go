package pipeline

import (
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// deduped is the result of a Dedup: a table with a set, which is filled when it
// is scanned and kept while the inputs do not change.
type deduped struct {
	memo
	table *tables.Table
	sink  *insertSink
	pipes []*pipeline
}

// dedup compiles a Dedup. All columns are inserted, whatever is needed.
func (c *Compiler) dedup(n *queryplan.Dedup, need names) []*pipeline {
	cols := n.Columns()
	d := &deduped{memo: memo{inputs: c.stamp(n)}, pipes: c.node(n.Input, namesOf(cols))}
	all := mergedAll(d.pipes, queryplan.NamesOf(cols))
	d.table = tables.New(c.run.Mem, "a part of "+c.label, boundsOf(all), true)
	d.sink = &insertSink{table: d.table, cols: queryplan.NamesOf(cols)}
	setSink(d.pipes, d.sink)
	p := &pipeline{}
	p.src = &dedupSource{tableSource{table: d.table, cols: p.choose(all, need)}, d}
	return []*pipeline{p}
}

// fill computes the result if need be.
func (d *deduped) fill(r *work.Run) {
	d.refresh(func() {
		d.table.Clear()
		exec(r, d.pipes)
		d.sink.finish()
		d.table.Publish()
	})
}

// dedupSource scans the result of a Dedup.
type dedupSource struct {
	tableSource
	result *deduped
}

func (s *dedupSource) prepare(r *work.Run) int {
	s.result.fill(r)
	return s.tableSource.prepare(r)
}
