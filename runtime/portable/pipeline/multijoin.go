package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/columns"
	"github.com/redfoxdb/redfox/runtime/portable/tries"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// trieSides are the inputs of all multijoins of a plan, by what they hold.
type trieSides struct {
	narrow map[string]*trieSide[uint32]
	broad  map[string]*trieSide[uint64]
}

// multiJoin compiles to a source: the inputs end in tries, which the source
// walks.
func (c *Compiler) multiJoin(n *queryplan.MultiJoin, need names) *pipeline {
	inputs := make([]trieInput, len(n.Nodes))
	all := interval.None
	for i, in := range n.Nodes {
		cols := queryplan.NamesOf(in.Columns())
		x := &inputs[i]
		for _, name := range n.Order {
			if slices.Contains(cols, name) {
				x.keys = append(x.keys, name)
			}
		}
		for _, name := range cols {
			if need[name] && !slices.Contains(n.Order, name) {
				x.pays = append(x.pays, name)
			}
		}
		x.node = in
		x.pipes = c.node(in, names{}.with(x.keys...).with(x.pays...))
		for _, name := range x.keys {
			all = all.Union(merged(x.pipes, name).Bound)
		}
	}
	if c.tries.narrow == nil {
		c.tries = trieSides{map[string]*trieSide[uint32]{}, map[string]*trieSide[uint64]{}}
	}
	switch {
	case all.Lo >= 0 && all.Hi <= math.MaxUint32:
		// Without a base more multijoins find the same tries.
		return newMultiSource(c, n, need, inputs, 0, c.tries.narrow)
	case uint64(all.Hi)-uint64(all.Lo) <= math.MaxUint32:
		return newMultiSource(c, n, need, inputs, all.Lo, c.tries.narrow)
	}
	return newMultiSource(c, n, need, inputs, math.MinInt64, c.tries.broad)
}

// trieInput is an input of a multijoin: its columns that others have too, in
// the order in which they are bound, and its own that are needed.
type trieInput struct {
	node       queryplan.Node
	keys, pays []string
	pipes      []*pipeline
}

// multiSource yields the tuples of a multijoin.
type multiSource[K tries.Word] struct {
	sides []*trieSide[K]
	join  tries.Join[K]
}

func newMultiSource[K tries.Word](c *Compiler, n *queryplan.MultiJoin, need names,
	inputs []trieInput, base int64, known map[string]*trieSide[K]) *pipeline {
	src := &multiSource[K]{join: tries.Join[K]{Base: base}}
	join := &src.join
	p := &pipeline{src: src}
	for _, name := range n.Order {
		v := tries.Variable{Slot: -1}
		b := columns.Column{Bound: interval.All}
		for i := range inputs {
			level := slices.Index(inputs[i].keys, name)
			if level < 0 {
				continue
			}
			v.At = append(v.At, tries.Place{Input: i, Level: level})
			in := merged(inputs[i].pipes, name)
			in.Bound = in.Bound.Intersect(b.Bound)
			b = in
		}
		if need[name] {
			v.Slot = len(p.cols)
			b.Slot = v.Slot
			p.cols = append(p.cols, b)
		}
		join.Vars = append(join.Vars, v)
	}
	for i := range inputs {
		in := &inputs[i]
		for j, name := range in.pays {
			b := merged(in.pipes, name)
			b.Slot = len(p.cols)
			join.Pays = append(join.Pays,
				tries.Payload{Input: i, Field: len(in.keys) + j, Slot: b.Slot})
			p.cols = append(p.cols, b)
		}
		side := newTrieSide(c, in, base, known)
		src.sides, join.Inputs = append(src.sides, side), append(join.Inputs, &side.trie)
	}
	p.slots = len(p.cols)
	join.Slots = p.slots
	return p
}

// newTrieSide returns the trie of an input, a known one if there is.
func newTrieSide[K tries.Word](c *Compiler, in *trieInput, base int64,
	known map[string]*trieSide[K]) *trieSide[K] {
	cols := slices.Concat(in.keys, in.pays)
	text := fmt.Sprintf("base %d levels %d: ", base, len(in.keys))
	// Renamed scans of one variable are made equal by naming columns by place.
	if scan, places := resolveScan(in.node); scan != nil {
		text += fmt.Sprintf("scan %s %s", scan.Version, scan.Var.Name)
		for _, name := range cols {
			text += fmt.Sprintf(" %d", places[name])
		}
	} else {
		text += strings.Join(cols, ",") + " of " + queryplan.NodeString(in.node)
	}
	if s := known[text]; s != nil {
		return s
	}
	var ranges []interval.Interval
	for _, name := range cols {
		ranges = append(ranges, merged(in.pipes, name).Bound)
	}
	s := &trieSide[K]{
		Shape: tries.Shape{Name: "the trie on " + describe(in.node),
			Layout: interval.NewLayout(ranges), Levels: len(in.keys), Base: base},
		pipes: in.pipes, memo: memo{inputs: c.stamp(in.node)}, cols: cols,
	}
	s.Layout.Words = max(s.Layout.Words, 1) // rows without a bit still count
	known[text] = s
	return s
}

func (s *multiSource[K]) prepare(r *work.Run) int {
	for _, side := range s.sides {
		if side.ensure(r) == 0 {
			return 0
		}
	}
	return s.join.Share()
}

// counter is a source that can push a row once for all of its copies.
type counter interface{ count() }

func (s *multiSource[K]) count() { s.join.Counted = true }

func (s *multiSource[K]) start(w *work.Worker) scanner { return s.join.Walk(w) }
