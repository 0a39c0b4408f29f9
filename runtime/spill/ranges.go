package spill

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan/parts"
	"github.com/redfoxdb/redfox/runtime/store"
)

// ranges are classes of values of a way whose columns are all stored in
// ascending order, such as the keys of orders and those of their lines. A class
// is consecutive rows of each column, a slice of the stored columns, so nothing
// is partitioned.
type ranges struct {
	of *store.Column // whose rows the classes share equally, as far as values allow
}

// rangesWeight is the weight of a cut by ranges, relative to a cut by hashes,
// which copies the rows.
const rangesWeight = 4

// rangesOfWay returns the ranges of a way; nil if a column is not in order.
func (x *boxes) rangesOfWay(way *parts.Way) *ranges {
	var longest *store.Column
	for _, p := range way.Places {
		g, at := x.sources[p.Leaf], x.columnOf(p)
		if at < 0 || at >= len(g.facts) {
			return nil
		}
		c := g.facts[at]
		if c.Absent || !c.Stats.Ascending || c.Type.Kind == scalar.String ||
			c.Type.Kind == scalar.Float || longest != nil && c.Type != longest.Type {
			return nil
		}
		if longest == nil || c.Len() > longest.Len() {
			longest = c
		}
	}
	if longest == nil {
		return nil
	}
	return &ranges{longest}
}

// rows returns the rows of a column whose values are in a class, of 2^bits.
func (s *ranges) rows(c *store.Column, bits uint8, class uint64) (from, until int) {
	first := func(class uint64) int {
		at := int(uint64(s.of.Len()) * class >> bits)
		switch {
		case class == 0:
			return 0
		case at >= s.of.Len():
			return c.Len()
		}
		return c.FirstFrom(s.of.Value(at))
	}
	return first(class), first(class + 1)
}

// slice returns the stored columns of a bag within the ranges among some dims,
// and the other dims.
func (g *bag) slice(dims []dim) (*bag, []dim) {
	if !slices.ContainsFunc(dims, func(d dim) bool { return d.ranges != nil }) {
		return g, dims
	}
	var rest []dim
	from, until := 0, int(g.rows)
	for _, d := range dims {
		if d.ranges == nil {
			rest = append(rest, d)
			continue
		}
		first, past := d.ranges.rows(g.facts[d.col], d.bits, d.class)
		from, until = max(from, first), min(until, past)
	}
	until = max(from, until)
	part := &bag{types: g.types, tuple: g.tuple, rows: int64(until - from), part: true}
	for _, c := range g.facts {
		part.facts = append(part.facts, c.Slice(from, until))
	}
	return part, rest
}

// filtered is load for stored rows that pass tests.
func (r *run) filtered(g *bag, dims []dim, cols []int, name string) (out []*store.Column,
	rows int, held int64, err error) {
	b := r.builderOf(g, cols)
	held = (g.rows >> dims[0].bits) * b.width()
	if err := r.mem.Reserve(name, held); err != nil {
		return nil, 0, 0, err
	}
	all := slices.Clone(cols)
	for _, d := range dims {
		all = append(all, d.col)
	}
	err = r.each(g, nil, all, func(vecs [][]int64, n int) error {
		for k, d := range dims {
			n = keep(vecs, n, len(cols)+k, d)
		}
		if held, err = r.grow(b, rows+n, name, held); err != nil {
			return err
		}
		for i := range cols {
			b.put(i, rows, vecs[i][:n])
		}
		rows += n
		return nil
	})
	if err != nil {
		r.mem.Release(held)
		return nil, 0, 0, err
	}
	return b.finish(rows), rows, held, nil
}
