package sema

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/desugar"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// This file finds the entity types of a program, which types are below which,
// and the refmodes and constructors that identify entities.

// arguments returns the arguments of an application as columns: E:id(x:v) has
// two.
func arguments(a *ast.Apply) []ast.Node {
	if _, r := refModeOf(a); r != nil {
		return []ast.Node{r.X, r.V}
	}
	return a.Args
}

// refModeOf returns the argument x:v of an application, or nil.
func refModeOf(n ast.Node) (*ast.Apply, *ast.RefMode) {
	a, ok := ast.Unparen(n).(*ast.Apply)
	if !ok || a.Square || len(a.Args) != 1 {
		return nil, nil
	}
	r, _ := ast.Unparen(a.Args[0]).(*ast.RefMode)
	return a, r
}

// unary returns the application p(x) of a variable, or nil.
func unary(n ast.Node) (*ast.Apply, *ast.Var) {
	a, ok := ast.Unparen(n).(*ast.Apply)
	if !ok || a.Square || len(a.Args) != 1 || a.Delta != "" || a.Stage != "" {
		return nil, nil
	}
	v, ok := ast.Unparen(a.Args[0]).(*ast.Var)
	if !ok {
		return nil, nil
	}
	return a, v
}

// entityKind is what the program says about a unary predicate.
type entityKind uint8

const (
	unsaid entityKind = iota
	entityType
	plainRelation // lang:isEntity[`p] = false
)

// readEntities finds the entity types, the makers of their entities, and the
// families. It goes before the predicates are collected.
func (c *checker) readEntities() {
	kinds := map[string]entityKind{}
	for _, d := range c.directives {
		if d.pred == nil {
			continue
		}
		kind := entityType
		if d.saysPlainRelation() {
			kind = plainRelation
		}
		if d.name != "entity" && d.name != "isEntity" {
			continue
		}
		if before := kinds[d.pred.Name]; before != unsaid && before != kind {
			e := c.Errorf(diag.BadDirective, d.span, "%s is said to be an entity type, and not to be one",
				d.pred.Name)
			e.Help("keep one of the directives")
		}
		kinds[d.pred.Name] = kind
	}
	for _, cl := range c.clauses {
		if cl.kind == constraintClause {
			c.readEntityClause(cl, kinds)
		}
	}
	c.readSubtypes(kinds)
	for _, cl := range c.clauses {
		c.enterEntityClause(cl)
		if len(c.entities) > 0 && cl.kind == constraintClause && cl.refmode == nil &&
			cl.Node.Left != nil {
			cl.decl = declarationOf(cl.Node.Left, cl.Node.Right, c.isType)
		}
	}
	c.readConstructors()
	if len(c.entities) == 0 {
		return
	}
	c.readAnonymous()
	c.settleFamilies()
	c.checkRefmodes()
}

// isType reports whether a name stands for a type in a declaration.
func (c *checker) isType(name string) bool {
	return isTypeName(name) || c.entities[name] != nil
}

// readEntityClause notes the types that `E(x) -> .` and
// `E(x), E:id(x:v) -> T(v).` declare.
func (c *checker) readEntityClause(cl *clause, kinds map[string]entityKind) {
	left := conjuncts(cl.Node.Left)
	if len(left) == 1 && cl.Node.Right == nil && cl.Node.Arrow == ast.Constraint {
		if a, _ := unary(left[0]); a != nil && !isReserved(a) {
			kinds[a.Name.Text] = entityType
			cl.entity = a
		}
		return
	}
	var mode, typ *ast.Apply
	var of string // the entity variable
	for _, n := range left {
		if a, r := refModeOf(n); r != nil && mode == nil {
			mode = a
			if x, ok := ast.Unparen(r.X).(*ast.Var); ok {
				of = x.Name
			}
		}
	}
	for _, n := range slices.Concat(left, conjuncts(cl.Node.Right)) {
		a, v := unary(n)
		if a != nil && !isReserved(a) && typ == nil && v != nil && (of == "" || v.Name == of) {
			typ = a
		}
	}
	if mode == nil || typ == nil {
		return
	}
	kinds[typ.Name.Text] = entityType
	cl.entity, cl.refmode = typ, mode
}

