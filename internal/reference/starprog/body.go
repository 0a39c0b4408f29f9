package starprog

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// body is the body of a rule under construction.
type body struct {
	g     *programs
	lits  []Literal
	vars  []*Expr // bound by an atom or "="
	named int
	// apart keeps the names of variables apart from those of another body.
	prefix string
}

func (g *programs) newBody() *body { return &body{g: g, prefix: "v"} }

func (b *body) fresh(t scalar.Type, domain int) *Expr {
	b.named++
	v := &Expr{Kind: Variable, Type: t, Name: fmt.Sprintf("%s%d", b.prefix, b.named),
		Domain: domain}
	b.vars = append(b.vars, v)
	return v
}

// bound returns a variable of the domain, or nil.
func (b *body) bound(domain int) *Expr {
	return b.where(func(v *Expr) bool { return v.Domain == domain && domain != computed })
}

// where returns a variable of which f is true, or nil.
func (b *body) where(f func(*Expr) bool) *Expr {
	of := list.Filter(b.vars, f)
	if len(of) == 0 {
		return nil
	}
	return pick(b.g.generator, of)
}

// term draws an argument: with a probability of shared percent a bound
// variable, seldom a constant or a wildcard, or else a fresh variable.
func (b *body) term(a Arg, shared int) *Expr {
	g := b.g
	n := g.IntN(100)
	v := b.bound(a.Domain)
	switch {
	case v != nil && n < shared:
		return v
	case n < shared:
		return b.fresh(a.Type, a.Domain)
	case n >= 97 && a.Domain != computed && constantInAtom(a.Type):
		return constant(g.value(a.Domain))
	case n >= 90:
		return &Expr{Kind: Wildcard, Type: a.Type}
	}
	return b.fresh(a.Type, a.Domain)
}

// constantInAtom says that a constant of the type may stand in an atom. Floats
// are not compared for equality, and decimals of 38 digits would be of another
// type where they are short.
func constantInAtom(t scalar.Type) bool { return t.Kind != scalar.Float && !t.IsWide() }

// atom adds an atom of a predicate.
func (b *body) atom(p *Pred, shared int) {
	args := make([]*Expr, len(p.Args))
	for i, a := range p.Args {
		share := shared
		if a.Type.Kind == scalar.Float {
			share = 0
		}
		args[i] = b.term(a, share)
	}
	b.add(Literal{Kind: Atom, Pred: p, Args: args})
}

func (b *body) add(l Literal) { b.lits = append(b.lits, l) }

// row adds atoms of one row of a table: columns at the same keys, some of them
// twice, some with one variable for two, and then some of rows that it refers
// to.
func (b *body) row(t *Table, depth int) {
	g := b.g
	keys := make([]*Expr, t.Keys())
	for i := range keys {
		c := t.Columns[i]
		keys[i] = b.term(Arg{Type: c.Type, Domain: c.Domain}, 30)
		again := slices.Contains(keys[:i], keys[i]) && !g.chance(15)
		if keys[i].Kind == Wildcard || again { // a row has one key
			keys[i] = b.fresh(c.Type, c.Domain)
		}
	}
	columns := g.columnsOf(t)
	if len(columns) == 0 {
		return
	}
	for range 1 + g.IntN(3) {
		b.column(pick(g.generator, columns), keys, 8)
	}
	if g.chance(15) {
		g.crossColumns(b, columns, keys)
	}
	if g.chance(15) { // the same key twice
		p := pick(g.generator, columns)
		b.column(p, keys, 15)
		b.column(p, keys, 15)
	}
	if wide := g.wideOf(t); len(wide) > 0 && g.chance(25) {
		p := pick(g.generator, wide)
		if p.hasKeysOf(len(keys), g.data) || !g.large {
			b.column(p, keys, 25)
		}
	}
	if depth < 3 && g.chance(40) {
		b.follow(depth)
	}
}

