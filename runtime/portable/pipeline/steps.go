package pipeline

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/columns"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// stepwise compiles a multijoin with a delta and with relations that grow in
// the loop. Tries of these would be built anew in each round; their indexes
// only grow. The delta's rows go through a stage for each further variable.
func (c *Compiler) stepwise(n *queryplan.MultiJoin, s queryplan.Steps, need names) []*pipeline {
	lead := n.Nodes[s.Lead]
	for _, i := range s.Within {
		lead = &queryplan.Join{Kind: queryplan.Semi, Left: lead, Right: n.Nodes[i], Unique: true}
	}
	// Columns are dropped behind the last step that needs them.
	needs := make([]names, len(s.Binds)+1)
	needs[len(s.Binds)] = need
	for k := len(s.Binds) - 1; k >= 0; k-- {
		step := s.Binds[k]
		needs[k] = needs[k+1]
		for _, i := range slices.Concat(step.Lists, step.Whole) {
			needs[k] = needs[k].with(queryplan.NamesOf(n.Nodes[i].Columns())...)
		}
	}
	has := namesOf(lead.Columns())
	pipes := c.node(lead, restricted(needs[0], has))
	for k, step := range s.Binds {
		has = has.with(step.Name)
		for _, p := range pipes {
			c.intersect(p, n, step, restricted(needs[k+1], has))
		}
	}
	return pipes
}

// growsIn reports whether a tree reads more than the delta of a variable that a
// loop around the command changes.
func (c *Compiler) growsIn(n queryplan.Node) bool {
	return slices.ContainsFunc(queryplan.Scans(n), func(s *queryplan.Scan) bool {
		return s.Version != queryplan.Delta && c.Flow.ChangesAround(s.Var, c.block)
	})
}

// restricted returns the names that are in both sets.
func restricted(a, b names) names {
	out := names{}
	for name := range a {
		if b[name] {
			out[name] = true
		}
	}
	return out
}

// intersectStage binds a variable of a multijoin: for each row to the values
// that all of some inputs have with the row's other columns. Of those that have
// a list of values for a row, the shortest is read, and its values are looked
// up in the others.
type intersectStage struct {
	lists []valueList
	tests []valueTest // one for each list, and then those of other inputs
	keep  []int       // slots of the input that go on
	bound bool        // whether the variable goes on, after them
}

// valueList is an input as an index from its bound columns to the variable.
type valueList struct {
	side  buildSide
	keys  []int // slots of the key columns
	check []int // key columns that may have words outside the side's bounds
}

// valueTest is an input as the set of its tuples.
type valueTest struct {
	side  buildSide
	keys  []int // slots of the key columns; -1 for the variable
	check []int
}

// intersect adds a stage to a pipeline.
func (c *Compiler) intersect(p *pipeline, n *queryplan.MultiJoin, step queryplan.Step,
	need names) {
	s := &intersectStage{}
	v := columns.Column{Bound: interval.None}
	outside := func(b columns.Column, r interval.Interval) bool {
		return r.Empty() || !b.Bound.Empty() && (b.Bound.Lo < r.Lo || b.Bound.Hi > r.Hi)
	}
	for _, i := range step.Lists {
		on := c.keyOf(n.Nodes[i], step.Name)
		side, pay := c.side(n.Nodes[i], on, []string{step.Name})
		l := valueList{side: side, keys: p.slotsOf(on)}
		for k, name := range on {
			if outside(*p.find(name), side.keyBounds()[k]) {
				l.check = append(l.check, k)
			}
		}
		s.lists = append(s.lists, l)
		was := v.Bound
		v = pay[0]
		v.Bound = v.Bound.Union(was)
	}
	common := v.Bound
	for _, i := range slices.Concat(step.Lists, step.Whole) {
		on := c.keyOf(n.Nodes[i], "")
		side, _ := c.side(n.Nodes[i], on, nil)
		t := valueTest{side: side}
		for k, name := range on {
			b := v
			slot := -1
			if name != step.Name {
				b = *p.find(name)
				slot = b.Slot
			}
			r := side.keyBounds()[k]
			if t.keys = append(t.keys, slot); outside(b, r) {
				t.check = append(t.check, k)
			}
			if slot < 0 {
				common = common.Intersect(r)
			} else {
				b := p.find(name)
				b.Bound = b.Bound.Intersect(r)
			}
		}
		s.tests = append(s.tests, t)
	}
	s.keep = p.restrict(need)
	p.slots = len(s.keep)
	if s.bound = need[step.Name]; s.bound {
		v.Name, v.Bound, v.Slot = step.Name, common, p.slots
		p.cols = append(p.cols, v)
		p.slots++
	}
	p.stages = append(p.stages, s)
}

// keyOf returns the columns of an input but one, in an order in which several
// joins share an index.
func (c *Compiler) keyOf(n queryplan.Node, except string) []string {
	on := slices.DeleteFunc(queryplan.NamesOf(n.Columns()),
		func(name string) bool { return name == except })
	if scan, cols := resolveScan(n); scan != nil {
		slices.SortStableFunc(on, func(a, b string) int { return cols[a] - cols[b] })
	}
	return on
}

