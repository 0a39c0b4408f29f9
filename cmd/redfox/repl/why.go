package repl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// tuple is an atom without variables.
type tuple struct {
	pred string
	args []ast.Node
}

// readTuple reads p(1, 2), or f[1] = 2.
func readTuple(text string) (t tuple, ok bool) {
	file := parse.File(source.NewFile("<tuple>", strings.TrimRight(text, ". ?")+"."), &diag.List{})
	if len(file.Clauses) != 1 || file.Clauses[0].Right != nil {
		return t, false
	}
	t.pred, t.args, ok = headOf(file.Clauses[0].Left)
	return t, ok && !slices.ContainsFunc(t.args, func(n ast.Node) bool {
		return len(boundVariables(n)) > 0
	})
}

// headOf returns the predicate and the arguments of an atom.
func headOf(n ast.Node) (pred string, args []ast.Node, ok bool) {
	switch n := ast.Unparen(n).(type) {
	case *ast.Apply:
		return n.Name.Text, n.Args, true
	case *ast.Compare:
		if f, isApply := ast.Unparen(n.Operands[0]).(*ast.Apply); isApply && len(n.Operands) == 2 {
			args := append(slices.Clone(f.Args), n.Operands[1])
			return f.Name.Text, args, f.Square && n.Ops[0] == "="
		}
	}
	return "", nil, false
}

// why shows one step by which a tuple comes about: the fact, or a rule with the
// tuples that make its body true. Rules that do not read the predicate itself
// come first.
func (p *Prompt) why(ctx context.Context, text string) error {
	t, ok := readTuple(text)
	if !ok {
		return &promptError{text + " is no tuple", "write an atom with values, as in :why p(1, 2)"}
	}
	q, err := p.predicate(ctx, t.pred)
	if err != nil {
		return err
	}
	held, _, err := p.solve(ctx, strings.TrimRight(text, ". ?"))
	if err != nil {
		return err
	}
	if held.Len("_") == 0 {
		fmt.Fprintln(p.out, "it does not hold")
		return nil
	}
	rules := p.rulesFor(t)
	for _, again := range []bool{false, true} {
		for _, r := range rules {
			if reads(r.Right, t.pred) != again {
				continue
			}
			if done, err := p.because(ctx, r, t); done || err != nil {
				return err
			}
		}
	}
	if !q.Derived {
		fmt.Fprintln(p.out, "a fact")
		return nil
	}
	fmt.Fprintln(p.out, "no rule of the program shows it by itself")
	return nil
}

// rulesFor lists the clauses that have the predicate of a tuple as head.
func (p *Prompt) rulesFor(t tuple) []*ast.Clause {
	sources := slices.Clone(p.Sources)
	for _, past := range p.history {
		sources = append(sources, past.Sources...)
	}
	var out []*ast.Clause
	for _, s := range sources {
		file := parse.File(source.NewFile(s.Name, s.Text), &diag.List{})
		for _, c := range file.Clauses {
			if c.Arrow == ast.Constraint || c.Update != "" {
				continue
			}
			for _, h := range conjuncts(c.Left) {
				if pred, args, ok := headOf(h); ok && pred == t.pred && len(args) == len(t.args) {
					one := *c
					one.Left = h
					out = append(out, &one)
				}
			}
		}
	}
	return out
}

// conjuncts returns the parts of a conjunction.
func conjuncts(n ast.Node) []ast.Node {
	switch n := ast.Unparen(n).(type) {
	case nil:
		return nil
	case *ast.Conj:
		var out []ast.Node
		for _, x := range n.Items {
			out = append(out, conjuncts(x)...)
		}
		return out
	default:
		return []ast.Node{n}
	}
}

// reads reports whether a formula has a predicate.
func reads(n ast.Node, pred string) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		a, ok := n.(*ast.Apply)
		found = found || ok && a.Name.Text == pred
		return !found
	})
	return found
}

// because prints a clause if it derives the tuple, with its body for one
// binding of its variables.
func (p *Prompt) because(ctx context.Context, c *ast.Clause, t tuple) (bool, error) {
	_, args, _ := headOf(c.Left)
	var formula []string
	body := named(c.Right)
	if body != nil {
		formula = append(formula, "("+body.Pos().Text()+")")
	}
	for i, x := range args {
		if c.P2P != nil && i == len(args)-1 {
			break // the aggregate's result
		}
		formula = append(formula, x.Pos().Text()+" = "+t.args[i].Pos().Text())
	}
	if len(formula) == 0 {
		formula = []string{"1 = 1"}
	}
	res, vars, err := p.solve(ctx, strings.Join(formula, ", "))
	if err != nil || res.Len("_") == 0 {
		// A clause whose body has no meaning by itself explains nothing.
		return false, ctx.Err()
	}
	pos := c.Span.Position()
	fmt.Fprintf(p.out, "%s:%d: %s\n", pos.File, pos.Line, oneLine(c.Span.Text()))
	if c.P2P != nil {
		fmt.Fprintf(p.out, "  bindings of its body: %d\n", res.Len("_"))
	}
	shown := 0
	for row := range res.Tuples("_") {
		values := map[string]string{}
		for i, v := range vars {
			values[v] = scalar.Literal(row[i])
		}
		for _, part := range conjuncts(body) {
			fmt.Fprintf(p.out, "  %s\n", oneLine(substituted(part, values)))
		}
		if shown++; c.P2P == nil || shown == maxBindings {
			break
		}
	}
	return true, nil
}

// named returns a formula with a variable for each _ that has a value.
func named(n ast.Node) ast.Node {
	if n == nil {
		return nil
	}
	var spans []source.Span
	ast.Inspect(n, func(n ast.Node) bool {
		if w, ok := n.(*ast.Wildcard); ok {
			spans = append(spans, w.Span)
		}
		_, negated := n.(*ast.Not)
		return !negated
	})
	text := replaced(n.Pos(), spans, func(i int) string { return fmt.Sprintf("_any%d", i+1) })
	file := parse.File(source.NewFile("<body>", "_() <- "+text+"."), &diag.List{})
	if len(file.Clauses) != 1 {
		return n
	}
	return file.Clauses[0].Right
}

// replaced returns the text of a span with other texts for parts of it.
func replaced(span source.Span, parts []source.Span, with func(i int) string) string {
	var out strings.Builder
	at := span.Start
	for i, part := range parts {
		out.WriteString(span.File.Text[at:part.Start])
		out.WriteString(with(i))
		at = part.End
	}
	out.WriteString(span.File.Text[at:span.End])
	return out.String()
}

// maxBindings bounds how many bindings of an aggregate are shown.
const maxBindings = 5

// substituted returns the text of a formula with values for its variables.
func substituted(n ast.Node, values map[string]string) string {
	var spans []source.Span
	var texts []string
	ast.Inspect(n, func(n ast.Node) bool {
		if v, ok := n.(*ast.Var); ok && values[v.Name] != "" {
			spans, texts = append(spans, v.Span), append(texts, values[v.Name])
		}
		return true
	})
	return replaced(n.Pos(), spans, func(i int) string { return texts[i] })
}

// oneLine joins the lines of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