// column adds an atom of a predicate of a table at keys.
func (b *body) column(p *Pred, keys []*Expr, shared int) {
	args := slices.Clone(keys)
	if !p.hasKeysOf(len(keys), b.g.data) { // a projection without keys
		args = nil
	}
	for _, a := range p.Args[len(args):] {
		share := shared
		if a.Type.Kind == scalar.Float {
			share = 0
		}
		args = append(args, b.term(a, share))
	}
	b.add(Literal{Kind: Atom, Pred: p, Args: args})
}

// hasKeysOf says that a stored predicate begins with all keys of its table.
func (p *Pred) hasKeysOf(n int, d *Data) bool {
	t := d.Table(p.Table)
	for i := range n {
		if i >= len(p.Columns) || p.Columns[i] != t.Columns[i].Name {
			return false
		}
	}
	return true
}

// crossColumns lets two columns of a row have one variable, and one of them
// another one, too.
func (g *programs) crossColumns(b *body, columns []*Pred, keys []*Expr) {
	var pairs [][2]*Pred
	for _, p := range columns {
		for _, q := range columns {
			if p != q && p.value().Domain == q.value().Domain &&
				p.value().Type.Kind != scalar.Float {
				pairs = append(pairs, [2]*Pred{p, q})
			}
		}
	}
	if len(pairs) == 0 {
		return
	}
	pair := pick(g.generator, pairs)
	v := b.fresh(pair[0].value().Type, pair[0].value().Domain)
	for _, p := range pair {
		b.add(Literal{Kind: Atom, Pred: p, Args: append(slices.Clone(keys), v)})
	}
	if g.chance(60) {
		p := pick(g.generator, pair[:])
		b.add(Literal{Kind: Atom, Pred: p,
			Args: append(slices.Clone(keys), b.fresh(v.Type, v.Domain))})
	}
}

// value is the last argument.
func (p *Pred) value() Arg { return p.Args[len(p.Args)-1] }

// follow adds a row of a dimension that a variable refers to.
func (b *body) follow(depth int) {
	v := b.where(func(v *Expr) bool { return v.Domain >= 0 && b.g.domains[v.Domain].of != nil })
	if v == nil {
		return
	}
	t := b.g.domains[v.Domain].of
	columns := b.g.columnsOf(t)
	if len(columns) == 0 {
		return
	}
	b.column(pick(b.g.generator, columns), []*Expr{v}, 6)
	if b.g.chance(40) {
		b.column(pick(b.g.generator, columns), []*Expr{v}, 6)
	}
	if depth < 3 && b.g.chance(25) {
		b.follow(depth + 1)
	}
}

// tests adds comparisons.
func (b *body) tests(percent int) {
	for range 2 {
		if b.g.chance(percent) {
			if l, ok := b.test(); ok {
				b.add(l)
			}
		}
	}
}

// test draws a comparison of a variable or an expression.
func (b *body) test() (Literal, bool) {
	g := b.g
	v := b.where(func(v *Expr) bool { return v.Type.Kind != scalar.Boolean })
	if v == nil {
		return Literal{}, false
	}
	op := pick(g.generator, []string{"<", "<=", ">", ">=", "!=", "!="})
	if v.Type.Kind == scalar.String && g.chance(40) {
		pattern := pick(g.generator, []string{"a%", "%b", "_", "%é%", "a_%", "%O%", "d_-%"})
		return Literal{Kind: Compare, Op: "like", Left: v,
				Right: constant(scalar.OfString(pattern))},
			true
	}
	if g.chance(30) {
		if e := b.nested(func(t scalar.Type) bool { return comparable(t, v.Type) }); e != nil {
			if e.Type == v.Type && g.chance(50) { // an atom, for whose value types are equal
				op = "="
			}
			return Literal{Kind: Compare, Op: op, Left: e, Right: v}, true
		}
	}
	if g.chance(25) {
		if e := b.expression(v.Type); e != nil && comparable(e.Type, v.Type) {
			return Literal{Kind: Compare, Op: op, Left: v, Right: e}, true
		}
	}
	if g.chance(30) {
		other := b.where(func(w *Expr) bool { return w != v && comparable(w.Type, v.Type) })
		if other != nil {
			return Literal{Kind: Compare, Op: op, Left: v, Right: other}, true
		}
	}
	return Literal{Kind: Compare, Op: op, Left: v, Right: g.constantLike(v)}, true
}