// readSubtypes adds the unary predicates whose declaration puts them below an
// entity type, until there are no more.
func (c *checker) readSubtypes(kinds map[string]entityKind) {
	c.entities = map[string]*pred{}
	for changed := true; changed; {
		changed = false
		for _, cl := range c.clauses {
			if cl.kind != constraintClause || cl.Node.Right == nil || cl.Node.Left == nil {
				continue
			}
			sub, v := unary(cl.Node.Left)
			if sub == nil || isReserved(sub) || kinds[sub.Name.Text] != unsaid {
				continue
			}
			for _, n := range conjuncts(cl.Node.Right) {
				super, w := unary(n)
				if super != nil && w.Name == v.Name && kinds[super.Name.Text] == entityType {
					kinds[sub.Name.Text] = entityType
					changed = true
				}
			}
		}
	}
	for _, cl := range c.clauses {
		if cl.refmode != nil {
			c.enterEntity(cl.entity.Name)
		}
		ast.Inspect(cl.Node.Left, func(n ast.Node) bool {
			if a, _ := unary(n); a != nil && kinds[a.Name.Text] == entityType {
				c.enterEntity(a.Name)
			}
			return true
		})
		if cl.refmode != nil { // its entity may stand on the right: E:id(x:v) -> E(x), T(v).
			c.enterEntity(cl.entity.Name)
		}
	}
	for _, d := range c.directives {
		if d.pred != nil && kinds[d.pred.Name] == entityType {
			c.enterEntity(&ast.Name{Text: d.pred.Name, Span: d.pred.Span})
		}
	}
}

func (c *checker) enterEntity(n *ast.Name) {
	if c.entities[n.Text] != nil {
		return
	}
	p := c.enter(n.Text, n.Span)
	p.Family = &normal.Family{}
	c.entities[n.Text] = p
	c.entityOrder = append(c.entityOrder, p)
}

// enterEntityClause enters the types above a subtype, and the refmode that a
// clause declares.
func (c *checker) enterEntityClause(cl *clause) {
	if cl.kind != constraintClause {
		return
	}
	if cl.refmode != nil {
		c.enterRefmode(cl)
		return
	}
	sub, v := unary(cl.Node.Left)
	if sub == nil || c.entities[sub.Name.Text] == nil {
		return
	}
	p := c.entities[sub.Name.Text]
	for _, n := range conjuncts(cl.Node.Right) {
		super, w := unary(n)
		if super == nil || w.Name != v.Name || c.entities[super.Name.Text] == nil {
			continue
		}
		q := &c.entities[super.Name.Text].Pred
		if q != &p.Pred && !slices.Contains(p.Supers, q) {
			p.Supers = append(p.Supers, q)
		}
	}
}

// enterRefmode enters the refmode of `E(x), E:id(x:v) -> T(v).`
func (c *checker) enterRefmode(cl *clause) {
	mode := cl.refmode
	_, r := refModeOf(mode)
	p := c.enter(mode.Name.Text, mode.Name.Span)
	of := c.entities[cl.entity.Name.Text]
	x, xOK := ast.Unparen(r.X).(*ast.Var)
	v, vOK := ast.Unparen(r.V).(*ast.Var)
	if p == of {
		d := c.Errorf(diag.BadEntity, mode.Span, "%s cannot be the refmode of itself", p.Name)
		d.Help("write %s(x), %s:id(x:v) -> string(v).", of.Name, p.Name)
		cl.Broken, p.Poisoned = true, true
		return
	}
	if c.entities[p.Name] != nil {
		d := c.Errorf(diag.BadEntity, mode.Span, "the entity type %s cannot be the refmode of %s",
			p.Name, of.Name)
		d.Help("write %s(x), %s:id(x:v) -> string(v).", of.Name, of.Name)
		cl.Broken, p.Poisoned = true, true
		return
	}
	if !xOK || !vOK {
		d := c.Errorf(diag.BadEntity, r.Span, "a refmode is declared with two variables")
		d.Help("write %s(x), %s(x:v) -> string(v).", of.Name, p.Name)
		cl.Broken, p.Poisoned = true, true
		return
	}
	for _, n := range conjuncts(cl.Node.Right) {
		a, w := unary(n)
		if a == nil || w.Name != v.Name || !isTypeName(a.Name.Text) {
			continue
		}
		t, ok := c.typeNamed(a)
		if !ok {
			cl.Broken = true
			return
		}
		p.refType, p.refSpan = t, a.Span
	}
	if p.refType.Kind == scalar.Invalid {
		d := c.Errorf(diag.BadEntity, mode.Span, "the refmode %s has no type", p.Name)
		d.Help("write %s(%s), %s(%s:%s) -> string(%s).", of.Name, x.Name, p.Name, x.Name, v.Name,
			v.Name)
		cl.Broken, p.Poisoned = true, true
		return
	}
	if p.autoOf = nil; c.isAutoNumbered(p.Name) {
		p.autoOf = of
		p.ArgNames = []string{normal.PlainName(x.Name), normal.PlainName(v.Name)}
	} else if p.Maker == nil {
		p.Maker = &normal.Maker{Pred: &p.Pred, Of: &of.Pred, Refmode: true}
		c.makers = append(c.makers, p)
		p.ArgNames = []string{normal.PlainName(x.Name), normal.PlainName(v.Name)}
	}
}

