package frontend

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/project"
	"github.com/redfoxdb/redfox/frontend/source"
)

// OrderMatters reports whether the files that a project executes have to be
// transactions of their own. If they only insert facts, and nothing in the
// program reads an event or an earlier state or deletes, the contents are the
// same after one transaction with all of them.
func OrderMatters(files []*source.File) bool {
	executed := map[*source.File]bool{}
	for i, is := range project.Executed(files) {
		executed[files[i]] = is
	}
	if !slices.Contains(project.Executed(files), true) {
		return false
	}
	for _, tree := range Read(files).Resolved {
		for _, c := range tree.Clauses {
			isFact := c.Right == nil && c.P2P == nil
			if executed[tree.Source] && !isFact && changes(c.Left, "+") {
				return true
			}
			if changes(c.Left, "-", "^") || changes(c.Right, "+", "-", "^") {
				return true
			}
		}
	}
	return false
}

// OnlyAsks reports whether no clause of the files inserts, deletes or declares.
// A transaction of them changes the contents only if an installed rule does.
func OnlyAsks(files []*source.File) bool {
	for _, tree := range Read(files).Resolved {
		for _, c := range tree.Clauses {
			if c.Right == nil || c.Arrow != ast.Rule || changes(c.Left, "+", "-", "^") {
				return false
			}
		}
	}
	return true
}

// changes reports whether a formula has an event with one of the signs, or an
// earlier state.
func changes(n ast.Node, signs ...string) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if a, ok := n.(*ast.Apply); ok {
			found = found || a.Stage != "" || slices.Contains(signs, a.Delta)
		}
		return !found
	})
	return found
}
