package lsp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// hover says what the name at a position means.
func (s *Server) hover(p *protocol.TextDocumentPositionParams) (any, *protocol.Error) {
	at, failure := s.point(p.TextDocument.URI, p.Position)
	if failure != nil {
		return nil, failure
	}
	text, where := at.keyword()
	if at.entry != nil {
		text, where = at.describe(at.entry), at.entry.span
	}
	if text == "" {
		return nil, nil
	}
	span := at.at(where)
	return protocol.Hover{
		Contents: protocol.MarkupContent{Kind: protocol.MarkupKindMarkdown, Value: text},
		Range:    &span,
	}, nil
}

// keyword returns Markdown about the keyword at the position, if there is one,
// and its place.
func (p *pointed) keyword() (string, source.Span) {
	tokens := parse.Tokens(p.file.File)
	for i, t := range tokens {
		if t.Kind == parse.Name && t.Span.Start <= p.offset && p.offset <= t.Span.End &&
			classify(tokens, i).typ == keywordToken {
			return describeKeyword(t.Span.Text()), t.Span
		}
	}
	return "", source.Span{}
}

// describe returns Markdown about a symbol.
func (p *pointed) describe(e *entry) string {
	switch e.kind {
	case predicate:
		return p.describePredicate(e.symbol)
	case variable:
		if t, ok := p.typeOf(e); ok {
			return code(e.name + ": " + t)
		}
		return code(e.name)
	case function:
		return describeFunction(e.name)
	case aggregate:
		return describeAggregation(e.name)
	case typeName:
		return describeType(e.name)
	case directive:
		return describeDirective(e.name)
	case blockName:
		return code("block(`" + e.ownName() + ")")
	}
	return ""
}

// code is a block of LogiQL in Markdown.
func code(text string) string { return "```logiql\n" + text + "\n```" }

func (p *pointed) describePredicate(sym *symbol) string {
	pred := sym.known(p.program)
	var parts []string
	if pred == nil {
		parts = append(parts, code(sym.name))
	} else {
		parts = append(parts, code(signature(pred)))
	}
	facts := []string{}
	count := map[role]int{}
	for _, x := range sym.places {
		count[x.role]++
	}
	if count[derived] > 0 {
		facts = append(facts, counted(count[derived], "rule"))
	}
	if count[stated] > 0 {
		facts = append(facts, counted(count[stated], "fact"))
	}
	if len(facts) == 0 {
		facts = append(facts, "facts from outside")
	}
	if program := p.names.Program; program != nil && pred != nil && count[derived] > 0 {
		isIt := func(q *core.Pred) bool { return q.Name == pred.Name }
		i := slices.IndexFunc(program.Strata, func(s *core.Stratum) bool {
			return slices.ContainsFunc(s.Preds, isIt)
		})
		if i >= 0 {
			text := fmt.Sprintf("stratum %d of %d", i+1, len(program.Strata))
			if program.Strata[i].Recursive {
				text += ", recursive"
			}
			if program.Strata[i].Iterates() {
				text += ", iterated"
			}
			facts = append(facts, text)
		}
	}
	parts = append(parts, strings.Join(facts, " · "))
	if text := p.comment(sym.home(nil)); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n")
}

// known returns what the checker knows about a predicate, now or before the
// last syntax error.
func (sym *symbol) known(p *program) *core.Pred {
	if !isTyped(sym.pred) && p.good != nil {
		if good := p.good.preds[sym.name]; good != nil && isTyped(good.pred) {
			return good.pred
		}
	}
	return sym.pred
}

// isTyped reports whether all arguments of a predicate have types.
func isTyped(p *core.Pred) bool {
	return p != nil && !slices.ContainsFunc(p.Args, func(a core.Arg) bool {
		return a.Type.Kind == scalar.Invalid && a.Entity == ""
	})
}

// detail is the signature of a predicate in a list, or "".
func (sym *symbol) detail(p *program) string {
	if pred := sym.known(p); pred != nil {
		return signature(pred)
	}
	return ""
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// signature writes a predicate as its declaration, or by its arguments alone if
// their types are not known.
func signature(p *core.Pred) string {
	var names, types []string
	for _, a := range p.Args {
		names = append(names, a.Name)
		typ := a.Entity
		if typ == "" && a.Type.Kind != scalar.Invalid {
			typ = a.Type.String()
		}
		if typ != "" && typ != p.Name {
			types = append(types, typ+"("+a.Name+")")
		}
	}
	text := core.AtomText(p.Name, p.Keys, names)
	switch {
	case !isTyped(p):
		return text
	case len(types) == 0:
		return text + " -> ."
	}
	return text + " -> " + strings.Join(types, ", ") + "."
}

// typeOf returns the type of a variable: what the checker found, or in a
// declaration that of its argument.
func (p *pointed) typeOf(e *entry) (string, bool) {
	if e.typ != nil {
		return e.typ.String(), true
	}
	atom := e.clause.Left
	if c, ok := ast.Unparen(atom).(*ast.Compare); ok {
		atom = c.Operands[0]
	}
	a, ok := ast.Unparen(atom).(*ast.Apply)
	if !ok || e.clause.Arrow != ast.Constraint {
		return "", false
	}
	sym := p.meaning(a.Name.Text)
	if sym == nil || sym.pred == nil {
		return "", false
	}
	for _, arg := range sym.pred.Args {
		if arg.Name == strings.TrimPrefix(e.name, "?") && arg.Type.Kind != scalar.Invalid {
			if arg.Entity != "" {
				return arg.Entity, true
			}
			return arg.Type.String(), true
		}
	}
	return "", false
}

// comment returns the text of the comments directly above a clause.
func (p *pointed) comment(x place) string {
	if x.clause == nil {
		return ""
	}
	f := p.files[x.clause.Span.File.Name]
	line := f.LineOf(x.clause.Span.Start)
	var out []string
	above, _ := slices.BinarySearchFunc(f.tree.Comments, x.clause.Span.Start,
		func(c *ast.Comment, start int) int { return cmp.Compare(c.Span.Start, start) })
	for _, c := range slices.Backward(f.tree.Comments[:above]) {
		first, last := f.LineOf(c.Span.Start), f.LineOf(c.Span.End)
		alone := strings.TrimSpace(f.Text[f.LineStart(first):c.Span.Start]) == ""
		if last == line-1 && alone && c.Text[0] == '/' {
			out = append(out, plainComment(c.Text))
			line = first
		} else if last < line-1 {
			break
		}
	}
	slices.Reverse(out)
	return strings.Join(out, "\n")
}

// plainComment returns a comment without its delimiters.
func plainComment(text string) string {
	if line, ok := strings.CutPrefix(text, "//"); ok {
		return strings.TrimSpace(line)
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "/*"), "*/")
	var out []string
	for line := range strings.Lines(text) {
		out = append(out, strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "*")))
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}
