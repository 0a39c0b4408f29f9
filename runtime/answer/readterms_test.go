package answer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/randvalue"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/store"
)

// signature is makers of entities and the types of their keys. A family stands
// for the type of its entities.
type signature []signed

type signed struct {
	name, family string
	refmode      bool
	keys         []any // of type scalar.Type, or the name of a family
}

// allKeys has a constructor for every type, families that contain one another,
// and a refmode beside constructors.
func allKeys() signature {
	sign := signature{
		{name: "a:id", family: "a", refmode: true, keys: []any{scalar.StringType}},
		{name: "nil", family: "a"},
		{name: "pair", family: "a", keys: []any{"a", "a"}},
		{name: "pairs", family: "a", keys: []any{"b", scalar.StringType, "a"}},
		{name: "n:id", family: "c", refmode: true, keys: []any{scalar.WideDecimalOf(2)}},
		{name: "of", family: "c", keys: []any{"a"}},
	}
	for _, t := range []scalar.Type{scalar.BooleanType, scalar.IntOf(8), scalar.IntType,
		scalar.UintOf(16), scalar.UintType, scalar.FloatType, {Kind: scalar.Float, Bits: 32},
		scalar.DecimalOf(0), scalar.DecimalType, scalar.WideDecimalOf(2), scalar.WideDecimalOf(30),
		scalar.DatetimeType, scalar.StringType} {
		sign = append(sign, signed{name: fmt.Sprintf("k%d", len(sign)), family: "b",
			keys: []any{t, scalar.IntType, t}})
	}
	return sign
}

// reader returns a reader of the makers and where they have entities.
func (s signature) reader() (*TermReader, []Shape) {
	r := NewTermReader()
	var shapes []Shape
	for _, m := range s {
		families, types := []string{}, []scalar.Type{}
		for _, k := range m.keys {
			if f, ok := k.(string); ok {
				families, types = append(families, f), append(types, scalar.IntType)
			} else {
				families, types = append(families, ""), append(types, k.(scalar.Type))
			}
		}
		shape := NewShape(m.name, append(families, m.family),
			&Maker{Name: m.name, Family: m.family, Refmode: m.refmode})
		r.Add(*shape.Maker, types, m.name, "")
		shapes = append(shapes, shape)
	}
	return r, shapes
}

// term writes a random term of a family as results show it.
func (s signature) term(r *rand.Rand, family string, depth int) string {
	var of []signed
	for _, m := range s {
		isDeep := slices.ContainsFunc(m.keys, func(k any) bool { _, ok := k.(string); return ok })
		if m.family == family && (depth > 0 || !isDeep) {
			of = append(of, m)
		}
	}
	m := of[r.IntN(len(of))]
	keys := make([]string, len(m.keys))
	for i, k := range m.keys {
		if f, ok := k.(string); ok {
			keys[i] = s.term(r, f, depth-1)
		} else {
			keys[i] = scalar.KeyLiteral(randomKey(r, k.(scalar.Type)))
		}
	}
	if m.refmode {
		return keys[0]
	}
	return m.name + "[" + strings.Join(keys, ", ") + "]"
}

// randomKey returns one of few values of a type, so that terms share parts.
func randomKey(r *rand.Rand, t scalar.Type) scalar.Value {
	if r.IntN(2) == 0 {
		r = rand.New(rand.NewPCG(uint64(r.IntN(5)), 0))
	}
	if t.Kind == scalar.String && r.IntN(2) == 0 {
		return scalar.OfString([]string{"nil[]", "", "pair", `a"], [`, "k9[\\]\n\x01"}[r.IntN(5)])
	}
	return randvalue.Of(r, t)
}

