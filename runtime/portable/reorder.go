package portable

import (
	"math"
	"math/bits"
	"slices"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
)

// growth is what a run knows of the sizes for which orders of joins were
// chosen.
type growth struct {
	orders runtime.Orders // nil before they are first needed
	loops  map[*queryplan.Block]*loopGrowth
}

// loopGrowth is the growth of what a loop reads.
type loopGrowth struct {
	cmds []queryplan.Command // as they run
	// read are the variables that rules read of which the order may change,
	// stored ones included.
	read []*queryplan.Var
	// chosen are the sizes for which the orders were chosen; nil before the
	// first of the variables has many tuples.
	chosen map[*queryplan.Var]float64
	// stale are tables whose indexes the orders before have used.
	stale []*tables.Table
}

// reorder chooses the orders of the joins of a loop again, before a round, if a
// relation that it reads has grown since they were chosen. It follows from the
// numbers of tuples alone. The run comes from a block that it has visited so
// often.
func (r *evaluation) reorder(next, from *queryplan.Block, visits int) {
	if r.req.Orders == nil || next == nil {
		return
	}
	if loop, ok := next.Term.(*queryplan.Branch); !ok || loop.Then != next {
		return
	}
	g := r.growthOf(next)
	for _, t := range g.stale {
		t.DropUnused()
	}
	g.stale = nil
	v := r.grown(g)
	if v == nil {
		return
	}
	round := int64(1)
	if next == from {
		round += int64(visits)
	}
	expected := g.chosen[v]
	sizes := map[*queryplan.Var]queryplan.Size{}
	for _, v := range g.read {
		if size, ok := r.sizeOf(v); ok {
			sizes[v], g.chosen[v] = size, float64(size.Rows)
		}
	}
	for i, c := range r.growth.orders.Again(next, next.Cmds, sizes) {
		if !differ(c, g.cmds[i]) || !r.hasStrings(c) {
			continue
		}
		g.cmds[i] = c
		x := r.cmds[next.Cmds[i]]
		x.run = r.c.Command(next, i, c)
		x.text = func() string { return queryplan.CommandString(c) }
		r.answer.Reordered = append(r.answer.Reordered, runtime.Reordering{Block: next.Name,
			Command: i, Round: round, Rule: queryplan.CommandVar(c).Name,
			Place: runtime.PlaceOf(c), Grown: v.Name, Rows: sizes[v].Rows,
			Expected: int64(math.Ceil(expected)),
			Tree:     queryplan.NodeString(queryplan.CommandNode(c))})
		r.markIndexes(g)
	}
}

// markIndexes has the indexes dropped that no round from now on uses.
func (r *evaluation) markIndexes(g *loopGrowth) {
	for _, v := range g.read {
		if t := r.c.Tables[v]; t != nil && !slices.Contains(g.stale, t) {
			t.MarkUnused()
			g.stale = append(g.stale, t)
		}
	}
}

// differ reports whether two commands have different trees.
func differ(c, d queryplan.Command) bool {
	return c != d && !queryplan.Equal(queryplan.CommandNode(c), queryplan.CommandNode(d))
}

// growthOf returns what is known of a loop's growth.
func (r *evaluation) growthOf(b *queryplan.Block) *loopGrowth {
	if g := r.growth.loops[b]; g != nil {
		return g
	}
	g := &loopGrowth{cmds: slices.Clone(b.Cmds)}
	for _, c := range b.Cmds {
		if !queryplan.CanReorder(c) {
			continue
		}
		for _, s := range queryplan.Scans(queryplan.CommandNode(c)) {
			if !slices.Contains(g.read, s.Var) {
				g.read = append(g.read, s.Var)
			}
		}
	}
	if r.growth.loops == nil {
		r.growth.loops = map[*queryplan.Block]*loopGrowth{}
	}
	r.growth.loops[b] = g
	return g
}

