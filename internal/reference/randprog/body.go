package randprog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
)

type variable struct {
	name string
	t    typ
}

// body is the body of a rule under construction.
type body struct {
	g         *generator
	conjuncts []string
	vars      []variable // bound by a positive atom
	named     int
	// recursive is set in a recursive rule. The ends of a range in a negation
	// cannot come from the recursion.
	recursive bool
}

func (b *body) fresh(t typ) string {
	b.named++
	name := fmt.Sprintf("v%d", b.named)
	b.vars = append(b.vars, variable{name, t})
	return name
}

// bound returns a variable of the type, if there is one.
func (b *body) bound(t typ) (string, bool) {
	var of []string
	for _, v := range b.vars {
		if v.t == t {
			of = append(of, v.name)
		}
	}
	if len(of) == 0 {
		return "", false
	}
	return pick(b.g, of), true
}

// startBody draws a body without tests for the rule that a recursion starts
// from.
func (g *generator) startBody(head []typ) *body {
	b := &body{g: g}
	b.positive(pick(g, g.preds))
	b.provideAll(head)
	return b
}

// newBody draws a body for a head of the given types. Its atoms are of complete
// predicates and, if there is a recursive group, one or two of that.
func (g *generator) newBody(group []*pred, head []typ) *body {
	b := &body{g: g, recursive: len(group) > 0}
	if len(group) > 0 {
		b.positive(pick(g, group))
		if g.chance(35) {
			b.positive(pick(g, group))
		}
	}
	if g.chance(30) {
		b.row()
	}
	for range 1 + g.IntN(2) {
		if len(group) == 0 && len(b.conjuncts) < 2 || g.chance(60) || len(b.conjuncts) == 0 {
			b.positive(pick(g, g.preds))
		}
	}
	if g.chance(12) {
		b.generated()
	}
	b.provideAll(head)
	b.tests()
	if g.chance(15) {
		b.alternatives()
	}
	if g.chance(30) {
		b.negation()
	}
	g.Shuffle(len(b.conjuncts), func(i, j int) {
		b.conjuncts[i], b.conjuncts[j] = b.conjuncts[j], b.conjuncts[i]
	})
	return b
}

// newConjunction draws a body without disjunction, as aggregates take it.
func (g *generator) newConjunction() *body {
	b := &body{g: g}
	if g.chance(30) {
		b.row()
	}
	for len(b.conjuncts) < 1 || len(b.conjuncts) < 2 && g.chance(50) {
		b.positive(pick(g, g.preds))
	}
	if g.chance(12) {
		b.generated()
	}
	b.tests()
	if g.chance(25) {
		b.negation()
	}
	return b
}

func (b *body) text() string { return strings.Join(b.conjuncts, ", ") }

// provideAll binds, mostly, a variable of each type that the head needs.
func (b *body) provideAll(head []typ) {
	for _, t := range head {
		if _, ok := b.bound(t); !ok && len(b.conjuncts) < 4 && b.g.chance(80) {
			b.provide(t)
		}
	}
}

// provide adds an atom of a predicate with an argument of the type, if there is
// one.
func (b *body) provide(t typ) {
	of := list.Filter(b.g.preds, func(p *pred) bool { return slices.Contains(p.args, t) })
	if len(of) > 0 {
		b.positive(pick(b.g, of))
	}
}

// positive adds an atom. Its arguments are variables, new or shared, seldom
// constants and wildcards.
func (b *body) positive(p *pred) {
	args := make([]string, len(p.args))
	for i, t := range p.args {
		shared, ok := b.bound(t)
		switch n := b.g.IntN(100); {
		case n < 4:
			_, args[i] = b.g.constant(t)
		case n < 12:
			args[i] = "_"
		case ok && n < 55:
			args[i] = shared
		default:
			args[i] = b.fresh(t)
		}
	}
	b.conjuncts = append(b.conjuncts, p.atom(args))
}

