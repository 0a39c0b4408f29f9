package sema

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// pred is what is known of one predicate.
type pred struct {
	name  string
	index int         // position in checker.order
	span  source.Span // first appearance
	arity int
	keys  int // arity for a relation
	split bool

	// shapeRole and shapeSpan say which occurrence decided the arity; keysRole
	// and keysSpan the same for the keys.
	shapeRole, keysRole role
	shapeSpan, keysSpan source.Span

	decl      *declaration // the first that declares it, or nil
	columns   []int        // type nodes of the arguments
	declared  []declaredType
	argNames  []string
	named     bool  // argNames are final
	firstHead *atom // of its first rule or fact

	query       bool
	rules       int // clauses with it as head that are not facts
	facts       int
	uses        int  // occurrences outside heads and declarations
	external    bool // facts are bound from outside
	fileBound   bool // a directive says where its facts come from
	poisoned    bool // something about it is wrong and reported
	orderBy     []core.OrderKey
	limit       int64
	file        *core.FileBinding
	fileMode    bool        // lang:physical:fileMode was given
	ruleSpan    source.Span // the first rule that derives it
	extensional source.Span // of the directive that says so
	core        *core.Pred
}

// declaredType is the type that a declaration gives a column.
type declaredType struct {
	scalar.Type
	span source.Span
}

func (p *pred) functional() bool { return p.keys < p.arity }

// shape describes how the predicate is written: edge(x, y) or f[k] = v.
func (p *pred) shape() string {
	names := p.argNames
	if len(names) != p.arity {
		names = make([]string, p.arity)
		for i := range names {
			names[i] = argName(i)
		}
	}
	return written(p.name, names, p.keys)
}

func written(name string, args []string, keys int) string {
	switch {
	case keys == len(args):
		return fmt.Sprintf("%s(%s)", name, strings.Join(args, ", "))
	case keys == len(args)-1:
		return fmt.Sprintf("%s[%s] = %s", name, strings.Join(args[:keys], ", "), args[keys])
	}
	return fmt.Sprintf("%s(%s; %s)", name, strings.Join(args[:keys], ", "), strings.Join(args[keys:], ", "))
}

func argName(i int) string {
	const letters = "xyzuvw"
	if i < len(letters) {
		return letters[i : i+1]
	}
	return fmt.Sprintf("x%d", i+1)
}

// role says in what part of the program a predicate occurs; a smaller role
// decides its shape.
type role uint8

const (
	declaring role = iota
	inHead
	inBody
	unseen
)

// shapeOf returns the number of arguments of an application with its value, and
// how many of them are keys, -1 if the form does not say.
func shapeOf(a *ast.Apply) (arity, keys int) {
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
		// The predicates of a refused clause exist, but nothing is known of
		// them, so that their other uses are not called unknown.
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
		c.collectBody(cl.heads[0])
		c.collectBody(cl.body)
	case ruleClause:
		isFact := cl.body == nil && cl.node.Update == ""
		for _, h := range cl.heads {
			a, value := headAtom(h)
			if a == nil {
				continue
			}
			p := c.occurrence(a, inHead)
			if p != nil {
				if isFact && !hasApplication(a.Args) && (value == nil || !hasApplication([]ast.Node{value})) {
					p.facts++
				} else {
					p.rules++
				}
			}
			for _, arg := range a.Args {
				c.collectBody(arg)
			}
			c.collectBody(value)
		}
		c.collectBody(cl.body)
		if cl.node.P2P != nil {
			for _, s := range cl.node.P2P.Specs {
				c.collectBody(s.In)
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
			p.poisoned = true
			p.uses++
		}
		return true
	}
	ast.Inspect(cl.node.Left, visit)
	ast.Inspect(cl.node.Right, visit)
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
		p.shapeRole, p.shapeSpan, p.arity = r, a.Span, arity
	}
	if keys >= 0 && r < p.keysRole && (r == p.shapeRole || arity == p.arity) {
		p.keysRole, p.keysSpan, p.keys = r, a.Span, keys
		p.split = a.Split >= 0
	}
	if r == inBody {
		p.uses++
	}
	if name[0] == '_' && a.Name.Text == "_" {
		p.query = true
	}
	return p
}

