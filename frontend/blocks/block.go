package blocks

import (
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// block is a file, or the contents of a block clause.
type block struct {
	path  []string // folders and name
	short string   // the shortest end of the path that no other block has
	named bool     // it is a block clause, not a file
	at    source.Span
	file  *ast.File

	clauses []*ast.Clause
	defines map[string]source.Span // where a clause defines each predicate
	// subtypes has the predicates that the block declares as subtypes.
	subtypes map[string]bool
	// entities has the entity types that the block declares. typings has the
	// types that its constraints give to arguments, by predicate.
	entities map[string]bool
	typings  map[string][]string
	exports  map[string]source.Span
	sealed   map[string]bool // the exports that are sealed
	alias    map[string]*reference
	all      []*reference
}

// reference is a name of another block, or of a predicate in one.
type reference struct {
	at   source.Span
	name string
	// block is the block, and pred is the predicate's name in it, or "".
	block *block
	pred  string
}

func newBlock(file *ast.File, path []string) *block {
	return &block{file: file, path: path, defines: map[string]source.Span{},
		subtypes: map[string]bool{}, entities: map[string]bool{},
		typings: map[string][]string{},
		exports: map[string]source.Span{}, sealed: map[string]bool{},
		alias: map[string]*reference{}}
}

// name returns the full name: folders and name.
func (b *block) name() string { return strings.Join(b.path, ":") }

// blocksOf returns the blocks of a file. The clauses outside of block clauses
// are a block too, which comes first.
func (r *resolver) blocksOf(f *ast.File) []*block {
	path := filePath(f.Source.Name)
	plain := newBlock(f, path)
	out := []*block{plain}
	for _, c := range f.Clauses {
		form, ref := blockForm(c)
		if form == nil {
			plain.clauses = append(plain.clauses, c)
			plain.define(c)
			continue
		}
		b := newBlock(f, append(slices.Clone(path[:len(path)-1]), strings.Split(ref.Name, ":")...))
		b.named, b.at = true, ref.Span
		for _, part := range form.Items {
			r.part(b, part)
		}
		out = append(out, b)
	}
	if len(plain.clauses) == 0 && len(out) > 1 {
		return out[1:]
	}
	return out
}

// Of returns the full names of the blocks in a file: those of its block
// clauses, or that of the file.
func Of(f *ast.File) []string {
	r := &resolver{Reporter: diag.NewReporter(&diag.List{})}
	var out []string
	for _, b := range r.blocksOf(f) {
		out = append(out, b.name())
	}
	return out
}

// blockForm returns the block of a block clause, and its name. It returns nil
// for other clauses.
func blockForm(c *ast.Clause) (*ast.Block, *ast.PredRef) {
	form, ok := c.Left.(*ast.Block)
	if !ok || c.Arrow != ast.MetaRule || c.Right != nil {
		return nil, nil
	}
	head, ok := form.Head.(*ast.Apply)
	if !ok || head.Name.Text != "block" || len(head.Args) != 1 {
		return nil, nil
	}
	ref, ok := head.Args[0].(*ast.PredRef)
	if !ok || ref.Name == "" {
		return nil, nil
	}
	return form, ref
}

// parts has the parts of a block, and the syntax of each for messages.
var parts = map[string]string{
	"alias": "alias(`block, `name)", "alias_all": "alias_all(`block)",
	"export": "export(`{ p(x) -> int(x). })", "sealed": "sealed(`{ p(x) -> int(x). })",
	"clauses": "clauses(`{ p(1). })",
}

// part adds a part of a block clause to the block.
func (r *resolver) part(b *block, part ast.Node) {
	if v, ok := part.(*ast.Var); ok && v.Name == "sealed" {
		part = &ast.Apply{Span: v.Span, Name: &ast.Name{Span: v.Span, Text: v.Name}}
	}
	a, ok := part.(*ast.Apply)
	if !ok || parts[a.Name.Text] == "" {
		d := r.Errorf(diag.BadBlock, part.Pos(), "this is no part of a block")
		if ok {
			if s, ok := diag.Suggest(a.Name.Text, partNames()); ok {
				d.Help("did you mean %s?", s)
				return
			}
		}
		d.Help("the parts of a block are %s", strings.Join(partNames(), ", "))
		return
	}
	var refs []*ast.PredRef
	for _, x := range a.Args {
		if ref, ok := x.(*ast.PredRef); ok {
			refs = append(refs, ref)
		}
	}
	fits := len(refs) == len(a.Args)
	switch {
	case !fits:
	case a.Name.Text == "alias":
		if fits = len(refs) == 2 && refs[0].Name != "" && refs[1].Name != ""; fits {
			b.alias[refs[1].Name] = &reference{at: refs[0].Span, name: refs[0].Name}
		}
	case a.Name.Text == "alias_all":
		if fits = len(refs) == 1 && refs[0].Name != ""; fits {
			b.all = append(b.all, &reference{at: refs[0].Span, name: refs[0].Name})
		}
	default:
		fits = b.contents(a.Name.Text, refs)
	}
	if !fits {
		d := r.Errorf(diag.BadBlock, part.Pos(), "%s does not take these arguments", a.Name.Text)
		d.Help("write %s", parts[a.Name.Text])
	}
}

func partNames() []string { return []string{"alias", "alias_all", "export", "sealed", "clauses"} }

// contents adds the clauses of export, sealed or clauses. It reports whether
// the arguments fit.
func (b *block) contents(part string, refs []*ast.PredRef) bool {
	if part == "sealed" && len(refs) == 0 {
		b.sealed["*"] = true
		return true
	}
	for _, ref := range refs {
		if ref.Name != "" && part == "clauses" {
			return false
		}
		if ref.Name != "" {
			b.export(part, ref.Name, ref.Span)
		}
		for _, c := range ref.Clauses {
			b.clauses = append(b.clauses, c)
			b.define(c)
			if part != "clauses" {
				for _, n := range defined(c) {
					b.export(part, n.Text, n.Span)
				}
			}
		}
	}
	return len(refs) > 0
}

func (b *block) export(part, name string, at source.Span) {
	if _, ok := b.exports[name]; !ok {
		b.exports[name] = at
	}
	if part == "sealed" {
		b.sealed[name] = true
	}
}

func (b *block) isSealed(name string) bool { return b.sealed[name] || b.sealed["*"] }

// define enters the predicates that a clause defines.
func (b *block) define(c *ast.Clause) {
	if sub, ok := subtype(c); ok {
		b.subtypes[sub] = true
	}
	if entity, ok := entity(c); ok {
		b.entities[entity] = true
	}
	if name, types := typing(c); len(types) > 0 {
		b.typings[name] = append(b.typings[name], types...)
	}
	for _, n := range defined(c) {
		if _, ok := b.defines[n.Text]; !ok {
			b.defines[n.Text] = n.Span
		}
	}
}

// defined returns the predicates that a clause defines: those of the heads of a
// rule, those on the left of a declaration, and those that a directive is
// about.
func defined(c *ast.Clause) []*ast.Name {
	if c.Arrow == ast.MetaRule || c.Arrow == ast.MetaConstraint ||
		c.Arrow == ast.Constraint && !declares(c.Right) {
		return nil
	}
	var out []*ast.Name
	for _, a := range heads(c.Left) {
		if !strings.HasPrefix(a.Name.Text, "lang:") {
			out = append(out, a.Name)
			continue
		}
		for _, x := range a.Args {
			if ref, ok := x.(*ast.PredRef); ok && ref.Name != "" {
				out = append(out, &ast.Name{Span: ref.Span, Text: ref.Name})
			}
		}
	}
	return out
}

// subtype returns the predicate sub of a clause sub(x) -> super(x), which
// declares a subtype if super is an entity type.
func subtype(c *ast.Clause) (string, bool) {
	if c.Arrow != ast.Constraint {
		return "", false
	}
	sub, ok := ast.Unparen(c.Left).(*ast.Apply)
	super, isAtom := ast.Unparen(c.Right).(*ast.Apply)
	if !ok || !isAtom || len(sub.Args) != 1 || len(super.Args) != 1 {
		return "", false
	}
	x, ok := sub.Args[0].(*ast.Var)
	y, isVar := super.Args[0].(*ast.Var)
	return sub.Name.Text, ok && isVar && x.Name == y.Name
}

// entity returns the type that E(x) -> . or E(x), E:id(x:s) -> string(s)
// declares.
func entity(c *ast.Clause) (string, bool) {
	left := heads(c.Left)
	if c.Arrow != ast.Constraint || len(left) == 0 || len(left[0].Args) != 1 {
		return "", false
	}
	name := left[0].Name.Text
	ok := len(left) == 1 && c.Right == nil ||
		len(left) == 2 && strings.HasPrefix(left[1].Name.Text, name+":")
	return name, ok
}

// typing returns the predicate on the left of a constraint, and the predicates
// of one argument on its right. If one of these is a type, the constraint is a
// declaration.
func typing(c *ast.Clause) (name string, types []string) {
	left := heads(c.Left)
	if c.Arrow != ast.Constraint || len(left) != 1 {
		return "", nil
	}
	for _, a := range heads(c.Right) {
		if len(a.Args) == 1 && !a.Square {
			types = append(types, a.Name.Text)
		}
	}
	return left[0].Name.Text, types
}

// declares reports whether a constraint with this right side is a declaration:
// the side is empty or has a primitive type.
func declares(right ast.Node) bool {
	found := right == nil
	ast.Inspect(right, func(n ast.Node) bool {
		if a, ok := n.(*ast.Apply); ok {
			found = found || scalar.IsPrimitive(a.Name.Text)
		}
		return !found
	})
	return found
}

// heads returns the atoms of a head.
func heads(n ast.Node) []*ast.Apply {
	switch n := ast.Unparen(n).(type) {
	case *ast.Apply:
		return []*ast.Apply{n}
	case *ast.Conj:
		var out []*ast.Apply
		for _, x := range n.Items {
			out = append(out, heads(x)...)
		}
		return out
	case *ast.Compare:
		for _, x := range n.Operands {
			if a, ok := ast.Unparen(x).(*ast.Apply); ok && a.Square {
				return []*ast.Apply{a}
			}
		}
	}
	return nil
}