// tests adds up to two comparisons.
func (b *body) tests() {
	for range 2 {
		if len(b.vars) > 0 && b.g.chance(18) {
			b.conjuncts = append(b.conjuncts, b.test())
		}
	}
}

// test compares a variable with a variable, a constant, or an expression.
func (b *body) test() string {
	g := b.g
	v := pick(g, b.vars)
	if v.t == text && g.chance(30) {
		return fmt.Sprintf(pick(g, []string{
			`string:like(%s, "a%%")`, `string:like(%s, "%%b")`, `string:like(%s, "_")`,
			`string:like(%s, "%%é%%")`, `string:like(%s, "a_")`, `string:like(%s, "\\%%")`,
			`string:matches(%s, "^a")`, `string:matches(%s, "é|b$")`,
			`string:matches(%s, "(?i)A.")`, `string:matches(%s, "^\\d*$")`,
		}), v.name)
	}
	op := pick(g, []string{"=", "!=", "!=", "<", "<=", "<=", ">", ">=", ">="})
	if v.t == text && g.chance(15) {
		// Only some texts denote a number.
		return fmt.Sprintf("string:decimal128:convert[%s] %s %s", v.name, op, b.term(wide))
	}
	switch n := g.IntN(10); {
	case n == 0 && strings.HasSuffix(op, "="):
		return b.member(v)
	case n < 4:
		_, literal := g.constant(v.t)
		return fmt.Sprintf("%s %s %s", v.name, op, literal)
	case n < 7 && b.another(v) != "":
		other := b.another(v)
		return fmt.Sprintf("%s %s %s", v.name, op, other)
	case v.t == integer && n < 8:
		return fmt.Sprintf("0 <= %s < %d", v.name, 2+g.IntN(5))
	}
	return fmt.Sprintf("%s %s %s", v.name, op, b.expression(v.t, false))
}

// member tests a variable against a set of constants.
func (b *body) member(v variable) string {
	var items []string
	for range 1 + b.g.IntN(3) {
		_, literal := b.g.constant(v.t)
		items = append(items, literal)
	}
	if b.g.chance(25) {
		// A set that is too large for a test.
		for len(items) < 20 {
			items = append(items, items[0])
		}
	}
	of := v.name + " in {" + strings.Join(items, ", ") + "}"
	if b.g.chance(30) {
		return "!(" + of + ")"
	}
	return of
}

// another returns another variable of the same type, or "".
func (b *body) another(v variable) string {
	for _, other := range b.vars {
		if other.t == v.t && other.name != v.name {
			return other.name
		}
	}
	return ""
}

// alternatives adds a disjunction of tests, or of atoms with the same
// variables.
func (b *body) alternatives() {
	g := b.g
	p := pick(g, g.preds)
	alike := list.Filter(g.preds, func(q *pred) bool {
		return len(q.args) == len(p.args) && fmt.Sprint(q.args) == fmt.Sprint(p.args)
	})
	if len(p.args) > 0 && g.chance(50) {
		args := list.Map(p.args, b.fresh)
		other := append([]string(nil), args...)
		if n := len(args); n > 1 && p.args[0] == p.args[n-1] {
			other[0], other[n-1] = other[n-1], other[0]
		}
		b.conjuncts = append(b.conjuncts,
			fmt.Sprintf("(%s ; %s)", p.atom(args), pick(g, alike).atom(other)))
		return
	}
	if len(b.vars) > 0 {
		b.conjuncts = append(b.conjuncts, fmt.Sprintf("(%s ; %s)", b.test(), b.test()))
	}
}

