package starprog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Text returns the program in LogiQL.
func (p *Program) Text() string {
	var b strings.Builder
	for _, s := range p.Stored {
		fmt.Fprintf(&b, "%s\n", declaration(s))
		for _, f := range s.Facts {
			fmt.Fprintf(&b, "%s.\n", atomText(s, constants(f)))
		}
	}
	var declared []*Pred
	for _, r := range p.Rules {
		for _, h := range r.Heads {
			if h.Pred.Declared && !slices.Contains(declared, h.Pred) {
				declared = append(declared, h.Pred)
				fmt.Fprintf(&b, "%s\n", declaration(h.Pred))
			}
		}
		fmt.Fprintf(&b, "%s\n", ruleText(r))
	}
	for _, c := range p.Constraints {
		fmt.Fprintf(&b, "%s -> %s.\n", bodyText(c.Body), bodyText(c.Head))
	}
	for _, o := range p.Outputs {
		if len(o.OrderBy) > 0 {
			var keys []string
			for _, k := range o.OrderBy {
				key := o.Args[k.Arg].Name
				if k.Desc {
					key += " desc"
				}
				keys = append(keys, key)
			}
			fmt.Fprintf(&b, "lang:output:orderBy[`%s] = \"%s\".\n", o.Name,
				strings.Join(keys, ", "))
		}
		if o.Limit > 0 {
			fmt.Fprintf(&b, "lang:output:limit[`%s] = %d.\n", o.Name, o.Limit)
		}
	}
	return b.String()
}

func constants(tuple []scalar.Value) []*Expr {
	return list.Map(tuple, constant)
}

// declaration is the clause that gives a predicate its types. Arguments of
// stored predicates are named after the columns that feed them.
func declaration(p *Pred) string {
	names := make([]*Expr, len(p.Args))
	types := make([]string, len(p.Args))
	for i, a := range p.Args {
		names[i] = &Expr{Kind: Variable, Name: a.Name}
		types[i] = fmt.Sprintf("%s(%s)", a.Type, a.Name)
	}
	return atomText(p, names) + " -> " + strings.Join(types, ", ") + "."
}

func ruleText(r Rule) string {
	var heads, specs []string
	for _, h := range r.Heads {
		heads = append(heads, atomText(h.Pred, h.Args))
	}
	for _, a := range r.Aggs {
		in := a.In
		if a.At != "" {
			in += ", " + a.At
		}
		specs = append(specs, fmt.Sprintf("%s = %s(%s)", a.Out, a.Fn, in))
	}
	out := strings.Join(heads, ", ") + " <- "
	switch {
	case r.Seq:
		out += "seq<<>> "
	case len(specs) > 0:
		out += "agg<<" + strings.Join(specs, ", ") + ">> "
	}
	return out + bodyText(r.Body) + "."
}

func bodyText(body []Literal) string {
	parts := list.Map(body, literalText)
	return strings.Join(parts, ", ")
}

func literalText(l Literal) string {
	switch l.Kind {
	case Atom:
		return atomText(l.Pred, l.Args)
	case Compare:
		if l.Op == "like" {
			return fmt.Sprintf("string:like(%s, %s)", exprText(l.Left), exprText(l.Right))
		}
		return exprText(l.Left) + " " + l.Op + " " + exprText(l.Right)
	case Not:
		if len(l.Body) == 1 && l.Body[0].Kind == Atom {
			return "!" + bodyText(l.Body)
		}
		return "!(" + bodyText(l.Body) + ")"
	}
	return "(" + strings.Join(list.Map(l.Body, literalText), " ; ") + ")"
}

// atomText writes a functional predicate of one value as f[k] = v, of several
// as f(k; v, w).
func atomText(p *Pred, args []*Expr) string {
	switch values := len(p.Args) - p.Keys; values {
	case 0:
		return p.Name + "(" + termsText(args) + ")"
	case 1:
		return p.Name + "[" + termsText(args[:p.Keys]) + "] = " + exprText(args[p.Keys])
	}
	return p.Name + "(" + termsText(args[:p.Keys]) + "; " + termsText(args[p.Keys:]) + ")"
}

func termsText(args []*Expr) string {
	return strings.Join(list.Map(args, exprText), ", ")
}

func exprText(e *Expr) string {
	switch e.Kind {
	case Variable:
		return e.Name
	case Constant:
		if e.Type.IsWide() { // a literal of few digits is a narrower decimal
			return scalar.Format(e.Value)
		}
		return scalar.Literal(e.Value)
	case Wildcard:
		return "_"
	case Apply:
		return e.Pred.Name + "[" + termsText(e.Args) + "]"
	}
	if f := functions[e.Name]; f.infix != "" {
		return operandText(e.Args[0]) + " " + f.infix + " " + operandText(e.Args[1])
	}
	if e.Name == "negate" {
		return "-" + operandText(e.Args[0])
	}
	return functions[e.Name].name + "[" + termsText(e.Args) + "]"
}

// operandText sets parentheses round what is no single term.
func operandText(e *Expr) string {
	text := exprText(e)
	if e.Kind == Call && (functions[e.Name].infix != "" || e.Name == "negate") ||
		e.Kind == Constant && strings.HasPrefix(text, "-") {
		return "(" + text + ")"
	}
	return text
}
