package frontend_test

import (
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// TestCompileTrees compiles a program of several files: names are shared, trees
// come back for each, and diagnostics know their file.
func TestCompileTrees(t *testing.T) {
	files := []*source.File{
		source.NewFile("schema.logic", "edge(x, y) -> int(x), int(y).\n"),
		source.NewFile("rules.logic",
			"path(x, y) <- edge(x, y).\npath(x, z) <- path(x, y), edge(y, z).\n"),
		source.NewFile("query.logic", "_(x) <- path(1, x).\n"),
	}
	program, trees, found := frontend.CompileTrees(files, frontend.Options{})
	if program == nil || len(found) > 0 || len(trees) != 3 || len(program.Files) != 3 {
		t.Fatalf("program %v, %d trees, diagnostics %v", program, len(trees), found)
	}
	if got := len(trees[1].Clauses); got != 2 {
		t.Errorf("rules.logic has %d clauses, not 2", got)
	}
	decls := map[int]bool{}
	for _, s := range program.Strata {
		for _, r := range s.Rules {
			decls[r.Decl] = true
		}
	}
	if len(decls) != 3 {
		t.Errorf("3 clauses with rules have %d numbers", len(decls))
	}

	files[2] = source.NewFile("query.logic", "_(x) <- pth(1, x).\n")
	program, trees, found = frontend.CompileTrees(files, frontend.Options{})
	if program != nil || len(trees) != 3 || len(found) != 1 {
		t.Fatalf("a misspelt predicate: program %v, diagnostics %v", program, found)
	}
	d := found[0]
	if d.Code != diag.UnknownPredicate || d.Span.File != files[2] ||
		d.Labels[0].Span.File != files[1] {
		t.Errorf("got %s in %s with a label in %s", d.Code.Name, d.Span.File.Name,
			d.Labels[0].Span.File.Name)
	}

	// Facts from outside make the name known.
	files[2] = source.NewFile("query.logic", "_(x) <- pth(1, x), int(x).\n")
	program, found = frontend.Compile(files,
		frontend.Options{External: map[string]bool{"pth": true}})
	if program == nil {
		t.Errorf("facts are bound to pth, but %s", found[0].Message)
	}
}
