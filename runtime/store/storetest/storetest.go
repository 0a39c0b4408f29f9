package storetest

import (
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// wordsOfType returns the types of the columns of a type.
func wordsOfType(t scalar.Type) []scalar.Type {
	if !t.IsWide() {
		return []scalar.Type{t}
	}
	return []scalar.Type{t.WordOf(scalar.High), t.WordOf(scalar.Low)}
}

// Predicate is a schema from "name(x:int, y:string)" or "name[x:int]=v:float".
func Predicate(t testing.TB, text string) store.Schema {
	t.Helper()
	name, rest, _ := strings.Cut(text, "(")
	s := store.Schema{}
	var keys, values string
	if rest != "" {
		keys = strings.TrimSuffix(rest, ")")
	} else {
		name, rest, _ = strings.Cut(text, "[")
		// Types may have brackets, too: the keys end at "]=".
		keys, values, _ = strings.Cut(rest, "]=")
	}
	s.Name = name
	args := func(list string) (n int) {
		if list == "" {
			return 0
		}
		for _, a := range strings.Split(list, "; ") {
			arg, typ, _ := strings.Cut(a, ":")
			parsed, ok := scalar.ParseType(typ)
			if !ok {
				t.Fatalf("%s: no type %q", text, typ)
			}
			words := wordsOfType(parsed)
			for _, t := range words {
				s.Args = append(s.Args, store.Field{Name: arg, Type: t})
			}
			n += len(words)
		}
		return n
	}
	s.Keys = args(keys)
	args(values)
	return s
}

// Tuples renders a relation's tuples in their order.
func Tuples(r *store.Relation) []string {
	out := make([]string, r.Rows())
	for i := range out {
		var row []scalar.Value
		for c := range r.Cols {
			row = append(row, r.Column(c).Value(i))
		}
		var cells []string
		for _, v := range scalar.JoinedRow(row) {
			cells = append(cells, scalar.Literal(v))
		}
		out[i] = strings.Join(cells, " ")
	}
	return out
}