// negation adds a negated atom over bound variables and wildcards, a negated
// comparison, or a negated conjunction with a variable of its own.
func (b *body) negation() {
	g := b.g
	p := pick(g, g.preds)
	args := make([]string, len(p.args))
	own := ""
	for i, t := range p.args {
		shared, ok := b.bound(t)
		switch {
		case ok && g.chance(75):
			args[i] = shared
		case t == integer && own == "" && g.chance(30):
			own = "w"
			args[i] = own
		default:
			args[i] = "_"
		}
	}
	switch {
	case own != "" && g.chance(20):
		b.conjuncts = append(b.conjuncts, fmt.Sprintf("!(%s, %s <= %s, %s < %s)",
			p.atom(list.Map(args, func(a string) string {
				if a == own {
					return own + " - 1"
				}
				return a
			})), b.end(), own, own, b.end()))
	case !b.recursive && g.mixing == plain && g.chance(5):
		// The ends of a range are of one type.
		b.conjuncts = append(b.conjuncts, fmt.Sprintf("!(%s <= w, w < %s, w * w = %s)", b.end(),
			b.end(), b.term(integer)))
	case own != "":
		b.conjuncts = append(b.conjuncts,
			fmt.Sprintf("!(%s, %s < %d)", p.atom(args), own, 1+g.IntN(4)))
	case len(b.vars) > 0 && g.chance(15):
		b.conjuncts = append(b.conjuncts, fmt.Sprintf("!(%s)", b.test()))
	default:
		b.conjuncts = append(b.conjuncts, "!"+p.atom(args))
	}
}

// headTerms draws terms for the arguments of a head. In a recursive rule they
// have finitely many values.
func (b *body) headTerms(types []typ, recursive bool) []string {
	out := make([]string, len(types))
	for i, t := range types {
		if b.g.chance(20) && b.computes(t) {
			out[i] = b.expression(t, recursive)
			continue
		}
		out[i] = b.term(t)
	}
	return out
}

// computes reports whether a head may have an expression of a type. A constant
// one might not fit the column of a program that mixes integers.
func (b *body) computes(t typ) bool {
	if b.g.mixing == plain || t != integer {
		return true
	}
	_, ok := b.bound(t)
	return ok
}

// term returns a bound variable of the type, or else a constant.
func (b *body) term(t typ) string {
	if v, ok := b.bound(t); ok {
		return v
	}
	_, literal := b.g.constant(t)
	return literal
}

// expression draws an expression of a type over bound variables.
func (b *body) expression(t typ, recursive bool) string {
	g := b.g
	x := b.term(t)
	switch t {
	case integer:
		if s, ok := b.bound(text); ok && !recursive && g.chance(25) {
			return "string:length[" + s + "]"
		}
		for i, v := range b.vars {
			if v.t == date && i%2 == 1 && !recursive {
				return v.name + " - #2000-01-01#"
			}
		}
		y := b.term(integer)
		if recursive {
			return pick(g, []string{
				fmt.Sprintf("int:mod[%s + %d, %d]", x, 1+g.IntN(3), 4+g.IntN(4)),
				fmt.Sprintf("int:min[%s, %s]", x, y),
				fmt.Sprintf("%s / %d", x, 1+g.IntN(3)),
				fmt.Sprintf("int:bitand[%s, %d]", x, 1+g.IntN(7)),
			})
		}
		if call, ok := b.application(integer); ok && g.chance(50) {
			return call
		}
		return pick(g, []string{
			fmt.Sprintf("%s + %s", x, y), fmt.Sprintf("%s - %s", x, y),
			fmt.Sprintf("%s * %d", x, g.IntN(4)), b.negative(x),
			fmt.Sprintf("%s / %s", x, b.notConstant(y)),
			fmt.Sprintf("int:mod[%s, %s]", x, b.notConstant(y)),
			fmt.Sprintf("int:max[%s, %s]", x, y),
			fmt.Sprintf("(%s + 1) * %s", x, y), fmt.Sprintf("int:bitxor[%s, %s]", x, y),
			b.conditional(integer, x, fmt.Sprintf("%s / %s", x, b.notConstant(y))),
		})
	case text:
		if recursive {
			return fmt.Sprintf("string:substring[%s, %d, 2]", x, g.IntN(2))
		}
		return pick(g, []string{
			fmt.Sprintf("%s + %s", x, b.term(text)), fmt.Sprintf("string:upper[%s]", x),
			fmt.Sprintf("string:substring[%s, 0, %d]", x, g.IntN(3)),
			fmt.Sprintf("string:replace[%s, \"a\", \"b\"]", x),
			b.conditional(text, x, b.term(text)),
			fmt.Sprintf("decimal:string:convert[%s]", b.term(wide)),
		})
	case money:
		if recursive {
			return fmt.Sprintf("decimal:min[%s, 9.00]", x)
		}
		return pick(g,
			[]string{fmt.Sprintf("%s + %s", x, b.term(money)), fmt.Sprintf("%s * %d", x, g.IntN(3)),
				fmt.Sprintf("%s - 0.25", x), fmt.Sprintf("decimal:round[%s]", x)})
	case wide:
		if recursive {
			return fmt.Sprintf("decimal:min[%s, 9.00]", x)
		}
		return pick(g,
			[]string{fmt.Sprintf("%s + %s", x, b.term(wide)), fmt.Sprintf("%s * %d", x, g.IntN(3)),
				fmt.Sprintf("%s - 0.25", x), fmt.Sprintf("decimal:abs[%s]", x)})
	case fraction:
		if !recursive && g.chance(50) {
			return fmt.Sprintf("%s / %s", b.term(money), b.notConstant(b.term(money)))
		}
	case real:
		if !recursive {
			return pick(g,
				[]string{fmt.Sprintf("%s * 0.5f", x), fmt.Sprintf("%s + %s", x, b.term(real)),
					fmt.Sprintf("float:floor[%s]", x)})
		}
	case truth:
		return fmt.Sprintf("boolean:not[%s]", x)
	case date:
		if !recursive {
			n, unit := 1+g.IntN(3), pick(g, []string{`"months"`, `"days"`, `"hours"`})
			if unit == `"days"` {
				return fmt.Sprintf("%s + %d", x, n)
			}
			return fmt.Sprintf("datetime:add[%s, %d, %s]", x, n, unit)
		}
	case narrow:
		if v, ok := b.bound(narrow); ok && !recursive {
			return fmt.Sprintf("%s + %s", v, b.term(narrow))
		}
	}
	return x
}

