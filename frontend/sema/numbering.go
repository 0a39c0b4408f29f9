package sema

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
)

// numberingExample is the form of a sequence that states its order.
const numberingExample = "seq<<i = number(order(desc(x), y), partition(z))>>"

// legacyText is what LogicBlox 3 accepts in seq<<>> and ignores: r=(k1,k2), or
// a name.
var legacyText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(\w+\s*(=\s*\(.*\)\s*)?)?$`)
})

func isLegacyText(text string) bool { return legacyText().MatchString(text) }

// numbering lowers a sequence that states its order, as numberingExample does.
// The number counts the bindings of the body. Ties are broken by the variables
// of the head that the order does not determine, so that the result is
// determined.
func (lo *lowering) numbering(k *conj) {
	p2p := lo.cl.Node.P2P
	spec := p2p.Specs[0]
	switch {
	case len(p2p.Specs) > 1:
		d := lo.failSequence(diag.SequenceSpecifier, p2p.Specs[1].Span, "seq<<>> has one specifier")
		d.Help("write one rule for each order")
		return
	case spec.Fn.Text != "number":
		d := lo.failSequence(diag.SequenceSpecifier, spec.Fn.Span, "seq<<>> has no function %s",
			spec.Fn.Text)
		d.Help("write " + numberingExample)
		return
	}
	s := &normal.Sequence{Span: p2p.Span}
	if !lo.sequenceOf(spec, s, k) {
		return
	}
	if s.Index = lo.output(spec, "numbering", k); s.Index == nil || !lo.sequenceHead(k) {
		return
	}
	inHead := variables(lo.u.Heads[0])
	if !has(inHead, s.Index) {
		d := lo.failSequence(diag.SequenceHead, lo.cl.heads[0].Pos(),
			"the head does not use %s, the number", spec.Out.Text)
		d.Label(spec.Span, "numbered here")
		d.Help("make it a key or the value, as in rank[x] = %s", spec.Out.Text)
		return
	}
	known := determined(s, k)
	for _, r := range inHead {
		if r.Var != s.Index && !known[r.Var] {
			orderBy(s, normal.OrderKey{Var: r.Var, Tie: true})
		}
	}
	lo.u.Seq = s
}

// determined returns the variables that have one value for each value of the
// order and the partition, by the functions of the body.
func determined(s *normal.Sequence, k *conj) map[*normal.Var]bool {
	known := map[*normal.Var]bool{}
	for _, v := range s.Group {
		known[v] = true
	}
	for _, k := range s.Order {
		known[k.Var] = true
	}
	isUnknown := func(t normal.Term) bool {
		r, ok := t.(normal.Ref)
		return ok && !known[r.Var]
	}
	for more := true; more; {
		more = false
		for _, l := range k.literals {
			a, ok := l.(*normal.Atom)
			if !ok || len(a.Args) != a.Pred.Arity ||
				slices.ContainsFunc(a.Args[:a.Pred.Keys], isUnknown) {
				continue
			}
			for _, t := range a.Args[a.Pred.Keys:] {
				if isUnknown(t) {
					known[t.(normal.Ref).Var], more = true, true
				}
			}
		}
	}
	return known
}

// sequenceOf reads the arguments of number.
func (lo *lowering) sequenceOf(spec *ast.Spec, s *normal.Sequence, k *conj) bool {
	seen := map[string]source.Span{}
	for _, arg := range spec.Args {
		a, ok := ast.Unparen(arg).(*ast.Apply)
		if !ok || a.Square || a.Name.Text != "order" && a.Name.Text != "partition" {
			d := lo.failSequence(diag.SequenceSpecifier, arg.Pos(),
				"number takes order(...) and partition(...)")
			d.Help("write " + numberingExample)
			return false
		}
		if first, again := seen[a.Name.Text]; again {
			d := lo.failSequence(diag.SequenceSpecifier, a.Span, "%s is given twice", a.Name.Text)
			d.Label(first, "first here")
			d.Help("list all variables in one %s(...)", a.Name.Text)
			return false
		}
		seen[a.Name.Text] = a.Span
		if a.Name.Text == "order" {
			keys, ok := lo.orderKeys(a, k)
			if !ok {
				return false
			}
			s.Order = keys
			continue
		}
		for _, x := range a.Args {
			v := lo.keyVariable(x, "partition", k)
			if v == nil {
				return false
			}
			if !slices.Contains(s.Group, v) {
				s.Group = append(s.Group, v)
			}
		}
	}
	if len(s.Order) == 0 {
		d := lo.failSequence(diag.SequenceSpecifier, spec.Span, "number needs an order")
		d.Help("write " + numberingExample)
		return false
	}
	// Variables of the partition order nothing within it.
	s.Order = slices.DeleteFunc(s.Order, func(k normal.OrderKey) bool {
		return slices.Contains(s.Group, k.Var)
	})
	return true
}

// orderKeys reads order(x, desc(y)).
func (lo *lowering) orderKeys(order *ast.Apply, k *conj) ([]normal.OrderKey, bool) {
	var out []normal.OrderKey
	for _, x := range order.Args {
		desc := false
		if a, ok := ast.Unparen(x).(*ast.Apply); ok && !a.Square && len(a.Args) == 1 &&
			(a.Name.Text == "desc" || a.Name.Text == "asc") {
			x, desc = a.Args[0], a.Name.Text == "desc"
		}
		v := lo.keyVariable(x, "order", k)
		if v == nil {
			return nil, false
		}
		if !slices.ContainsFunc(out, func(k normal.OrderKey) bool { return k.Var == v }) {
			out = append(out, normal.OrderKey{Var: v, Desc: desc})
		}
	}
	return out, true
}

// keyVariable returns the variable of the body that an order or a partition
// names.
func (lo *lowering) keyVariable(x ast.Node, where string, k *conj) *normal.Var {
	v, ok := ast.Unparen(x).(*ast.Var)
	if ok {
		return lo.variable(v, k.scope)
	}
	d := lo.failSequence(diag.SequenceSpecifier, x.Pos(), "%s(...) lists variables of the body",
		where)
	switch x := ast.Unparen(x).(type) {
	case *ast.Unary:
		d.Help("write desc(%s) for the descending order", x.X.Pos().Text())
	case *ast.Wildcard:
		d.Help("name the argument of the body's atom and use its name here")
	case *ast.Apply:
		if !x.Square {
			d.Help("write %s(x, desc(y))", where)
			break
		}
		lo.helpName(d, x, where)
	default:
		lo.helpName(d, x, where)
	}
	return nil
}

func (lo *lowering) helpName(d *diag.Diagnostic, x ast.Node, where string) {
	text := strings.Join(strings.Fields(x.Pos().Text()), " ")
	name := unusedName(lo.cl.Node)
	d.Help("give it a name in the body, as in %[1]s = %[2]s, and write %[3]s(%[1]s)", name, text,
		where)
}
