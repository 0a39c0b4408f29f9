package core

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// String prints the program: predicates with their types, strata with their
// rules, and checks. A variable of an atom prints without its type. Equal
// programs print equal text.
func (p *Program) String() string {
	var b strings.Builder
	for _, pred := range p.Preds {
		fmt.Fprintf(&b, "pred %s\n", pred.signature())
	}
	for i, s := range p.Strata {
		fmt.Fprintf(&b, "\nstratum %d", i+1)
		if s.Recursive {
			b.WriteString(" recursive")
		}
		if s.Iterates() {
			b.WriteString(" iterated")
		}
		if s.Unbounded.IsValid() {
			b.WriteString(" unbounded")
		}
		for j, pred := range s.Preds {
			if j > 0 {
				b.WriteString(",")
			}
			b.WriteString(" " + pred.Name)
		}
		b.WriteString("\n")
		for _, r := range s.Rules {
			fmt.Fprintf(&b, "    %s\n", r)
		}
	}
	if len(p.Checks) > 0 {
		b.WriteString("\nchecks\n")
		for _, c := range p.Checks {
			fmt.Fprintf(&b, "    %s\n", c)
		}
	}
	return b.String()
}

// signature is the predicate's declaration with its properties.
func (p *Pred) signature() string {
	args := make([]string, len(p.Args))
	for i, a := range p.Args {
		args[i] = fmt.Sprintf("%s: %s", a.Name, a.Type)
		if a.Family != nil {
			args[i] += " of " + a.Family.Name
		}
	}
	var b strings.Builder
	b.WriteString(AtomText(p.Name, p.Keys, args))
	for _, property := range []struct {
		name string
		is   bool
	}{
		{"derived", p.Derived}, {"query", p.Query}, {"hidden", p.Hidden}, {"exported", p.Exported},
	} {
		if property.is {
			b.WriteString(" " + property.name)
		}
	}
	if n := p.Numbers; n != nil {
		fmt.Fprintf(&b, " numbers %d step %d", n.Start, n.Step)
	}
	if p.KeepsOne() {
		b.WriteString(" keeps " + p.Keeps.String())
	}
	if p.Iterates != nil {
		b.WriteString(" " + p.Iterates.String())
	}
	if p.Source != "" {
		b.WriteString(" facts of " + p.Source)
	}
	if len(p.OrderBy) > 0 {
		b.WriteString(" order by")
		for i, k := range p.OrderBy {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(" " + p.Args[k.Arg].Name)
			if k.Desc {
				b.WriteString(" desc")
			}
		}
	}
	if p.Limit >= 0 {
		fmt.Fprintf(&b, " limit %d", p.Limit)
	}
	if f := p.File; f != nil {
		mode := "import"
		if f.Export {
			mode = "export"
		}
		fmt.Fprintf(&b, " %s %q", mode, f.Path)
		if f.Delimiter != "" {
			fmt.Fprintf(&b, " delimiter %q", f.Delimiter)
		}
		if f.Header != nil {
			fmt.Fprintf(&b, " header %t", *f.Header)
		}
		if f.Columns != nil {
			fmt.Fprintf(&b, " columns %q", f.Columns)
		}
		if f.Offset {
			b.WriteString(" offset")
		}
	}
	return b.String()
}

// AtomText writes p(x, y), f[x] = y or f(x; y, z), by the number of keys.
func AtomText(name string, keys int, args []string) string {
	key, values := strings.Join(args[:keys], ", "), args[keys:]
	switch len(values) {
	case 0:
		return fmt.Sprintf("%s(%s)", name, key)
	case 1:
		return fmt.Sprintf("%s[%s] = %s", name, key, values[0])
	}
	return fmt.Sprintf("%s(%s; %s)", name, key, strings.Join(values, ", "))
}

// String prints the atom as LogiQL.
func (a *Atom) String() string {
	args := make([]string, len(a.Args))
	for i, t := range a.Args {
		args[i] = TermString(t)
	}
	return AtomText(a.Pred.Name, a.Pred.Keys, args)
}

// TermString prints an argument of an atom.
func TermString(t Term) string {
	switch t := t.(type) {
	case *Var:
		return t.Name
	case Const:
		return scalar.Literal(t.Value)
	case New:
		return "new"
	}
	return fmt.Sprintf("<%T>", t)
}