// comparable says that values of two types are compared: those of one type, and
// exact numbers.
func comparable(a, b scalar.Type) bool {
	exact := func(t scalar.Type) bool { return t.Kind == scalar.Int || t.Kind == scalar.Decimal }
	return a == b || exact(a) && exact(b)
}

// constantLike draws a constant to compare a variable with: one of the values
// that it may have, where they are known.
func (g *programs) constantLike(v *Expr) *Expr {
	if v.Domain >= 0 {
		return constant(g.value(v.Domain))
	}
	for i, d := range g.domains {
		if d.typ == v.Type && i < plain {
			return constant(g.value(i))
		}
	}
	if v.Type.Kind == scalar.Decimal {
		return constant(g.value(2))
	}
	return constant(scalar.OfInt(scalar.IntType, int64(g.IntN(9))))
}

// plain is the number of domains that do not belong to a key.
const plain = 11

// nested draws an application of functional predicates to variables, often
// nested, whose type suits. It returns nil if no predicate fits.
func (b *body) nested(suits func(scalar.Type) bool) *Expr {
	g := b.g
	var found []*Expr
	apply := func(inner []*Expr) []*Expr {
		var out []*Expr
		for _, p := range g.pool {
			if p.Keys != len(p.Args)-1 || p.Keys == 0 && len(inner) > 0 {
				continue
			}
			args := make([]*Expr, p.Keys)
			for i := range args {
				for _, e := range inner {
					if e.Domain == p.Args[i].Domain && e.Type == p.Args[i].Type &&
						e.Domain != computed {
						args[i] = e
					}
				}
				if args[i] == nil {
					args[i] = b.bound(p.Args[i].Domain)
				}
			}
			if !slices.Contains(args, nil) {
				out = append(out, &Expr{Kind: Apply, Type: p.value().Type, Pred: p, Args: args,
					Domain: p.value().Domain})
			}
		}
		return out
	}
	level := apply(nil)
	for range 3 {
		for _, e := range level {
			if suits(e.Type) && e.Type.Kind != scalar.Float {
				found = append(found, e)
			}
		}
		if len(level) == 0 || len(level) > 60 {
			break
		}
		level = apply(level[g.IntN(len(level)):])
	}
	if len(found) == 0 {
		return nil
	}
	return found[len(found)-1-g.IntN(min(len(found), 12))]
}

// expression draws an expression over variables, of a type like the given one.
func (b *body) expression(t scalar.Type) *Expr {
	g := b.g
	number := func(v *Expr) bool {
		return v.Type.Kind == scalar.Int || v.Type.Kind == scalar.Decimal && !v.Type.IsWide() &&
			v.Type.Scale <= 4
	}
	of := func(k scalar.Kind) *Expr {
		return b.where(func(v *Expr) bool { return v.Type.Kind == k })
	}
	small := constant(scalar.OfInt(scalar.IntType, int64(1+g.IntN(3))))
	switch t.Kind {
	case scalar.Int, scalar.Decimal:
		x, y := b.where(number), b.where(number)
		if g.chance(15) {
			if s := of(scalar.String); s != nil {
				return call("length", s)
			}
		}
		if d := of(scalar.Datetime); d != nil && g.chance(30) {
			return call(pick(g.generator, []string{"year", "month"}), d)
		}
		if x == nil {
			return nil
		}
		op := pick(g.generator, []string{"add", "sub", "mul", "div", "mod", "least", "discount",
			"negate"})
		ints := x.Type.Kind == scalar.Int && y.Type.Kind == scalar.Int
		switch {
		case op == "negate":
			return call("negate", x)
		case op == "discount" && !ints: // price * (1 - discount)
			one := constant(scalar.OfDecimal(0, 1))
			return call("mul", x, call("sub", one, y))
		case (op == "mod" || op == "least") && !ints || op == "discount":
			op = "add"
		}
		if g.chance(35) && (x.Type.Kind == scalar.Int || op == "mul") {
			y = small
		}
		return call(op, x, y)
	case scalar.String:
		s := of(scalar.String)
		if s == nil {
			return nil
		}
		switch g.IntN(3) {
		case 0:
			return call("concat", s, b.where(func(v *Expr) bool {
				return v.Type.Kind == scalar.String
			}))
		case 1:
			return call("upper", s)
		}
		return call("left", s, small)
	case scalar.Datetime:
		if d := of(scalar.Datetime); d != nil {
			return call(pick(g.generator, []string{"months", "days"}), d, small)
		}
	}
	return nil
}

