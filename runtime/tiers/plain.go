package tiers

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/segments"
)

// forPlain reports, for each piece of a plan, whether the plain engine runs it
// whatever its size is.
//
// One reason is a multijoin outside of loops: the plain engine joins tries,
// which takes time proportional to one list for each node of a graph. Kernels
// join two inputs at a time and look each row up in the others.
//
// The other is a loop with folds: the plain engine sorts the pairs by group
// once and goes through them in each round. Kernels add each row to a table of
// groups, where an exact sum of floats takes hundreds of bytes. Other
// aggregates of the loop must read only bags that the loop replaces, because
// those have as many groups as the folds, or few values.
func forPlain(p *queryplan.Plan, pieces []segments.Piece) []bool {
	flow := queryplan.NewFlow(p)
	blocks := map[queryplan.Command]*queryplan.Block{}
	for b, c := range p.Commands() {
		blocks[c] = b
	}
	out := make([]bool, len(pieces))
	for i, piece := range pieces {
		if len(piece.Loops) == 0 {
			out[i] = slices.ContainsFunc(piece.Commands, hasMultiJoin)
			continue
		}
		folds, others := 0, 0 // in loops; commands before them run only once
		for _, c := range piece.Commands {
			n := queryplan.CommandNode(c)
			if n == nil || !flow.InLoop(blocks[c]) {
				continue
			}
			queryplan.Walk(n, func(n queryplan.Node) {
				switch n := n.(type) {
				case *queryplan.Aggregate:
					if _, ok := flow.Fold(n, blocks[c]); ok {
						folds++
					} else if !ofBags(flow, n, blocks[c]) {
						others++
					}
				case *queryplan.MultiJoin, *queryplan.Seq, *queryplan.TopK:
					others++
				}
			})
		}
		out[i] = folds > 0 && others == 0
	}
	return out
}

// ofBags reports whether a tree reads only bags that a loop replaces.
func ofBags(flow *queryplan.Flow, n queryplan.Node, b *queryplan.Block) bool {
	return !slices.ContainsFunc(queryplan.Scans(n), func(s *queryplan.Scan) bool {
		return s.Var.Kind != queryplan.Temp || !flow.ChangesAround(s.Var, b)
	})
}

// wantsPlain reports whether the plain engine runs a part of a plan whatever
// its size is.
func wantsPlain(p *queryplan.Plan) bool {
	for b, c := range p.Commands() {
		if hasMultiJoin(c) || hasAggregate(c) && slices.Contains(b.Successors(), b) {
			return slices.Contains(forPlain(p, segments.Cut(p).Pieces), true)
		}
	}
	return false
}

func hasMultiJoin(c queryplan.Command) bool {
	return hasNode(c, func(n queryplan.Node) bool { _, is := n.(*queryplan.MultiJoin); return is })
}

func hasAggregate(c queryplan.Command) bool {
	return hasNode(c, func(n queryplan.Node) bool { _, is := n.(*queryplan.Aggregate); return is })
}

func hasNode(c queryplan.Command, is func(queryplan.Node) bool) bool {
	found := false
	queryplan.Walk(queryplan.CommandNode(c), func(n queryplan.Node) { found = found || is(n) })
	return found
}