// String prints the rule as LogiQL.
func (r *Rule) String() string {
	var b strings.Builder
	b.WriteString(r.Head.String())
	if len(r.Body) == 0 && len(r.Agg) == 0 && r.Seq == nil {
		return b.String() + "."
	}
	b.WriteString(" <- ")
	if len(r.Agg) > 0 {
		b.WriteString("agg<<")
		for i, a := range r.Agg {
			if i > 0 {
				b.WriteString(", ")
			}
			in := ""
			if a.In != nil {
				in = a.In.Name
			}
			if a.Fn == Quantile {
				in += ", " + scalar.Literal(a.At)
			}
			if a.Fn == StringJoin {
				in += ", " + scalar.Quote(a.Separator)
			}
			if len(a.By) > 0 {
				in += ", order " + strings.Join(list.Map(a.By, SeqKey.String), ", ")
			}
			fmt.Fprintf(&b, "%s: %s = %s(%s)", a.Out.Name, a.Out.Type, a.Fn, in)
		}
		b.WriteString(">> ")
	}
	if s := r.Seq; s != nil {
		fmt.Fprintf(&b, "seq<<%s", s.Index.Name)
		if len(s.Group) > 0 {
			b.WriteString(" group " + varNames(s.Group))
		}
		b.WriteString(" order " + strings.Join(list.Map(s.Order, SeqKey.String), ", ") + ">> ")
	}
	return b.String() + bodyText(r.Body) + "."
}

// String prints `x` or `x desc`.
func (k SeqKey) String() string {
	if k.Desc {
		return k.Var.Name + " desc"
	}
	return k.Var.Name
}

func varNames(vars []*Var) string {
	names := make([]string, len(vars))
	for i, v := range vars {
		names[i] = v.Name
	}
	return strings.Join(names, ", ")
}

// String prints the body that violates the constraint.
func (c *Check) String() string {
	return fmt.Sprintf("violated(%s) <- %s.", varNames(c.Vars), bodyText(c.Body))
}

func bodyText(body []Literal) string {
	parts := make([]string, len(body))
	for i, l := range body {
		parts[i] = LiteralString(l)
	}
	return strings.Join(parts, ", ")
}

// LiteralString prints a conjunct of a body.
func LiteralString(l Literal) string {
	switch l := l.(type) {
	case *Atom:
		return l.String()
	case *Let:
		return fmt.Sprintf("%s: %s = %s", l.Var.Name, l.Var.Type, ExprString(l.Expr))
	case *Test:
		return ExprString(l.Expr)
	case *Not:
		if len(l.Body) == 1 {
			if a, ok := l.Body[0].(*Atom); ok {
				return "!" + a.String()
			}
		}
		return "!(" + bodyText(l.Body) + ")"
	}
	return fmt.Sprintf("<%T>", l)
}

// operators are the functions that print infix. A higher level binds tighter.
var operators = map[string]struct {
	symbol string
	level  int
}{
	"eq": {"=", 1}, "ne": {"!=", 1}, "lt": {"<", 1}, "le": {"<=", 1}, "gt": {">", 1},
	"ge":  {">=", 1},
	"add": {"+", 2}, "sub": {"-", 2}, "mul": {"*", 3}, "div": {"/", 3},
}

// ExprString prints an expression with the fewest parentheses. A conversion
// prints its type.
func ExprString(e Expr) string { return exprText(e, 0) }

func exprText(e Expr, level int) string {
	switch e := e.(type) {
	case VarExpr:
		return e.Var.Name
	case Const:
		return scalar.Literal(e.Value)
	case *Call:
		name := e.Func.Name
		if name == "convert" {
			name += ":" + e.Result.String()
		}
		return CallText(name, e.Args, level, exprText)
	}
	return fmt.Sprintf("<%T>", e)
}

// CallText prints an application, infix if the function is an operator, in a
// place that binds as tightly as level. Text prints an argument in such a
// place.
func CallText[E any](name string, args []E, level int, text func(e E, level int) string) string {
	if op, ok := operators[name]; ok && len(args) == 2 {
		out := text(args[0], op.level) + " " + op.symbol + " " + text(args[1], op.level+1)
		if op.level < level || op.level == 1 && level == 1 {
			return "(" + out + ")"
		}
		return out
	}
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = text(a, 0)
	}
	return name + "[" + strings.Join(texts, ", ") + "]"
}