// isAutoNumbered reports whether lang:autoNumbered names a refmode, so that the
// program does not say its values.
func (c *checker) isAutoNumbered(refmode string) bool {
	return slices.ContainsFunc(c.directives, func(d *directive) bool {
		return d.name == "autoNumbered" && d.pred != nil && d.pred.Name == refmode
	})
}

// anonymous is an entity that a head creates without a maker: one for each
// binding of the body's variables.
type anonymous struct {
	maker *pred
	of    *ast.Apply // E(e) in the head
	keys  []*ast.Var // the variables of the body
}

// readAnonymous gives a maker to each entity type of a head whose variable
// occurs neither in the body nor in a maker of the head.
func (c *checker) readAnonymous() {
	for _, cl := range c.clauses {
		if cl.kind != ruleClause || cl.Node.P2P != nil || cl.Node.Update != "" {
			continue
		}
		for _, h := range cl.heads {
			a, v := unary(h)
			if a == nil || c.entities[a.Name.Text] == nil || occurrence(cl.body, v.Name) != nil ||
				c.makesInHead(cl, v.Name) {
				continue
			}
			of := c.entities[a.Name.Text]
			p := c.enter(c.madeUpName(of.Name), a.Name.Span)
			p.Maker = &normal.Maker{Pred: &p.Pred, Of: &of.Pred, Anonymous: true}
			p.Hidden = true
			c.makers = append(c.makers, p)
			made := &anonymous{maker: p, of: a}
			ast.Inspect(cl.body, func(n ast.Node) bool {
				x, ok := n.(*ast.Var)
				ok = ok && !desugar.IsVariable(x.Name)
				if ok && !slices.ContainsFunc(made.keys, func(k *ast.Var) bool {
					return k.Name == x.Name
				}) {
					made.keys = append(made.keys, x)
				}
				_, isNot := n.(*ast.Not)
				return !isNot
			})
			p.Arity, p.Keys, p.shapeRole, p.keysRole = len(made.keys)+1, len(made.keys), declaring,
				declaring
			p.entity = true
			cl.anonymous = append(cl.anonymous, made)
		}
	}
}

// madeUpName returns a name that no predicate has.
func (c *checker) madeUpName(of string) string {
	for n := 1; ; n++ {
		if name := fmt.Sprintf("%s$%d", of, n); c.preds[name] == nil {
			return name
		}
	}
}

// makesInHead reports whether a refmode or constructor in the head of a clause
// has a variable as its entity, or another entity type of the head made it.
func (c *checker) makesInHead(cl *clause, name string) bool {
	for _, made := range cl.anonymous {
		if _, v := unary(made.of); v.Name == name {
			return true
		}
	}
	return slices.ContainsFunc(cl.heads, func(h ast.Node) bool {
		a, value := headAtom(h)
		if a == nil || c.preds[a.Name.Text] == nil || c.preds[a.Name.Text].Maker == nil {
			return false
		}
		args := arguments(a)
		if value != nil {
			args = append(args[:len(args):len(args)], value)
		}
		if len(args) == 0 {
			return false // the number of arguments is refused elsewhere
		}
		entity := args[len(args)-1]
		if c.preds[a.Name.Text].Maker.Refmode {
			entity = args[0]
		}
		v, ok := ast.Unparen(entity).(*ast.Var)
		return ok && v.Name == name
	})
}

// readConstructors enters the predicates that lang:constructor names.
func (c *checker) readConstructors() {
	for _, d := range c.directives {
		if d.pred == nil {
			continue
		}
		if d.name == "autoNumbered" && (c.preds[d.pred.Name] == nil ||
			c.preds[d.pred.Name].autoOf == nil) {
			e := c.Errorf(diag.BadEntity, d.span, "%s is no refmode", d.pred.Name)
			e.Help("declare it: %s(x), %s(x:n) -> int(n).", c.exampleEntity(), d.pred.Name)
		}
		if d.name != "constructor" && d.name != "skolem" {
			continue
		}
		p := c.enter(d.pred.Name, d.pred.Span)
		if p.Maker != nil {
			continue
		}
		of := c.constructed(p)
		if of == nil {
			e := c.Errorf(diag.BadEntity, d.span, "the constructor %s makes no entities", p.Name)
			e.Note("no declaration says that its value is an entity")
			e.Help("declare it, for example %s[x] = e -> string(x), %s(e).", p.Name,
				c.exampleEntity())
			p.Poisoned = true
			continue
		}
		p.Maker = &normal.Maker{Pred: &p.Pred, Of: &of.Pred}
		c.makers = append(c.makers, p)
	}
}

