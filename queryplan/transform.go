package queryplan

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// Operators and expressions are immutable by convention: passes build new ones
// and may share subtrees.

// WithInputs returns n over other inputs, as many as it has; n itself where
// they are the same. It does not keep the list.
func WithInputs(n Node, inputs []Node) Node {
	var room [2]Node
	if slices.Equal(AppendInputs(room[:0], n), inputs) {
		return n
	}
	switch n := n.(type) {
	case *Filter:
		return &Filter{inputs[0], n.Cond}
	case *Map:
		return &Map{inputs[0], n.Exprs}
	case *Project:
		return &Project{inputs[0], n.Cols}
	case *Dedup:
		return &Dedup{Input: inputs[0]}
	case *Join:
		return &Join{Kind: n.Kind, Left: inputs[0], Right: inputs[1], Unique: n.Unique}
	case *Aggregate:
		return &Aggregate{inputs[0], n.By, n.Aggs}
	case *Union:
		return &Union{slices.Clone(inputs)}
	case *MultiJoin:
		return &MultiJoin{slices.Clone(inputs), n.Order, n.Uneven}
	case *Seq:
		return &Seq{inputs[0], n.Group, n.Order, n.Index}
	case *TopK:
		return &TopK{inputs[0], n.Group, n.By, n.Limit}
	}
	panic(fmt.Sprintf("queryplan: %T has no inputs to replace", n))
}

// Rewrite applies f to every operator of a tree, inputs first, and returns the
// new tree.
func Rewrite(n Node, f func(Node) Node) Node {
	var room [2]Node
	if in := AppendInputs(room[:0], n); len(in) > 0 {
		for i, x := range in {
			in[i] = Rewrite(x, f)
		}
		n = WithInputs(n, in)
	}
	return f(n)
}

// Walk calls f for every operator of a tree, an operator before its inputs.
// Missing operators are passed over.
func Walk(n Node, f func(Node)) {
	if n == nil {
		return
	}
	f(n)
	var room [2]Node
	for _, in := range AppendInputs(room[:0], n) {
		Walk(in, f)
	}
}

// Scans returns the scans of a tree from left to right.
func Scans(n Node) []*Scan {
	var out []*Scan
	Walk(n, func(n Node) {
		if s, ok := n.(*Scan); ok {
			out = append(out, s)
		}
	})
	return out
}

// RewriteExpr applies f to every part of an expression, arguments first.
func RewriteExpr(e Expr, f func(Expr) Expr) Expr {
	if c, ok := e.(*Call); ok {
		args := c.Args
		for i, a := range c.Args {
			x := RewriteExpr(a, f)
			if x == a {
				continue
			}
			if e == Expr(c) {
				args = slices.Clone(args)
				e = &Call{c.Func, args, c.Result}
			}
			args[i] = x
		}
	}
	return f(e)
}

// WalkExpr calls f for every part of an expression, a call before its
// arguments.
func WalkExpr(e Expr, f func(Expr)) {
	f(e)
	if c, ok := e.(*Call); ok {
		for _, a := range c.Args {
			WalkExpr(a, f)
		}
	}
}

// ExprColumns returns the names of the columns that expressions use, each once,
// in order of appearance.
func ExprColumns(exprs ...Expr) []string {
	var out []string
	for _, e := range exprs {
		WalkExpr(e, func(e Expr) {
			if c, ok := e.(*ColRef); ok && !slices.Contains(out, c.Col.Name) {
				out = append(out, c.Col.Name)
			}
		})
	}
	return out
}

// Substitute replaces columns of an expression by other expressions. Columns
// that are not in with stay.
func Substitute(e Expr, with map[string]Expr) Expr {
	return RewriteExpr(e, func(e Expr) Expr {
		if c, ok := e.(*ColRef); ok {
			if x, ok := with[c.Col.Name]; ok {
				return x
			}
		}
		return e
	})
}