// show returns the terms of a column of numbers.
func show(t *testing.T, reader *TermReader, shapes []Shape, family string,
	numbers *store.Column) []string {
	t.Helper()
	relations := map[string]*Relation{}
	of := func(rel *store.Relation, names []string) *Relation {
		return New(&queryplan.Var{Name: rel.Name, Limit: -1}, names, rel, nil, 1)
	}
	for _, rel := range reader.Relations() {
		relations[rel.Name] = of(rel, rel.Table.Names)
	}
	table := &store.Table{Columns: []*store.Column{numbers}, Rows: numbers.Len()}
	relations["x"] = of(&store.Relation{Name: "x", Table: table, Cols: []int{0}}, []string{"x"})
	shown, err := Show(append(slices.Clone(shapes), NewShape("x", []string{family}, nil)), relations)
	if err == nil {
		err = shown["x"].Fetch(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for row := range numbers.Len() {
		out = append(out, shown["x"].Columns()[0].Value(row).Str())
	}
	return out
}

// TestTermsReadBack reads random terms of every type of key. Equal terms have
// equal numbers, and results show the same terms.
func TestTermsReadBack(t *testing.T) {
	sign := allKeys()
	r := rand.New(rand.NewPCG(5, 8))
	for range 200 {
		reader, shapes := sign.reader()
		for _, family := range []string{"b", "a", "c"} {
			var texts []string
			b := store.NewBuilder(scalar.StringType, nil)
			for range 30 {
				texts = append(texts, shownAlone(sign.term(r, family, 4)))
				b.AppendValue(scalar.OfString(texts[len(texts)-1]))
			}
			column, err := reader.Column(family, b.Finish(),
				func(row int, err *TermError) error { return err })
			if err != nil {
				t.Fatal(err)
			}
			if column.Repeats {
				t.Fatal("an entity has two spellings among", texts)
			}
			numbers := column.Numbers()
			for i, text := range show(t, reader, shapes, family, numbers) {
				if text != texts[i] {
					t.Fatalf("%s is shown as %s", texts[i], text)
				}
				for j := range i {
					if same := numbers.Word(i) == numbers.Word(j); same != (texts[i] == texts[j]) {
						t.Fatalf("%s and %s are one entity: %t", texts[i], texts[j], same)
					}
				}
			}
		}
	}
}

// shownAlone returns what a term that is no part of another one shows as: the
// value of a refmode, without quotes unless it looks like a term.
func shownAlone(term string) string {
	if v, err := scalar.ParseLiteral(term); err == nil && v.Type == scalar.StringType {
		name, _, called := strings.Cut(v.Str(), "[")
		if called && slices.Contains([]string{"nil", "pair", "pairs"}, name) ||
			strings.HasPrefix(v.Str(), `"`) {
			return term
		}
		return v.Str()
	}
	return term
}

func TestTermsHaveOtherSpellings(t *testing.T) {
	sign := allKeys()
	reader, shapes := sign.reader()
	for _, c := range []struct{ family, text, want string }{
		{"a", `pair[nil[],nil[]]`, "pair[nil[], nil[]]"},
		{"a", ` nil[]`, " nil[]"}, // the value of a refmode
		{"a", `pair [ nil[] , "nil[]" ]`, `pair[nil[], "nil[]"]`},
		{"a", `"x"`, "x"},
		{"a", `nil`, "nil"},
		{"c", "1.5", "1.50"},
		{"c", "of[x]", ""},
		{"c", `of["x"]`, `of["x"]`},
		{"a", "pair[nil[]]", ""},
		{"a", "pair[nil[], nil[]", ""},
		{"a", "nil[]]", ""},
		{"a", `"x`, ""},
		{"b", "", ""},
	} {
		b := store.NewBuilder(scalar.StringType, nil)
		b.AppendValue(scalar.OfString(c.text))
		column, err := reader.Column(c.family, b.Finish(),
			func(row int, err *TermError) error { return err })
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%s is an entity of %s", c.text, c.family)
		case c.want != "" && err != nil:
			t.Error(err)
		case c.want != "":
			if got := show(t, reader, shapes, c.family, column.Numbers()); got[0] != c.want {
				t.Errorf("%s is shown as %s", c.text, got[0])
			}
		}
	}
}

// TestDeepTerm reads a term that is deeper than a stack of calls may be.
func TestDeepTerm(t *testing.T) {
	const depth = 300_000
	reader, _ := signature{{name: "s", family: "a", keys: []any{"a"}},
		{name: "z", family: "a"}}.reader()
	id, wrong := reader.number("a", strings.Repeat("s[", depth)+"z[]"+strings.Repeat("]", depth))
	if wrong != nil || id != depth {
		t.Errorf("the term has number %d, and the error %v", id, wrong)
	}
	if _, wrong := reader.number("a", strings.Repeat("s[", depth)); wrong == nil {
		t.Error("a term without an end is an entity")
	}
}

// FuzzTerms reads a field. What is an entity is shown as a field that is the
// same entity.
func FuzzTerms(f *testing.F) {
	sign := allKeys()
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 30 {
		f.Add(uint8(i), sign.term(r, string("abc"[i%3]), 3))
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		reader, shapes := sign.reader()
		family := string("abc"[which%3])
		id, wrong := reader.number(family, text)
		if wrong != nil {
			if len(reader.numbers) > 0 {
				t.Fatalf("%q is no entity and makes entities", text)
			}
			return
		}
		numbers := store.ColumnOf(scalar.IntType, []int64{id}, nil)
		shown := show(t, reader, shapes, family, numbers)[0]
		if again, wrong := reader.number(family, shown); wrong != nil || again != id {
			t.Fatalf("%q is shown as %q, which is number %d, not %d: %v", text, shown, again, id, wrong)
		}
	})
}