// constructed returns the entity type that the declaration of a predicate gives
// its value, or nil.
func (c *checker) constructed(p *pred) *pred {
	for _, cl := range c.clauses {
		d := cl.decl
		if d == nil || d.apply.Name.Text != p.Name {
			continue
		}
		for _, t := range d.types {
			if t.column == len(d.vars)-1 && c.entities[t.node.Name.Text] != nil {
				return c.entities[t.node.Name.Text]
			}
		}
	}
	return nil
}

// exampleEntity returns the name of an entity type of the program.
func (c *checker) exampleEntity() string {
	if len(c.entityOrder) > 0 {
		return c.entityOrder[0].Name
	}
	return "thing"
}

// settleFamilies joins the types that subtyping connects.
func (c *checker) settleFamilies() {
	family := func(p *normal.Pred) *normal.Family { return c.preds[p.Name].Family }
	for _, p := range c.entityOrder {
		p.Family.Types = []*normal.Pred{&p.Pred}
	}
	for _, p := range c.entityOrder {
		for _, s := range p.Supers {
			from, to := family(&p.Pred), family(s)
			if from == to {
				continue
			}
			for _, t := range from.Types {
				c.preds[t.Name].Family = to
			}
			to.Types = append(to.Types, from.Types...)
		}
	}
	for _, m := range c.makers {
		f := family(m.Maker.Of)
		m.Maker.Family, m.Maker.Number = f, len(f.Makers)
		f.Makers = append(f.Makers, m.Maker)
	}
	for _, p := range c.entityOrder {
		f := p.Family
		if f.Type.Kind == scalar.Entity {
			continue
		}
		root := f.Types[0]
		for _, t := range f.Types {
			if len(t.Supers) == 0 {
				root = t
				break
			}
		}
		f.Type, f.Rep = scalar.EntityOf(root.Name), scalar.IntType
		if f.ByValue() {
			f.Rep = c.preds[f.Makers[0].Pred.Name].refType
		}
		c.types.AddFamily(f)
	}
}

// checkRefmodes refuses a refmode of entity types that no subtyping connects.
func (c *checker) checkRefmodes() {
	first := map[string]*clause{}
	for _, cl := range c.clauses {
		if cl.refmode == nil || cl.Broken {
			continue
		}
		name := cl.refmode.Name.Text
		before := first[name]
		if before == nil {
			first[name] = cl
			continue
		}
		of, had := c.entities[cl.entity.Name.Text], c.entities[before.entity.Name.Text]
		if of.Family == had.Family {
			continue
		}
		d := c.Errorf(diag.BadEntity, cl.refmode.Span, "%s is the refmode of %s already", name,
			had.Name)
		d.Label(before.refmode.Span, "declared here")
		d.Help("give %s a refmode of its own: %s(x), %s:id(x:v) -> %s(v).", of.Name, of.Name, of.Name,
			c.preds[name].refType)
		cl.Broken = true
	}
}

// collectEntity enters the predicates of a clause that declares an entity type
// or a refmode.
func (c *checker) collectEntity(cl *clause) {
	c.occurrence(cl.entity, declaring)
	if cl.refmode != nil {
		c.occurrence(cl.refmode, declaring)
	}
}

// declareEntities gives the columns of entity types and refmodes their types.
func (c *checker) declareEntities() {
	declare := func(p *pred, i int, t scalar.Type, of *normal.Pred, span source.Span) {
		if i >= p.Arity || p.Declared[i].Kind != scalar.Invalid {
			return
		}
		p.Declared[i] = normal.DeclaredType{Type: t, Span: span}
		p.EntityTypes[i] = of
		c.types.Declare(p.Columns[i], t, span)
	}
	for _, p := range c.entityOrder {
		if p.Arity != 1 {
			d := c.Errorf(diag.BadEntity, p.shapeSpan, "the entity type %s has %s, not 1", p.Name,
				plural(p.Arity, "argument"))
			d.Help("write %s(x) -> .", p.Name)
			p.Poisoned = true
			continue
		}
		declare(p, 0, p.Family.Type, &p.Pred, p.Span)
		p.entity = true
	}
	for _, p := range c.makers {
		m := p.Maker
		if m.Refmode {
			declare(p, 0, m.Family.Type, m.Of, p.Span)
			declare(p, 1, p.refType, nil, p.refSpan)
			p.named, p.entity = true, true
		} else if m.Anonymous {
			declare(p, p.Keys, m.Family.Type, m.Of, p.Span)
		}
	}
	for _, p := range c.order {
		if p.autoOf != nil {
			declare(p, 0, p.autoOf.Family.Type, &p.autoOf.Pred, p.Span)
			declare(p, 1, p.refType, nil, p.refSpan)
			p.named, p.entity, p.Auto = true, true, &p.autoOf.Pred
		}
	}
}
