package sema

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/desugar"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/infer"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/frontend/vocabulary"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// pred is a predicate and its occurrences in the text.
type pred struct {
	normal.Pred
	index int // position in checker.order
	split bool

	// shapeRole and shapeSpan are those of the occurrence that decided the
	// arity, keysRole and keysSpan those of the one that decided the keys.
	shapeRole, keysRole role
	shapeSpan, keysSpan source.Span

	decl      *declaration // the first that declares it, or nil
	named     bool         // argNames are final
	firstHead *normal.Atom // of its first rule or fact
	firstArgs []ast.Node   // of firstHead, as they are written

	facts       int
	loadSpan    source.Span // the first delta rule or fact
	uses        int         // occurrences outside heads and declarations
	fileBound   bool        // a directive says where its facts come from
	fileMode    bool        // lang:physical:fileMode was given
	ruleSpan    source.Span // the first rule that derives it
	extensional source.Span // of the directive that says so
	untilSpan   source.Span // of lang:iterateUntil
	entity      bool        // it is an entity type or a refmode, and declared
	// refType is the type of a refmode's value, refSpan where that is said.
	refType scalar.Type
	autoOf  *pred // the type of a refmode that redfox numbers, or nil
	refSpan source.Span
}

// role is the part of a clause in which a predicate occurs. The smallest role
// decides its shape.
type role uint8

const (
	declaring role = iota
	inHead
	inBody
	unseen
)

// shapeOf returns the number of arguments of an application, its value
// included, and the number of keys among them, or -1 if the form does not show
// it.
func shapeOf(a *ast.Apply) (arity, keys int) {
	if _, r := refModeOf(a); r != nil {
		return 2, 1
	}
	switch {
	case a.Square:
		return len(a.Args) + 1, len(a.Args)
	case a.Split >= 0:
		return len(a.Args), a.Split
	}
	return len(a.Args), -1
}

// collect enters the predicates that occur in a clause.
func (c *checker) collect(cl *clause) {
	switch cl.kind {
	case directiveClause, refusedClause:
		// The predicates of a refused clause exist, so their other uses are not
		// unknown.
		if cl.kind == refusedClause {
			c.collectRefused(cl)
		}
		return
	case constraintClause:
		if cl.decl != nil {
			r := declaring
			if !cl.decl.strict {
				r = inBody
			}
			if p := c.occurrence(cl.decl.apply, r); p != nil && r == inBody {
				p.uses--
			}
			if !cl.decl.plain {
				c.collectBody(cl.body)
			}
			return
		}
		if cl.entity != nil {
			c.collectEntity(cl)
			return
		}
		c.collectBody(cl.heads[0])
		c.collectBody(cl.body)
	case ruleClause:
		isFact := cl.body == nil && cl.Node.Update == ""
		for _, h := range cl.heads {
			a, value := headAtom(h)
			if a == nil {
				continue
			}
			p := c.occurrence(a, inHead)
			if p != nil {
				if a.Delta != "" && !p.loadSpan.IsValid() {
					p.loadSpan = a.Span
				}
				switch {
				case isFact && !hasApplication(a.Args) &&
					(value == nil || !hasApplication([]ast.Node{value})):
					p.facts++
				case a.Delta != "":
					p.Loads++
				default:
					p.Rules++
				}
			}
			for _, arg := range a.Args {
				c.collectBody(arg)
			}
			c.collectBody(value)
		}
		c.collectBody(cl.body)
		if cl.Node.P2P != nil {
			for _, s := range cl.Node.P2P.Specs {
				if _, known := vocabulary.AggregationOf(s.Fn.Text); known {
					c.collectBody(s.In)
				}
			}
		}
	}
}

// hasApplication reports whether a predicate or a variable occurs, so that a
// clause without body is not a fact but an abbreviated rule.
func hasApplication(nodes []ast.Node) bool {
	found := false
	for _, n := range nodes {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Apply:
				found = found || !scalar.IsBuiltin(n.Name.Text)
			}
			return !found
		})
	}
	return found
}

func (c *checker) collectBody(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if a, ok := n.(*ast.Apply); ok {
			c.occurrence(a, inBody)
		}
		return true
	})
}