func (c *checker) enter(name string, span source.Span) *pred {
	p := c.preds[name]
	if p == nil {
		p = &pred{
			name: name, index: len(c.order), span: span,
			shapeRole: unseen, keysRole: unseen, limit: -1,
			external: c.opts.External[name],
		}
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
		if q.arity == arity && q.keys == keys {
			return q.name
		}
	}
	name := "_"
	for n := len(c.queries) + 1; n > 1 && (name == "_" || c.preds[name] != nil); n++ {
		name = fmt.Sprintf("_%d", n)
	}
	p := c.enter(name, a.Name.Span)
	p.arity, p.keys, p.query = arity, keys, true
	c.queries = append(c.queries, p)
	return name
}

// settleShapes completes the shapes that the occurrences gave.
func (c *checker) settleShapes() {
	for _, p := range c.order {
		if p.keysRole == unseen || p.keysRole > declaring && p.shapeRole == declaring {
			// A relation: declared so, or never used with a value.
			p.keys = p.arity
		}
		p.keys = min(p.keys, p.arity)
		p.columns = make([]int, p.arity)
		for i := range p.columns {
			p.columns[i] = c.types.column(p, i)
		}
		p.declared = make([]declaredType, p.arity)
	}
}

// resolveNames refuses names that mean nothing: a predicate that occurs only in
// bodies and resembles one that exists is taken for misspelt. One that resembles
// nothing is extensional, with types by inference.
func (c *checker) resolveNames() {
	asType := map[*pred]bool{} // stands for a type in a declaration
	for _, cl := range c.clauses {
		if cl.decl == nil {
			continue
		}
		c.declare(cl)
		for _, item := range conjuncts(cl.body) {
			if a, ok := ast.Unparen(item).(*ast.Apply); ok && !a.Square && len(a.Args) == 1 && c.preds[a.Name.Text] != nil {
				asType[c.preds[a.Name.Text]] = true
			}
		}
	}
	for _, d := range c.directives {
		if (d.name == "physical:filePath" || d.name == "derivationType") && d.pred != nil && c.preds[d.pred.Name] != nil {
			c.preds[d.pred.Name].fileBound = true
		}
	}
	var known []string
	for _, p := range c.order {
		if p.exists() {
			known = append(known, p.name)
		}
	}
	near := newNeighbours(known)
	searches := 0
	for _, p := range c.order {
		if p.exists() || p.poisoned {
			continue
		}
		if asType[p] {
			c.unknownType(p, near)
			continue
		}
		if ns, _, ok := strings.Cut(p.name, ":"); ok && builtinNamespace[ns] {
			p.poisoned = true
			d := c.Errorf(diag.UnknownFunction, p.span, "there is no function %s", p.name)
			if s, ok := diag.Suggest(p.name, scalar.Names()); ok {
				d.Help("did you mean %s?", s)
			} else {
				d.Help("the functions of %s are %s", ns, functionsOf(ns))
			}
			continue
		}
		// The search compares with every name of about the same length.
		if searches++; searches > maxSearches {
			continue
		}
		if s, ok := near.suggest(p.name); ok && !numbered(s, p.name) {
			p.poisoned = true
			d := c.Errorf(diag.UnknownPredicate, p.span, "there is no predicate %s", p.name)
			d.At = "it has no rule, no fact and no declaration"
			other := c.preds[s]
			d.Label(other.span, "%s is here", s)
			d.Help("did you mean %s? If %s is another predicate, whose facts come from outside, declare it: %s", s, p.name, p.declarationExample())
		}
	}
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
	return p.rules > 0 || p.facts > 0 || p.decl != nil || p.external || p.fileBound || p.shapeRole != inBody
}

// declarationExample is a declaration of the predicate as a user would write it.
func (p *pred) declarationExample() string {
	types := make([]string, p.arity)
	for i := range types {
		types[i] = fmt.Sprintf("int(%s)", argName(i))
	}
	names := make([]string, p.arity)
	for i := range names {
		names[i] = argName(i)
	}
	if p.arity == 0 {
		return p.name + "() -> ."
	}
	return written(p.name, names, p.keys) + " -> " + strings.Join(types, ", ") + "."
}

// builtinNamespace has the first parts of the built-ins' names; a predicate
// of the program is not named so.
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
		if ok && !strings.Contains(rest, ":") && !comparisons[base] {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

// neighbours answers which known name is nearest, looking only at names of
// about the same length.
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
