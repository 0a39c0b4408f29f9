package tiers

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/segments"
)

// wantsTries reports whether a part of a plan is for tries.
func wantsTries(p *queryplan.Plan) bool {
	for _, c := range p.Commands() {
		if hasMultiJoin(c) {
			return slices.ContainsFunc(segments.Cut(p).Pieces, isForTries)
		}
	}
	return false
}

// isForTries reports whether a piece is a multijoin outside of loops. The plain
// engine joins tries, which takes the time of a list for each node of a graph.
// Kernels join two inputs at a time and look each row up in the others.
func isForTries(p segments.Piece) bool {
	return len(p.Loops) == 0 && slices.ContainsFunc(p.Commands, hasMultiJoin)
}

func hasMultiJoin(c queryplan.Command) bool {
	found := false
	if n := queryplan.CommandNode(c); n != nil {
		queryplan.Walk(n, func(n queryplan.Node) {
			_, is := n.(*queryplan.MultiJoin)
			found = found || is
		})
	}
	return found
}