func (c *checker) collectRefused(cl *clause) {
	visit := func(n ast.Node) bool {
		if a, ok := n.(*ast.Apply); ok && !isReserved(a) {
			p := c.enter(a.Name.Text, a.Name.Span)
			p.Poisoned = true
			p.uses++
		}
		return true
	}
	ast.Inspect(cl.Node.Left, visit)
	ast.Inspect(cl.Node.Right, visit)
}

// isReserved reports whether the name is a type or built-in, not a predicate.
func isReserved(a *ast.Apply) bool {
	return scalar.IsBuiltin(a.Name.Text) || isTypeName(a.Name.Text) && !a.Square
}

// occurrence enters one use of a predicate; nil for types and built-ins.
func (c *checker) occurrence(a *ast.Apply, r role) *pred {
	name := a.Name.Text
	if isReserved(a) {
		return nil
	}
	if name == "_" && r == inHead {
		name = c.queryName(a)
	}
	p := c.enter(name, a.Name.Span)
	arity, keys := shapeOf(a)
	if r < p.shapeRole {
		p.shapeRole, p.shapeSpan, p.Arity = r, a.Span, arity
	}
	if keys >= 0 && r < p.keysRole && (r == p.shapeRole || arity == p.Arity) {
		p.keysRole, p.keysSpan, p.Keys = r, a.Span, keys
		p.split = a.Split >= 0
	}
	if r == inBody {
		p.uses++
	}
	if name[0] == '_' && a.Name.Text == "_" {
		p.Query = true
	}
	return p
}

func (c *checker) enter(name string, span source.Span) *pred {
	p := c.preds[name]
	if p == nil {
		p = &pred{
			Pred: normal.Pred{Name: name, Span: span, Limit: -1,
				Given: c.opts.External[name]},
			index:     len(c.order),
			shapeRole: unseen, keysRole: unseen,
		}
		_, _, event := core.Event(name)
		p.Hidden = event || desugar.IsName(name)
		c.preds[name] = p
		c.order = append(c.order, p)
	}
	return p
}

// queryName names a query predicate: rules with heads of one shape make one
// query, and further shapes are `_2`, `_3` and so on.
func (c *checker) queryName(a *ast.Apply) string {
	arity, keys := shapeOf(a)
	if keys < 0 {
		keys = arity
	}
	for _, q := range c.queries {
		if q.Arity == arity && q.Keys == keys {
			return q.Name
		}
	}
	name := "_"
	for n := len(c.queries) + 1; n > 1 && (name == "_" || c.preds[name] != nil); n++ {
		name = fmt.Sprintf("_%d", n)
	}
	p := c.enter(name, a.Name.Span)
	p.Arity, p.Keys, p.Query = arity, keys, true
	c.queries = append(c.queries, p)
	return name
}

// settleShapes completes the shapes that the occurrences gave.
func (c *checker) settleShapes() {
	for _, p := range c.order {
		if p.keysRole == unseen || p.keysRole > declaring && p.shapeRole == declaring {
			// A relation: declared so, or never used with a value.
			p.Keys = p.Arity
		}
		p.Keys = min(p.Keys, p.Arity)
		p.Columns = make([]int, p.Arity)
		for i := range p.Columns {
			p.Columns[i] = c.types.Column(&p.Pred, i)
		}
		p.Declared = make([]normal.DeclaredType, p.Arity)
		p.EntityTypes = make([]*normal.Pred, p.Arity)
	}
	for _, p := range c.order {
		c.settleEvent(p)
	}
}

// settleEvent gives an event or the start of a predicate the shape and the
// types of that predicate. Deletions are a relation.
func (c *checker) settleEvent(p *pred) {
	name, start, isEvent := core.Event(p.Name)
	base := c.preds[name]
	if !isEvent || base == nil {
		return
	}
	p.Arity, p.Keys, p.Columns, p.Declared = base.Arity, base.Keys, base.Columns, base.Declared
	if p.Name[0] == '-' && !start {
		p.Keys = p.Arity
	}
	if start && p.Rules == 0 {
		p.Source = name
	}
	settleMaker(p, base, start)
}

