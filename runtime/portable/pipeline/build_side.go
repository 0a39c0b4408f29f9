package pipeline

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/columns"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
	"github.com/redfoxdb/redfox/runtime/store"
)

// buildSide is the right input of joins.
type buildSide interface {
	// ensure builds the index if need be and returns its number of rows.
	ensure(r *work.Run) int
	// finder is the index, which ensure may replace.
	finder() tables.Finder
	// keyBounds are the bounds of the key columns.
	keyBounds() []interval.Interval
	// momentary reports whether the rows are those of one round.
	momentary() bool
}

// builtSide is an index that is built when it is first probed, and again only
// when what it was built from has changed. Joins with equal build sides share
// one.
type builtSide struct {
	memo
	pipes    []*pipeline
	key, pay []string
	bounds   []interval.Interval
	index    tables.Index
	sink     *packSink
	ofDelta  bool // whether the rows are those of a delta
	// facts are the columns of key and payload, if the rows are all of facts.
	facts []*store.Column
	kept  *tables.Kept // nil if indexes on facts are not kept
}

func (b *builtSide) finder() tables.Finder { return &b.index }

func (b *builtSide) keyBounds() []interval.Interval { return b.bounds }

func (b *builtSide) momentary() bool { return b.ofDelta }

func (b *builtSide) ensure(r *work.Run) int {
	b.refresh(func() {
		x := &b.index
		x.Free()
		if b.facts != nil && b.kept.Adopt(x, b.facts) {
			return
		}
		if b.sink == nil {
			b.sink = newPackSink(r, x.Name, packing{b.key, &x.Key}, packing{b.pay, &x.Pay})
			setSink(b.pipes, b.sink)
		}
		exec(r, b.pipes)
		x.Build(r, b.sink.parts)
		if b.facts != nil {
			b.kept.Offer(x, b.facts)
		}
	})
	return b.index.Rows
}

// factsOf returns the stored columns of names, if a side's rows are whole
// columns of facts; else nil.
func factsOf(pipes []*pipeline, names []string) (cols []*store.Column) {
	if len(pipes) != 1 || len(pipes[0].stages) > 0 {
		return nil
	}
	src, ok := pipes[0].src.(*columnSource)
	if !ok || src.never || len(src.filters) > 0 {
		return nil
	}
	for _, name := range names {
		c := src.cols[pipes[0].find(name).Slot]
		if c == nil || c.Len() != src.rows {
			return nil
		}
		cols = append(cols, c)
	}
	return cols
}

// positionSide finds the rows of a version of a table by their positions.
type positionSide struct{ index *tables.PositionIndex }

func (p positionSide) finder() tables.Finder { return p.index }

func (positionSide) keyBounds() []interval.Interval {
	return []interval.Interval{columns.Positions}
}

func (positionSide) momentary() bool { return false }

func (p positionSide) ensure(*work.Run) int { return p.index.Update() }

// growingSide is an index on a version of a table that grows in the loop which
// probes it.
type growingSide struct {
	table            *tables.Table
	version          queryplan.Version
	ranges           []interval.Interval // of the table's columns
	keyCols, payCols []int
	bounds           []interval.Interval
	index            *tables.GrowingIndex
	found            tables.Finder
}

func (b *growingSide) finder() tables.Finder { return b.found }

func (b *growingSide) keyBounds() []interval.Interval { return b.bounds }

func (b *growingSide) momentary() bool { return false }

func (b *growingSide) ensure(r *work.Run) int {
	if b.index == nil || b.index.Freed() {
		b.index = b.table.Growing(b.ranges, b.keyCols, b.payCols,
			b.version == queryplan.Last, r.Sizes.Vector)
		b.found = b.index.Of(b.version)
	}
	b.index.Use()
	return b.table.Rows(b.version)
}