// grown returns a variable that has grown since orders were chosen, nil if none
// has: the one that has grown most.
func (r *evaluation) grown(g *loopGrowth) *queryplan.Var {
	var most *queryplan.Var
	factor := 0.0
	for _, v := range g.read {
		t := r.c.Tables[v]
		if t == nil || v.Kind != queryplan.Derived {
			continue
		}
		rows := t.Rows(queryplan.Full)
		if rows < r.Sizes.Counted {
			continue
		}
		if g.chosen == nil {
			g.chosen = map[*queryplan.Var]float64{}
			if r.growth.orders == nil {
				r.growth.orders = r.req.Orders(r.req.Plan)
			}
			for _, v := range g.read {
				g.chosen[v] = r.growth.orders.Expected(v)
			}
		}
		if by := float64(rows) / max(1, g.chosen[v]); by >= r.Sizes.Grown && by > factor {
			most, factor = v, by
		}
	}
	return most
}

// sizeOf counts a variable; not ok if its tuples are those of a round.
func (r *evaluation) sizeOf(v *queryplan.Var) (size queryplan.Size, ok bool) {
	switch t := r.c.Tables[v]; {
	case t == nil:
		size.Rows = int64(r.cols.Rows[v])
		for i, c := range r.cols.Stored[v] {
			if c == nil || c.Stats.Distinct == 0 {
				return queryplan.Size{Rows: size.Rows}, true
			}
			size.Distinct = append(size.Distinct, r.cols.Stored[v][i].Stats.Distinct)
		}
		return size, true
	case v.Kind == queryplan.Derived:
		size.Rows = int64(t.Rows(queryplan.Full))
		for i := range v.Cols {
			size.Distinct = append(size.Distinct, countValues(t, i, r.cols.Ranges[v][i]))
		}
		return size, true
	}
	return size, false
}

// The bit sets by which values are counted: those of close values have a place
// for each between the least and the greatest, up to exactPlaces, and others as
// many as hashedPlaces.
const (
	exactPlaces  = 1 << 26
	hashedBits   = 20
	hashedPlaces = 1 << hashedBits
)

// countValues counts the different values of a column of a table. If they are
// far from each other, it counts the places of a bit set that hashes of them
// hit (Whang et al., TODS 1990). The result does not depend on the order of the
// tuples. Codes of computed strings and numbers of entities, which do, are
// close to each other.
func countValues(t *tables.Table, col int, bound interval.Interval) int64 {
	lo, hi := bound.Lo, bound.Hi
	if uint64(hi)-uint64(lo) >= exactPlaces {
		lo, hi = math.MaxInt64, math.MinInt64
		eachWord(t, col, func(words []int64) {
			lo, hi = min(lo, slices.Min(words)), max(hi, slices.Max(words))
		})
	}
	span := uint64(hi) - uint64(lo)
	exact := lo <= hi && span < exactPlaces
	places := uint64(hashedPlaces)
	if exact {
		places = span + 1
	}
	set := make([]uint64, (places+63)/64)
	eachWord(t, col, func(words []int64) {
		for _, w := range words {
			at := uint64(w) - uint64(lo)
			if !exact {
				at = uint64(w) * 0x9e3779b97f4a7c15 >> (64 - hashedBits)
			}
			set[at>>6] |= 1 << (at & 63)
		}
	})
	hit := 0
	for _, w := range set {
		hit += bits.OnesCount64(w)
	}
	rows := int64(t.Rows(queryplan.Full))
	switch {
	case exact:
		return int64(hit)
	case hit == hashedPlaces:
		return rows
	}
	free := 1 - float64(hit)/hashedPlaces
	return min(rows, int64(math.Ceil(-hashedPlaces*math.Log(free))))
}

// eachWord calls f with the words of a column, block by block.
func eachWord(t *tables.Table, col int, f func(words []int64)) {
	words := make([]int64, outputBlock)
	for _, s := range t.Version(nil, queryplan.Full) {
		for from := 0; from < s.Rows(); from += outputBlock {
			f(t.Read(words, s, from, col, min(outputBlock, s.Rows()-from), 0))
		}
	}
}

// hasStrings reports whether there is a dictionary for each string that a
// command computes: they were made for the expressions of the plan.
func (r *evaluation) hasStrings(c queryplan.Command) bool {
	ok := true
	queryplan.Walk(queryplan.CommandNode(c), func(n queryplan.Node) {
		m, is := n.(*queryplan.Map)
		if !is {
			return
		}
		for _, e := range m.Exprs {
			_, column := e.Expr.(*queryplan.ColRef)
			if e.Expr.Type().Kind == scalar.String && !column && r.cols.Dicts.Exprs[e.Expr] == nil {
				ok = false
			}
		}
	})
	return ok
}