// resolveNames refuses misspelt names: predicates that occur only in bodies and
// resemble one that exists. A predicate that resembles none is extensional,
// with inferred types.
func (c *checker) resolveNames() {
	asType := map[*pred]bool{} // stands for a type in a declaration
	for _, cl := range c.clauses {
		if cl.decl == nil {
			continue
		}
		c.declare(cl)
		for _, item := range conjuncts(cl.body) {
			if a, ok := ast.Unparen(item).(*ast.Apply); ok && !a.Square && len(a.Args) == 1 &&
				c.preds[a.Name.Text] != nil {
				asType[c.preds[a.Name.Text]] = true
			}
		}
	}
	for _, d := range c.directives {
		if (d.name == "physical:filePath" || d.name == "derivationType") && d.pred != nil &&
			c.preds[d.pred.Name] != nil {
			c.preds[d.pred.Name].fileBound = true
		}
	}
	var known []string
	for _, p := range c.order {
		if p.exists() && !p.Hidden {
			known = append(known, p.Name)
		}
	}
	near := newNeighbours(known)
	searches := 0
	for _, p := range c.order {
		if strings.HasPrefix(p.Name, "$$") && !p.Hidden {
			p.Poisoned = true // reported where blocks are resolved
			continue
		}
		if strings.HasPrefix(p.Name, "$") && !p.Hidden {
			c.unknownPrivate(p)
			continue
		}
		if p.exists() || p.Poisoned {
			continue
		}
		if q := c.sameInOtherFile(p); q != nil {
			p.Poisoned = true
			d := c.Errorf(diag.UnknownPredicate, p.Span, "this file has no predicate %s", p.Span.Text())
			d.Label(q.Span, "this one belongs to its file alone, because its name begins with _")
			d.Help("write $%s, or name the predicate without the underscore", q.Name)
			d.Replace(p.Span, "$"+q.Name)
			continue
		}
		if asType[p] {
			c.unknownType(p, near)
			continue
		}
		if ns, _, ok := strings.Cut(p.Name, ":"); ok && builtinNamespace[ns] {
			p.Poisoned = true
			d := c.Errorf(diag.UnknownFunction, p.Span, "there is no function %s", p.Name)
			if s, ok := vocabulary.SynonymOf(p.Name); ok {
				d.Help("did you mean %s?", s)
			} else if s, ok := diag.Suggest(p.Name, scalar.Names()); ok {
				d.Help("did you mean %s?", s)
				d.Replace(p.Span, s)
			} else {
				d.Help("the functions of %s are %s", ns, functionsOf(ns))
			}
			continue
		}
		// The search compares with every name of about the same length.
		if searches++; searches > maxSearches {
			continue
		}
		if s, ok := near.suggest(p.Name); ok && !numbered(s, p.Name) {
			p.Poisoned = true
			d := c.Errorf(diag.UnknownPredicate, p.Span, "there is no predicate %s", p.Name)
			d.At = "it has no rule, no fact and no declaration"
			other := c.preds[s]
			d.Label(other.Span, "%s is here", s)
			d.Help("did you mean %s? If %s is another predicate, whose facts come from outside, declare "+
				"it: %s", s, p.Name, p.DeclarationExample())
			d.Replace(p.Span, s)
		}
	}
}

// sameInOtherFile returns a predicate that has the name of a private one in
// another file, or nil.
func (c *checker) sameInOtherFile(p *pred) *pred {
	at := strings.LastIndexByte(p.Name, ':')
	if !p.Private() || at < 0 {
		return nil
	}
	for _, q := range c.order {
		if q != p && strings.HasSuffix(q.Name, p.Name[at:]) && q.exists() {
			return q
		}
	}
	return nil
}

// unknownPrivate reports $block:_p where no file has that block and predicate.
func (c *checker) unknownPrivate(p *pred) {
	p.Poisoned = true
	d := c.Errorf(diag.UnknownPredicate, p.Span, "there is no private predicate %s", p.Name[1:])
	own := p.Name[strings.LastIndexByte(p.Name, ':')+1:]
	for _, q := range c.order {
		if q != p && strings.HasSuffix(q.Name, ":"+own) && q.exists() {
			d.Help("did you mean $%s?", q.Name)
		}
	}
	d.Note("the predicates of a file whose names begin with _ belong to a block named after the file")
}

