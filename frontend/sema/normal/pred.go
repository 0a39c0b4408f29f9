package normal

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Pred is a predicate as rules see it.
type Pred struct {
	Name  string
	Span  source.Span // first appearance
	Arity int
	Keys  int // arity for a relation

	Columns  []int          // type nodes of the arguments
	Declared []DeclaredType // of the arguments; the zero type where there is none
	ArgNames []string

	// EntityTypes has the entity type that a declaration gives a column, or
	// nil.
	EntityTypes []*Pred
	// Family is set if the predicate is an entity type, and Supers has the
	// types directly above it. Maker is set if it is a refmode or a
	// constructor.
	Family *Family
	Supers []*Pred
	Maker  *Maker
	// Auto is set if the predicate is a refmode whose values are the numbers of
	// the entities of a type.
	Auto *Pred

	Query    bool
	Hidden   bool   // made by the compiler
	Constant bool   // has the constants of a set, which need not be entities
	Source   string // the predicate whose facts it holds, if that is another one
	Rules    int    // clauses with it as head that are not facts
	Loads    int    // clauses that add to it by + and are not facts
	Given    bool   // facts are bound from outside
	View     bool   // computed only where it is asked for
	Poisoned bool   // something about it is wrong and reported
	Keeps    core.Keep
	Iterates *core.Iteration
	OrderBy  []core.OrderKey
	Limit    int64 // -1 when there is none
	File     *core.FileBinding
	Core     *core.Pred // what it becomes, once types are known
}

// DeclaredType is the type that a declaration gives a column.
type DeclaredType struct {
	scalar.Type
	Span source.Span
}

// Functional reports whether the leading arguments determine the rest.
func (p *Pred) Functional() bool { return p.Keys < p.Arity }

// Private reports whether the predicate is a helper of its file: whether its
// name begins with an underscore, behind that of its block.
func (p *Pred) Private() bool {
	return p.Name[strings.LastIndexByte(p.Name, ':')+1] == '_'
}

// Shape describes how the predicate is written: edge(x, y) or f[k] = v.
func (p *Pred) Shape() string { return p.Written(p.Keys) }

// Written describes the predicate with another number of keys.
func (p *Pred) Written(keys int) string { return core.AtomText(p.Name, keys, p.Names()) }

// Names returns the names of the arguments, made up where they are not known.
func (p *Pred) Names() []string {
	if len(p.ArgNames) == p.Arity {
		return p.ArgNames
	}
	return madeUpNames(p.Arity)
}

func madeUpNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = ArgName(i)
	}
	return names
}

// ArgName returns the name of an argument that has none.
func ArgName(i int) string {
	const letters = "xyzuvw"
	if i < len(letters) {
		return letters[i : i+1]
	}
	return fmt.Sprintf("x%d", i+1)
}

// DeclarationExample is a declaration of the predicate as a user would write
// it.
func (p *Pred) DeclarationExample() string {
	types := make([]string, p.Arity)
	for i := range types {
		types[i] = "int"
	}
	return p.Declaration(madeUpNames(p.Arity), types)
}

// Declaration writes the declaration of the predicate with types.
func (p *Pred) Declaration(names, types []string) string {
	if p.Arity == 0 {
		return p.Name + "() -> ."
	}
	atoms := make([]string, p.Arity)
	for i := range atoms {
		atoms[i] = types[i] + "(" + names[i] + ")"
	}
	return core.AtomText(p.Name, p.Keys, names) + " -> " + strings.Join(atoms, ", ") + "."
}

var ordinals = [...]string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh",
	"eighth", "ninth"}

// ColumnName names a column in words: "the second argument of edge".
func (p *Pred) ColumnName(i int) string {
	name := p.Name
	if end := strings.IndexByte(name, '#'); end > 0 {
		name = name[:end]
	}
	switch {
	case p.Keys == p.Arity-1 && i == p.Keys:
		return "the value of " + name
	case p.Functional() && i < p.Keys && p.Keys == 1:
		return "the key of " + name
	case p.Arity == 1:
		return "the argument of " + name
	case i < len(ordinals):
		return "the " + ordinals[i] + " argument of " + name
	}
	return fmt.Sprintf("argument %d of %s", i+1, name)
}

// PlainName is a variable's name without the `?` of the older dialect.
func PlainName(name string) string { return strings.TrimPrefix(name, "?") }
