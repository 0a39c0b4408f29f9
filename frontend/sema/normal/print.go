package normal

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Text prints clauses in normal form, one unit a line, in the order of the
// text. A constraint prints as what violates it. `v := e` is an equality that
// binds v; made-up variables contain a dollar sign.
func Text(clauses []*Clause) string {
	var b strings.Builder
	for _, cl := range clauses {
		for _, u := range cl.Units {
			b.WriteString(u.String() + "\n")
		}
	}
	return b.String()
}

// String prints the unit as LogiQL.
func (u *Unit) String() string {
	heads := make([]string, len(u.Heads))
	for i, h := range u.Heads {
		heads[i] = h.String()
	}
	head := strings.Join(heads, ", ")
	if u.Clause.Checks {
		head = "violated(" + varNames(u.Vars[:u.Shown]) + ")"
	}
	var body []string
	for _, a := range u.Asserts {
		body = append(body, fmt.Sprintf("%s(%s)", a.Type, a.Var.Name))
	}
	if !u.TypesOnly {
		body = append(body, literalTexts(u.Body)...)
	}
	if len(body) == 0 {
		return head + "."
	}
	return head + " <- " + u.specifier() + strings.Join(body, ", ") + "."
}

// specifier prints what stands between the arrow and the body.
func (u *Unit) specifier() string {
	var specs []string
	for _, a := range u.Aggs {
		in := ""
		if a.In != nil {
			in = a.In.Name
		}
		if a.Fn == core.Quantile {
			in += ", " + scalar.Literal(a.At)
		}
		if a.Fn == core.StringJoin {
			in += ", " + scalar.Quote(a.Separator)
		}
		if len(a.By) > 0 {
			in += ", order " + orderText(a.By)
		}
		specs = append(specs, fmt.Sprintf("%s = %s(%s)", a.Out.Name, a.Fn, in))
	}
	switch s := u.Seq; {
	case len(specs) > 0:
		return "agg<<" + strings.Join(specs, ", ") + ">> "
	case s == nil:
		return ""
	case len(s.Group) > 0:
		return fmt.Sprintf("seq<<%s group %s order %s>> ", s.Index.Name, varNames(s.Group),
			orderText(s.Order))
	default:
		return fmt.Sprintf("seq<<%s order %s>> ", s.Index.Name, orderText(s.Order))
	}
}

func orderText(keys []OrderKey) string {
	return strings.Join(list.Map(keys, func(k OrderKey) string {
		if k.Desc {
			return k.Var.Name + " desc"
		}
		return k.Var.Name
	}), ", ")
}

func varNames(vars []*Var) string {
	names := make([]string, len(vars))
	for i, v := range vars {
		names[i] = v.Name
	}
	return strings.Join(names, ", ")
}

func literalTexts(body []Literal) []string {
	out := make([]string, len(body))
	for i, l := range body {
		switch l := l.(type) {
		case *Atom:
			out[i] = l.String()
		case *Equation:
			out[i] = exprText(l.X, 1) + " = " + exprText(l.Y, 1)
		case *Binding:
			out[i] = l.Var.Name + " := " + exprText(l.Expr, 0)
		case *Test:
			out[i] = exprText(l.Expr, 0)
		case *Negation:
			inner := strings.Join(literalTexts(l.Body), ", ")
			if len(l.Body) == 1 && isAtom(l.Body[0]) {
				out[i] = "!" + inner
			} else {
				out[i] = "!(" + inner + ")"
			}
		default:
			out[i] = fmt.Sprintf("<%T>", l)
		}
	}
	return out
}

func isAtom(l Literal) bool {
	_, ok := l.(*Atom)
	return ok
}

// String prints the atom as LogiQL.
func (a *Atom) String() string {
	args := make([]string, len(a.Args))
	for i, t := range a.Args {
		args[i] = exprText(t, 0)
	}
	return core.AtomText(a.Pred.Name, a.Pred.Keys, args)
}

func exprText(e Expr, level int) string {
	switch e := e.(type) {
	case Ref:
		return e.Var.Name
	case *Const:
		return scalar.Literal(e.Value)
	case *Call:
		return core.CallText(e.Name, e.Args, level, exprText)
	}
	return fmt.Sprintf("<%T>", e)
}
