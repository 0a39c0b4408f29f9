package provenance

import (
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// atom prints a row as LogiQL.
func (x *Explainer) atom(pred *core.Pred, row int) string {
	var args []string
	for i, v := range x.values(pred, row) {
		args = append(args, x.text(v, pred.Args[i].Family, 0))
	}
	return core.AtomText(pred.Name, pred.Keys, args)
}

// maxNesting bounds the depth of terms.
const maxNesting = 20

// text prints a value. The number of an entity prints as the term that made it,
// or as the key of a refmode.
func (x *Explainer) text(v scalar.Value, f *core.Family, depth int) string {
	if f == nil {
		return scalar.KeyLiteral(v)
	}
	if depth == maxNesting {
		return "…"
	}
	for _, maker := range f.Makers {
		t := x.tables[maker]
		if t == nil {
			continue
		}
		words, _ := t.want(nil, maker.Keys, v)
		out := ""
		if !t.each(words, t.rows, func(row int) bool {
			var keys []string
			for i, key := range x.values(maker, row)[:maker.Keys] {
				keys = append(keys, x.text(key, maker.Args[i].Family, depth+1))
			}
			if out = strings.Join(keys, ", "); !maker.Makes.Refmode {
				out = maker.Makes.Name + "[" + out + "]"
			}
			return true
		}) {
			continue
		}
		return out
	}
	return "an entity of " + f.Name
}

// condition prints a literal other than an atom, with values for variables. It
// is "" for one that only names a value.
func (x *Explainer) condition(l core.Literal, b binding) string {
	if let, ok := l.(*core.Let); ok {
		if made(let.Var.Name) {
			return ""
		}
		return nameOf(let.Var, b).Name + " = " + core.ExprString(exprShown(let.Expr, b))
	}
	return core.LiteralString(x.shown(l, b))
}

// made reports whether the compiler has made a variable's name.
func made(name string) bool { return strings.Contains(name, "$") }

// shown returns a literal with names for variables that print as their values,
// or as _ without one.
func (x *Explainer) shown(l core.Literal, b binding) core.Literal {
	switch l := l.(type) {
	case *core.Atom:
		a := &core.Atom{Span: l.Span, Pred: l.Pred}
		for i, arg := range l.Args {
			v, ok := b.of(arg)
			switch w, isVar := arg.(*core.Var); {
			case ok:
				arg = &core.Var{Name: x.text(v, l.Pred.Args[i].Family, 0)}
			case isVar && made(w.Name):
				arg = &core.Var{Name: "_"}
			}
			a.Args = append(a.Args, arg)
		}
		return a
	case *core.Let:
		return &core.Let{Span: l.Span, Var: nameOf(l.Var, b), Expr: exprShown(l.Expr, b)}
	case *core.Test:
		return &core.Test{Span: l.Span, Expr: exprShown(l.Expr, b)}
	case *core.Not:
		n := &core.Not{Span: l.Span}
		for _, m := range l.Body {
			n.Body = append(n.Body, x.shown(m, b))
		}
		return n
	}
	return l
}

// nameOf returns a variable that prints as the value of another one.
func nameOf(v *core.Var, b binding) *core.Var {
	if value, ok := b[v]; ok && !made(v.Name) {
		return &core.Var{Name: scalar.KeyLiteral(value)}
	}
	return v
}

// exprShown returns an expression with values for its variables.
func exprShown(e core.Expr, b binding) core.Expr {
	switch e := e.(type) {
	case core.VarExpr:
		if v, ok := b[e.Var]; ok {
			return core.VarExpr{Var: &core.Var{Name: scalar.KeyLiteral(v), Type: v.Type}}
		}
	case core.Const:
		return core.VarExpr{Var: &core.Var{Name: scalar.KeyLiteral(e.Value), Type: e.Value.Type}}
	case *core.Call:
		c := *e
		c.Args = nil
		for _, a := range e.Args {
			c.Args = append(c.Args, exprShown(a, b))
		}
		return &c
	}
	return e
}

// spanOf returns the place of a literal.
func spanOf(l core.Literal) source.Span {
	switch l := l.(type) {
	case *core.Atom:
		return l.Span
	case *core.Let:
		return l.Span
	case *core.Test:
		return l.Span
	case *core.Not:
		return l.Span
	}
	return source.Span{}
}