// let binds a variable to an expression or an application; nil if there is
// none.
func (b *body) let() *Expr {
	g := b.g
	var e *Expr
	if g.chance(40) {
		e = b.nested(func(scalar.Type) bool { return true })
	} else {
		kinds := []scalar.Type{scalar.IntType, scalar.IntType, scalar.DecimalOf(2),
			scalar.StringType,
			scalar.DatetimeType}
		e = b.expression(pick(g.generator, kinds))
	}
	if e == nil || e.Type.Kind == scalar.Decimal && e.Type.Scale > 8 {
		return nil
	}
	return b.define(e)
}

// define adds a variable with the value of an expression.
func (b *body) define(e *Expr) *Expr {
	v := &Expr{Kind: Variable, Type: e.Type, Name: fmt.Sprintf("%s%d", b.prefix, b.named+1),
		Domain: e.Domain}
	b.named++
	b.add(Literal{Kind: Compare, Op: "=", Left: v, Right: e})
	b.vars = append(b.vars, v)
	return v
}

// negation adds a negated atom over bound variables, a negated comparison, or a
// negated conjunction.
func (b *body) negation() {
	g := b.g
	if g.chance(15) {
		if l, ok := b.test(); ok {
			b.add(Literal{Kind: Not, Body: []Literal{l}})
			return
		}
	}
	candidates := list.Filter(g.pool, func(p *Pred) bool {
		return slices.ContainsFunc(p.Args, func(a Arg) bool { return b.bound(a.Domain) != nil })
	})
	if len(candidates) == 0 {
		return
	}
	p := pick(g.generator, candidates)
	args := make([]*Expr, len(p.Args))
	var own *Expr
	for i, a := range p.Args {
		v := b.bound(a.Domain)
		switch {
		case v != nil && a.Type.Kind != scalar.Float && g.chance(80):
			args[i] = v
		case own == nil && g.chance(30) && a.Type.Kind != scalar.Boolean:
			own = &Expr{Kind: Variable, Type: a.Type, Name: "w", Domain: a.Domain}
			args[i] = own
		default:
			args[i] = &Expr{Kind: Wildcard, Type: a.Type}
		}
	}
	inner := []Literal{{Kind: Atom, Pred: p, Args: args}}
	if own != nil {
		inner = append(inner,
			Literal{Kind: Compare, Op: pick(g.generator, []string{"<", ">=", "!="}),
				Left: own, Right: g.constantLike(own)})
	}
	b.add(Literal{Kind: Not, Body: inner})
}

// alternatives adds a disjunction of comparisons.
func (b *body) alternatives() {
	var list []Literal
	for range 2 {
		if l, ok := b.test(); ok && !applies(l.Left) && !applies(l.Right) {
			list = append(list, l)
		}
	}
	if len(list) == 2 {
		b.add(Literal{Kind: Or, Body: list})
	}
}

func applies(e *Expr) bool { return e.Kind == Apply || slices.ContainsFunc(e.Args, applies) }