// conditional chooses between two values of a type. The condition compares
// bound variables, asks for a tuple, or needs a value that may be missing.
func (b *body) conditional(t typ, x, y string) string {
	cond := "1 < 2"
	if len(b.vars) > 0 {
		v := b.vars[len(b.vars)/2]
		_, literal := b.g.constant(v.t)
		cond = v.name + " <= " + literal
	}
	if call, ok := b.application(t); ok {
		cond = fmt.Sprintf("%s != %s ; %s", call, x, cond)
	}
	for _, p := range b.g.preds {
		if len(p.args) != 2 || p.functional() {
			continue
		}
		if shared, ok := b.bound(p.args[0]); ok {
			cond += ", " + p.atom([]string{shared, "_"})
			break
		}
	}
	return fmt.Sprintf("(if %s then %s else %s)", cond, x, y)
}

// negative writes the negative of an integer, which a uint does not have.
func (b *body) negative(x string) string {
	if b.g.mixing == plain {
		return "-" + b.notConstant(x)
	}
	return "0 - " + b.notConstant(x)
}

// notConstant keeps a bound variable and takes 1 for a constant, which might be
// zero: a certain division by zero is refused.
func (b *body) notConstant(x string) string {
	if strings.HasPrefix(x, "v") {
		return x
	}
	return "1"
}

// application is a call f[k, ...] of a functional predicate with bound
// variables as keys.
func (b *body) application(t typ) (string, bool) {
	var calls []string
	for _, p := range b.g.preds {
		if !p.single() || p.args[p.keys] != t {
			continue
		}
		args := make([]string, p.keys)
		all := true
		for i := range args {
			var ok bool
			args[i], ok = b.bound(p.args[i])
			all = all && ok
		}
		if all {
			calls = append(calls, p.name+"["+strings.Join(args, ", ")+"]")
		}
	}
	if len(calls) == 0 {
		return "", false
	}
	return pick(b.g, calls), true
}