// maxSearches bounds the names for which a misspelling is looked for.
const maxSearches = 1000

// numbered reports whether two names differ in their digits only, as edge1 and
// edge2 do, which is no misspelling.
func numbered(a, b string) bool {
	undigit := func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}
	return strings.Map(undigit, a) == strings.Map(undigit, b)
}

func (p *pred) exists() bool {
	return p.Rules > 0 || p.facts+p.Loads > 0 || p.Family != nil || p.Maker != nil ||
		p.decl != nil || p.Given || p.fileBound || p.shapeRole != inBody || p.Hidden
}

// builtinNamespace has the first parts of the names of built-ins. Predicates of
// a program have other names.
var builtinNamespace = map[string]bool{
	"boolean": true, "int": true, "uint": true, "float": true, "decimal": true,
	"datetime": true, "string": true,
}

func functionsOf(namespace string) string {
	var out []string
	for _, name := range scalar.Names() {
		rest, ok := strings.CutPrefix(name, namespace+":")
		// The comparisons have symbols, which people will rather write.
		base, _, _ := strings.Cut(rest, "_")
		if ok && !strings.Contains(rest, ":") && !infer.Comparisons[base] {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

// neighbours finds the nearest known name among those of about the same length.
type neighbours struct {
	byLength map[int][]string
}

func newNeighbours(names []string) *neighbours {
	n := &neighbours{byLength: map[int][]string{}}
	for _, name := range names {
		n.byLength[len(name)] = append(n.byLength[len(name)], name)
	}
	return n
}

func (n *neighbours) suggest(name string) (string, bool) {
	var near []string
	span := max(1, len(name)/3)
	for l := len(name) - span; l <= len(name)+span; l++ {
		near = append(near, n.byLength[l]...)
	}
	return diag.Suggest(name, near)
}

// headAtom splits a head into its application and, for f[k] = v, its value.
func headAtom(h ast.Node) (*ast.Apply, ast.Node) {
	switch h := ast.Unparen(h).(type) {
	case *ast.Apply:
		return h, nil
	case *ast.Compare:
		if len(h.Ops) == 1 && h.Ops[0] == "=" {
			if a, ok := ast.Unparen(h.Operands[0]).(*ast.Apply); ok && a.Square {
				return a, h.Operands[1]
			}
			if a, ok := ast.Unparen(h.Operands[1]).(*ast.Apply); ok && a.Square {
				return a, h.Operands[0]
			}
		}
	}
	return nil, nil
}

// nameArguments names the arguments of a predicate that has no declaration
// after the variables of its first rule, and after its expressions.
func (c *checker) nameArguments(p *pred) {
	if len(p.ArgNames) == p.Arity && p.named {
		return
	}
	p.named = true
	if name, _, ok := core.Event(p.Name); ok && c.preds[name] != nil {
		c.nameArguments(c.preds[name])
		p.ArgNames = c.preds[name].ArgNames
		return
	}
	names, computed := make([]string, p.Arity), make([]string, p.Arity)
	if p.decl != nil {
		copy(names, p.ArgNames)
	} else if p.firstHead != nil {
		for i, t := range p.firstHead.Args {
			switch r, ok := t.(normal.Ref); {
			case ok && !r.Var.Made && !desugar.IsVariable(r.Var.Base):
				names[i] = normal.PlainName(r.Var.Base)
			case ok && i < len(p.firstArgs) && !(p.Functional() && i == p.Arity-1):
				computed[i] = expressionName(p.firstArgs[i])
			}
		}
	}
	taken := map[string]bool{}
	for i, name := range names {
		if name == "" || taken[name] {
			names[i] = ""
			continue
		}
		taken[name] = true
	}
	for i := range names {
		if names[i] != "" {
			continue
		}
		name := normal.ArgName(i)
		switch {
		case p.Functional() && i == p.Arity-1:
			name = "value"
		case computed[i] != "" && !taken[computed[i]]:
			name = computed[i]
		}
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s%d", normal.ArgName(i), n)
		}
		names[i], taken[name] = name, true
	}
	p.ArgNames = names
}
