package facts

import (
	"strings"

	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/read"
)

// Predicate describes a predicate that takes facts.
type Predicate struct {
	Name string
	Keys int // leading arguments that determine the rest
	Args []Argument
}

// Argument is the name and the type of an argument of a predicate.
type Argument struct {
	Name string
	Type scalar.Type
}

// Slices returns facts of predicates in the form of Columns, or nil for a
// predicate without facts.
type Slices func([]Predicate) ([][]any, error)

// Typed adds facts of a predicate, and of those whose names begin with its name
// and a colon, once their types are known.
func (f *Sources) Typed(pred string, slices Slices) *Sources {
	f.values = append(f.values, given{pred: pred, slices: slices})
	return f
}

// addSlices adds the relations of facts that Typed was given.
func addSlices(parts map[string][]*store.Relation, schemas []store.Schema, x given) error {
	var found []store.Schema
	var list []Predicate
	for _, s := range schemas {
		if s.Name != x.pred && !strings.HasPrefix(s.Name, x.pred+":") {
			continue
		}
		p := Predicate{Name: s.Name}
		for i, a := range s.Args {
			if a.Type.Word == scalar.Low {
				continue
			}
			p.Args = append(p.Args, Argument{a.Name, a.Type.Joined()})
			if i < s.Keys {
				p.Keys++
			}
		}
		found, list = append(found, s), append(list, p)
	}
	if found == nil {
		return &failure.Environment{
			Message: "the program has no predicate " + x.pred + " that takes facts"}
	}
	columns, err := x.slices(list)
	if err != nil {
		return err
	}
	for i, s := range found {
		if columns[i] == nil {
			continue
		}
		rel, err := read.FromSlices(s, columns[i]...)
		if err != nil {
			return err
		}
		parts[s.Name] = append(parts[s.Name], rel)
	}
	return nil
}
