package abi

import (
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// TestText runs testdata: a text is parsed, verified and printed, or the failure
// shown.
func TestText(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			m, err := Parse("test.abi", d.Input)
			if err == nil {
				err = Verify(m)
			}
			if err != nil {
				return err.Error() + "\n"
			}
			return m.String()
		})
	})
}

// TestNames wants a word for every role, form and kind that is declared, no word
// twice.
func TestNames(t *testing.T) {
	file, err := goparser.ParseFile(token.NewFileSet(), "abi.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]int{} // constants of each type
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		typ := ""
		for _, spec := range group.Specs {
			v := spec.(*ast.ValueSpec)
			if id, ok := v.Type.(*ast.Ident); ok {
				typ = id.Name
			}
			declared[typ] += len(v.Names)
		}
	}
	for typ, names := range map[string][]string{"Role": roleNames[:], "Form": formNames[:], "Kind": kindNames[:]} {
		if len(names) != declared[typ] {
			t.Errorf("%d names of %d constants of type %s", len(names), declared[typ], typ)
		}
		seen := map[string]bool{}
		for i, name := range names {
			if name == "" || seen[name] {
				t.Errorf("%s %d is called %q", typ, i, name)
			}
			seen[name] = true
		}
	}
}

// TestRoundTrip prints random modules and parses them.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(300) {
		m := randomModule(rand.New(rand.NewPCG(seed, 0)))
		text := m.String()
		again, err := Parse("again.abi", text)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if !reflect.DeepEqual(m, again) {
			t.Fatalf("seed %d: the module changes when it is printed and parsed:\n%s\n%s", seed, text, again)
		}
	}
}

// randomModule makes a module that need not mean anything. Lists that are empty
// are nil, as in one that was parsed.
func randomModule(rng *rand.Rand) *Module {
	names := []string{"edge", "lineitem:quantity", "_", "a b", "`", "é", "true", "12", "scratch", "domain"}
	name := func() string { return names[rng.IntN(len(names))] }
	values := []scalar.Value{
		scalar.OfInt(scalar.IntType, -5), scalar.OfInt(scalar.UintOf(8), 200), scalar.OfBool(true),
		scalar.OfFloat(scalar.FloatType, 0.1), scalar.OfDecimal(2, -1999), scalar.OfDecimal(0, 7),
		scalar.OfDatetime(1), scalar.OfString("a\n\"b\" // _"), scalar.OfString(""),
	}
	value := func() scalar.Value { return values[rng.IntN(len(values))] }
	typ := func() scalar.Type { return value().Type }
	ints := func() (out []int) {
		for range rng.IntN(3) {
			out = append(out, rng.IntN(9))
		}
		return out
	}
	m := &Module{Target: []string{"cpu", "gpu:sm_90"}[rng.IntN(2)]}
	for range rng.IntN(3) {
		t := Table{Func: name(), String: rng.IntN(3), Result: typ(), In: rng.IntN(5), Out: rng.IntN(5)}
		for i := range 3 {
			t.Args = append(t.Args, value())
			if i == t.String {
				t.Args[i] = scalar.Value{}
			}
		}
		m.Tables = append(m.Tables, t)
	}
	for i := range rng.IntN(4) {
		e := &Entry{Symbol: fmt.Sprint(name(), i), Role: Role(rng.IntN(len(roleNames))), Of: name(),
			Threads: 1 + rng.IntN(256), Items: 1 + rng.IntN(1024), Scratch: rng.IntN(2) * 36, Expansions: rng.IntN(3)}
		for range rng.IntN(6) {
			p := Param{Kind: Kind(rng.IntN(len(kindNames))), Index: rng.IntN(3)}
			if rng.IntN(2) == 0 {
				p.Var = name()
			}
			e.Params = append(e.Params, p)
		}
		for range rng.IntN(3) {
			e.Literals = append(e.Literals, Literal{value(), rng.IntN(3)})
		}
		for range rng.IntN(3) {
			h := Host{Func: name(), Result: typ(), Domains: ints(), Domain: rng.IntN(3)}
			for range rng.IntN(3) {
				h.Args = append(h.Args, typ())
			}
			e.Hosts = append(e.Hosts, h)
		}
		m.Entries = append(m.Entries, e)
	}
	return m
}

// FuzzParse wants that no text makes Parse panic, and that what it reads is
// printed and read as the same.
func FuzzParse(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(randomModule(rand.New(rand.NewPCG(seed, 0))).String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse("fuzz.abi", text)
		if err != nil {
			return
		}
		_ = Verify(m) // either answer will do
		again, err := Parse("again.abi", m.String())
		if err != nil || again.String() != m.String() {
			t.Errorf("%v\n%s\n%s", err, m, strings.TrimSpace(text))
		}
	})
}