func (s *intersectStage) prepare(r *work.Run) bool {
	for _, l := range s.lists {
		if l.side.ensure(r) == 0 {
			return false
		}
	}
	for _, t := range s.tests {
		if t.side.ensure(r) == 0 {
			return false
		}
	}
	return true
}

func (s *intersectStage) start(w *work.Worker, next work.Op) work.Op {
	size := w.Run.Sizes.Vector
	o := &intersectOp{intersectStage: s, w: w, next: next, size: size,
		lists: make([]tables.Runs, len(s.lists)), tests: make([]tables.Runs, len(s.tests)),
		valid: make([]bool, size), choice: make([]uint8, size),
		left: make([]uint32, size), right: make([]uint32, size),
		values: make([]int64, size),
		out:    work.Batch{Cols: work.Vectors(len(s.keep)+work.Bit(s.bound), size)},
	}
	for i := range o.lists {
		o.lists[i] = newRuns(size)
	}
	words, cols := 0, 0
	for i, t := range s.tests {
		o.tests[i] = newRuns(size)
		words = max(words, t.side.finder().KeyLayout().Words)
		cols = max(cols, len(t.keys))
	}
	for _, l := range s.lists {
		words = max(words, l.side.finder().KeyLayout().Words)
	}
	o.keys = make([]uint64, size*words)
	o.gathered = work.Vectors(cols, size)
	return o
}

func newRuns(size int) tables.Runs {
	return tables.Runs{Start: make([]uint32, size), Count: make([]uint32, size)}
}

type intersectOp struct {
	*intersectStage
	w            *work.Worker
	next         work.Op
	size         int
	lists, tests []tables.Runs
	keys         []uint64
	valid        []bool
	choice       []uint8 // of each row the list that is read
	left, right  []uint32
	values       []int64
	cols         [][]int64
	gathered     [][]int64
	out          work.Batch
}

func (o *intersectOp) Close() { o.next.Close() }

func (o *intersectOp) Push(b *work.Batch) {
	for i := range o.intersectStage.lists {
		l := &o.intersectStage.lists[i]
		o.cols = b.Pick(o.cols, l.keys)
		o.lookup(l.side, l.check, b.N, &o.lists[i])
	}
	shortest := o.choice[:b.N]
	clear(shortest)
	for i := 1; i < len(o.lists); i++ {
		count := o.lists[i].Count
		for row, c := range shortest {
			if count[row] < o.lists[c].Count[row] {
				shortest[row] = uint8(i)
			}
		}
	}
	for i := range o.lists {
		o.expand(b, i)
	}
}

// lookup finds rows of a side by the columns at hand.
func (o *intersectOp) lookup(side buildSide, check []int, n int, runs *tables.Runs) {
	index := side.finder()
	var valid []bool
	if len(check) > 0 && !(index.Dense() && len(o.cols) == 1) {
		valid = o.valid[:n]
		withinBounds(valid, o.cols, side.keyBounds(), check)
	}
	index.KeyLayout().Pack(o.keys, o.cols, n)
	index.Lookup(o.keys, valid, n, runs)
}

// expand makes the tuples of the rows that read a list.
func (o *intersectOp) expand(b *work.Batch, i int) {
	left, right := o.left, o.right
	k := 0
	for row, choice := range o.choice[:b.N] {
		if int(choice) != i {
			continue
		}
		start, c := o.lists[i].Start[row], o.lists[i].Count[row]
		for c > 0 {
			if k == len(left) {
				o.emit(b, i, k)
				k = 0
			}
			n := min(int(c), len(left)-k)
			for j := range n {
				left[k+j], right[k+j] = uint32(row), start+uint32(j)
			}
			start += uint32(n)
			c -= uint32(n)
			k += n
		}
	}
	o.emit(b, i, k)
}

// emit pushes those of k tuples of a list that the other inputs have, too.
func (o *intersectOp) emit(b *work.Batch, list, k int) {
	if k == 0 {
		return
	}
	o.w.Run.Stop.Check()
	o.intersectStage.lists[list].side.finder().Payload(o.values[:k], o.right[:k], 0)
	for i := range o.intersectStage.tests {
		if i != list {
			if k = o.keepFound(b, i, k); k == 0 {
				return
			}
		}
	}
	for i, slot := range o.keep {
		work.Compact(o.out.Cols[i], b.Cols[slot], o.left[:k])
	}
	if o.bound {
		copy(o.out.Cols[len(o.keep)], o.values[:k])
	}
	o.out.N = k
	o.next.Push(&o.out)
}

// keepFound keeps those of k tuples that an input has, and returns their
// number.
func (o *intersectOp) keepFound(b *work.Batch, test, k int) int {
	t := &o.intersectStage.tests[test]
	o.cols = o.cols[:0]
	for i, slot := range t.keys {
		col := o.values
		if slot >= 0 {
			col = o.gathered[i]
			work.Compact(col, b.Cols[slot], o.left[:k])
		}
		o.cols = append(o.cols, col)
	}
	runs := &o.tests[test]
	o.lookup(t.side, t.check, k, runs)
	n := 0
	for i, c := range runs.Count[:k] {
		o.left[n], o.values[n] = o.left[i], o.values[i]
		n += work.Bit(c != 0)
	}
	return n
}
