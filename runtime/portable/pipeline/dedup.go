package pipeline

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// deduped is the result of a Dedup: a table with a set, which is filled when it
// is scanned and kept while the inputs do not change.
type deduped struct {
	table  *tables.Table
	inputs stamp
	pipes  []*pipeline
	cols   []string
	built  bool
	at     uint64
}

// dedup compiles a Dedup. All columns are inserted, whatever is needed.
func (c *Compiler) dedup(n *queryplan.Dedup, need names) []*pipeline {
	cols := n.Columns()
	d := &deduped{inputs: c.stamp(n), pipes: c.node(n.Input, namesOf(cols)), cols: columnNames(cols)}
	src := &dedupSource{result: d}
	out := &pipeline{src: src}
	ranges := make([]interval.Interval, len(cols))
	for i, col := range cols {
		b := *mergedBinding(d.pipes, col.Name)
		ranges[i] = b.Bound
		if need[col.Name] {
			b.Slot = len(out.cols)
			out.cols = append(out.cols, b)
			src.cols = append(src.cols, i)
		}
	}
	out.slots = len(out.cols)
	d.table = tables.New(c.run.Mem, "a part of "+c.label, ranges, true)
	src.table = d.table
	return []*pipeline{out}
}

// fill computes the result if need be.
func (d *deduped) fill(r *work.Run) {
	now := d.inputs.now()
	if d.built && d.at == now {
		return
	}
	d.built, d.at = false, now
	d.table.Clear()
	sink := &insertSink{table: d.table, cols: d.cols}
	runInto(r, sink, d.pipes)
	sink.finish()
	d.table.Publish()
	d.built = true
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
