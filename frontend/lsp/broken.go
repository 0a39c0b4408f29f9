package lsp

import (
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// enterBroken indexes the predicates in clauses that have syntax errors, which
// are in no tree: the names that stand before a bracket. The first name of a
// clause is that of the head.
func (b *indexer) enterBroken(tree *ast.File) {
	if !hasGap(tree) {
		return
	}
	known := map[string]*symbol{}
	for _, e := range b.entries {
		if e.kind == predicate {
			known[e.span.Text()] = e.symbol
		}
	}
	clauses := tree.Clauses
	tokens := slices.DeleteFunc(parse.Tokens(tree.Source), func(t parse.Token) bool {
		return t.Kind == parse.Comment
	})
	b.clause = nil
	for i, t := range tokens {
		for len(clauses) > 0 && clauses[0].Span.End <= t.Span.Start {
			clauses, b.clause = clauses[1:], nil
		}
		if len(clauses) > 0 && clauses[0].Span.Start <= t.Span.Start {
			continue
		}
		if b.clause == nil {
			b.clause = &ast.Clause{Span: t.Span, Arrow: ast.Rule}
		}
		isHead := b.clause.Span == t.Span
		b.clause.Span.End = t.Span.End
		name := t.Span.Text()
		switch {
		case name == ".":
			b.clause = nil
		case t.Kind == parse.Name && i+1 < len(tokens) && opens(tokens[i+1]) && isFree(name):
			sym := known[name]
			if sym == nil {
				sym = b.predicate(name)
			}
			if isHead {
				b.add(sym, t.Span, derived)
			} else {
				b.add(sym, t.Span, used)
			}
		}
	}
}

// isFree reports whether a program may give a name its meaning.
func isFree(name string) bool {
	return !scalar.IsBuiltin(name) && !scalar.IsPrimitive(name) && !strings.HasPrefix(name, "lang:")
}

// hasGap reports whether there is text outside of clauses and comments.
func hasGap(tree *ast.File) bool {
	text, at := tree.Source.Text, 0
	comments := tree.Comments
	isBlank := func(end int) bool {
		for len(comments) > 0 && comments[0].Span.Start < end {
			c := comments[0].Span
			comments = comments[1:]
			if c.Start < at {
				continue // in a clause
			}
			if strings.TrimSpace(text[at:c.Start]) != "" {
				return false
			}
			at = c.End
		}
		return at >= end || strings.Trim(text[at:end], "\ufeff \t\r\n") == ""
	}
	for _, c := range tree.Clauses {
		if !isBlank(c.Span.Start) {
			return true
		}
		at = c.Span.End
	}
	return !isBlank(len(text))
}
