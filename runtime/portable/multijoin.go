package portable

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
)

// tries are the inputs of all multijoins of a plan, by what they hold.
type tries struct {
	narrow map[string]*trieSide[uint32]
	broad  map[string]*trieSide[uint64]
}

// multiJoin compiles to a source: the inputs end in tries, which the source
// walks.
func (c *compiler) multiJoin(n *queryplan.MultiJoin, need names) *pipeline {
	inputs := make([]trieInput, len(n.Nodes))
	all := interval.None
	for i, in := range n.Nodes {
		cols := columnNames(in.Columns())
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
			all = all.Union(mergedBinding(x.pipes, name).rng)
		}
	}
	if c.tries.narrow == nil {
		c.tries = tries{map[string]*trieSide[uint32]{}, map[string]*trieSide[uint64]{}}
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

// trieInput is an input of a multijoin: its columns that others have too, in the
// order in which they are bound, and its own that are needed.
type trieInput struct {
	node       queryplan.Node
	keys, pays []string
	pipes      []*pipeline
}

// multiSource yields the tuples of a multijoin.
type multiSource[K trieWord] struct {
	inputs []*trieSide[K]
	vars   []joinVariable
	// lead is the input whose rows are shared out among the workers; of those that
	// have the first variable the one with the most rows.
	lead int
	base int64
	// fixed is the place of the last variable, of two, whose list stays the same
	// while the variable before takes its values; -1 if neither does.
	fixed int
	// pays are the inputs' columns in the output, of one input after the other.
	pays  []payloadColumn
	slots int
}

// joinVariable is a column that several inputs have.
type joinVariable struct {
	at   []place
	slot int // in the output; -1 if it is not needed
}

// place is a level of an input's trie.
type place struct{ input, level int }

type payloadColumn struct{ input, field, slot int }

func newMultiSource[K trieWord](c *compiler, n *queryplan.MultiJoin, need names, inputs []trieInput, base int64, known map[string]*trieSide[K]) *pipeline {
	src := &multiSource[K]{base: base}
	p := &pipeline{src: src}
	for _, name := range n.Order {
		v := joinVariable{slot: -1}
		b := binding{rng: interval.All}
		for i := range inputs {
			level := slices.Index(inputs[i].keys, name)
			if level < 0 {
				continue
			}
			v.at = append(v.at, place{i, level})
			in := mergedBinding(inputs[i].pipes, name)
			in.rng = in.rng.Intersect(b.rng)
			b = *in
		}
		if need[name] {
			v.slot = len(p.cols)
			b.slot = v.slot
			p.cols = append(p.cols, b)
		}
		src.vars = append(src.vars, v)
	}
	for i := range inputs {
		in := &inputs[i]
		for j, name := range in.pays {
			b := *mergedBinding(in.pipes, name)
			b.slot = len(p.cols)
			src.pays = append(src.pays, payloadColumn{i, len(in.keys) + j, b.slot})
			p.cols = append(p.cols, b)
		}
		src.inputs = append(src.inputs, newTrieSide(c, in, base, known))
	}
	src.fixed = src.findFixed()
	p.slots = len(p.cols)
	src.slots = p.slots
	return p
}

func (s *multiSource[K]) findFixed() int {
	last := len(s.vars) - 1
	if last == 0 || len(s.vars[last].at) > 2 {
		return -1
	}
	return slices.IndexFunc(s.vars[last].at, func(p place) bool {
		return !slices.ContainsFunc(s.vars[last-1].at, func(q place) bool { return p.input == q.input })
	})
}

// newTrieSide returns the trie of an input, a known one if there is.
func newTrieSide[K trieWord](c *compiler, in *trieInput, base int64, known map[string]*trieSide[K]) *trieSide[K] {
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
		ranges = append(ranges, mergedBinding(in.pipes, name).rng)
	}
	s := &trieSide[K]{
		name: "the trie on " + describe(in.node), pipes: in.pipes, inputs: c.stamp(in.node),
		cols: cols, levels: len(in.keys), base: base, lay: interval.NewLayout(ranges),
	}
	s.lay.Words = max(s.lay.Words, 1) // rows without a bit still count
	known[text] = s
	return s
}

// leadWeight is how many rows of an ordinary source a row of the lead counts
// for: each starts a search and not one step.
const leadWeight = 16

func (s *multiSource[K]) prepare(r *run) int {
	for _, in := range s.inputs {
		if in.ensure(r) == 0 {
			return 0
		}
	}
	rows := 0
	for _, at := range s.vars[0].at {
		if n := s.inputs[at.input].trie.rows; n > rows {
			s.lead, rows = at.input, n
		}
	}
	return rows * leadWeight
}

func (s *multiSource[K]) start(w *worker) scanner {
	size := w.run.opts.vector
	j := &multiScanner[K]{src: s, run: w.run, size: size, batch: batch{cols: vectors(s.slots, size)}}
	j.inputs = make([]walked[K], len(s.inputs))
	for i, in := range s.inputs {
		x := &j.inputs[i]
		x.trie = &in.trie
		x.from, x.to = make([]uint32, in.levels+1), make([]uint32, in.levels+1)
	}
	lead := 0
	for _, v := range s.vars {
		j.cursors = append(j.cursors, make([]cursor[K], len(v.at)))
	}
	for _, in := range s.inputs {
		lead = max(lead, in.levels)
	}
	j.first, j.last = make([]uint32, lead+1), make([]uint32, lead+1)
	j.bound = make([]K, len(s.vars))
	for _, c := range s.pays {
		if !slices.Contains(j.chosen, c.input) {
			j.chosen = append(j.chosen, c.input)
			j.places = append(j.places, make([]uint32, size))
		}
	}
	j.rows = make([]uint32, len(j.chosen))
	return j
}