// Conjuncts splits a condition at its ands. A condition holds where all of its
// conjuncts have a value and are true.
func Conjuncts(e Expr) []Expr {
	if c, ok := e.(*Call); ok && c.Func.Name == "and" {
		var out []Expr
		for _, a := range c.Args {
			out = append(out, Conjuncts(a)...)
		}
		return out
	}
	return []Expr{e}
}

// And joins conditions, at least one, into one that holds where all do.
func And(conds []Expr) Expr {
	e := conds[0]
	for _, c := range conds[1:] {
		e = &Call{scalar.Lookup("and"), []Expr{e, c}, scalar.BooleanType}
	}
	return e
}

// Clone returns a copy of a plan that shares no variable, block or command with
// it. Operators are copied where they hold a scan; expressions are shared.
func Clone(p *Plan) *Plan {
	out := &Plan{}
	vars := map[*Var]*Var{}
	for _, v := range p.Vars {
		c := *v
		c.Cols, c.Stored = slices.Clone(v.Cols), slices.Clone(v.Stored)
		c.OrderBy = slices.Clone(v.OrderBy)
		vars[v] = &c
		out.Vars = append(out.Vars, &c)
	}
	node := func(n Node) Node { return RebindVars(n, vars) }
	commands := func(from, to *Block) error {
		for _, cmd := range from.Cmds {
			switch cmd := cmd.(type) {
			case *Insert:
				to.Cmds = append(to.Cmds, &Insert{vars[cmd.Var], node(cmd.Node), cmd.Span})
			case *Assign:
				to.Cmds = append(to.Cmds, &Assign{vars[cmd.Var], node(cmd.Node)})
			case *Merge:
				to.Cmds = append(to.Cmds, &Merge{vars[cmd.Var]})
			case *Clear:
				to.Cmds = append(to.Cmds, &Clear{vars[cmd.Var]})
			case *Check:
				to.Cmds = append(to.Cmds, &Check{node(cmd.Node), cmd.Text, cmd.Result, cmd.Span})
			case *CheckKey:
				to.Cmds = append(to.Cmds, &CheckKey{vars[cmd.Var], cmd.Span})
			}
		}
		return nil
	}
	out.Blocks, _ = cfg.Map(p.Blocks, commands, func(v *Var) *Var { return vars[v] })
	return out
}

// RebindVars returns a tree whose scans read the variables that vars maps
// theirs to; those that it does not map stay.
func RebindVars(n Node, vars map[*Var]*Var) Node {
	return Rewrite(n, func(n Node) Node {
		s, ok := n.(*Scan)
		if !ok || vars[s.Var] == nil || vars[s.Var] == s.Var {
			return n
		}
		return &Scan{vars[s.Var], s.Version, s.Names, s.Position}
	})
}

// CommandVar returns the variable that a command fills, merges, clears or
// checks, or nil.
func CommandVar(c Command) *Var {
	switch c := c.(type) {
	case *Insert:
		return c.Var
	case *Assign:
		return c.Var
	case *Merge:
		return c.Var
	case *Clear:
		return c.Var
	case *CheckKey:
		return c.Var
	}
	return nil
}

// CommandSpan returns the place of the rule or constraint of a command, if it
// is known. A command that fills a temporary variable has the place of the
// variable.
func CommandSpan(c Command) source.Span {
	switch c := c.(type) {
	case *Insert:
		return c.Span
	case *Assign:
		return c.Var.Span
	case *Check:
		return c.Span
	case *CheckKey:
		return c.Span
	}
	return source.Span{}
}

// WithNode returns a command that evaluates another operator tree. The command
// must be an Insert, Assign or Check.
func WithNode(c Command, n Node) Command {
	switch c := c.(type) {
	case *Insert:
		return &Insert{c.Var, n, c.Span}
	case *Assign:
		return &Assign{c.Var, n}
	case *Check:
		return &Check{n, c.Text, c.Result, c.Span}
	}
	panic(fmt.Sprintf("queryplan: %T evaluates no operators", c))
}
