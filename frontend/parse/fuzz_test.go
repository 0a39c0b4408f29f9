package parse_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// FuzzParse checks on any text that parsing does not panic, that spans are in
// the file and nest, that diagnostics can be shown, and that formatting keeps
// its promises where there is no error.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/golden/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		if b, err := os.ReadFile(path); err == nil {
			for part := range strings.SplitSeq(string(b), "----\n") {
				f.Add(part)
			}
		}
	}
	for _, c := range diag.Codes() {
		f.Add(c.Example)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, diags := parseText(text)
		checkSpans(t, file)
		for _, d := range diags {
			checkSpan(t, file, d.Span)
			for _, l := range d.Labels {
				checkSpan(t, file, l.Span)
			}
		}
		rendered(t, diags)
		if len(diags) == 0 {
			checkFormat(t, file)
		}
	})
}

func checkSpan(t *testing.T, f *ast.File, s source.Span) {
	if s.File != f.Source || s.Start < 0 || s.End < s.Start || s.End > len(f.Source.Text) {
		t.Fatalf("span %d..%d is not in the file of %d bytes", s.Start, s.End, len(f.Source.Text))
	}
}

// checkSpans checks that each node lies in its parent and behind the node
// before it.
func checkSpans(t *testing.T, f *ast.File) {
	var node func(parent source.Span, n ast.Node)
	inside := func(parent, s source.Span) {
		checkSpan(t, f, s)
		if s.Start < parent.Start || s.End > parent.End || s.Start == s.End {
			t.Fatalf("span %d..%d is empty or not in its parent %d..%d", s.Start, s.End,
				parent.Start,
				parent.End)
		}
	}
	clauses := func(parent source.Span, list []*ast.Clause) {
		for _, c := range list {
			inside(parent, c.Span)
			node(c.Span, c.Left)
			if c.Right != nil {
				node(c.Span, c.Right)
			}
			if c.P2P != nil {
				inside(c.Span, c.P2P.Span)
				for _, s := range c.P2P.Specs {
					inside(c.P2P.Span, s.Span)
					inside(s.Span, s.Out.Span)
					inside(s.Span, s.Fn.Span)
					if s.In != nil {
						node(s.Span, s.In)
					}
				}
			}
		}
	}
	node = func(parent source.Span, n ast.Node) {
		at := n.Pos()
		inside(parent, at)
		if ref, ok := n.(*ast.PredRef); ok {
			clauses(at, ref.Clauses)
		}
		last := at.Start
		for _, child := range ast.Children(n) {
			if child.Pos().Start < last {
				t.Fatalf("node at %d starts before the end of the one before it", child.Pos().Start)
			}
			node(at, child)
			last = child.Pos().End
		}
	}
	clauses(source.Span{File: f.Source, End: len(f.Source.Text)}, f.Clauses)
	for _, c := range f.Comments {
		checkSpan(t, f, c.Span)
	}
}
