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

// TestText runs testdata: a text is parsed, verified and printed, or the
// failure shown.
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

// TestNames wants a word for every role, form and kind that is declared, no
// word twice.
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
	for typ, names := range map[string][]string{"Role": roleNames[:], "Form": formNames[:],
		"Kind": kindNames[:]} {
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
			t.Fatalf("seed %d: the module changes when it is printed and parsed:\n%s\n%s", seed,
				text, again)
		}
	}
}

// randomModule makes a module that need not mean anything. Lists that are empty
// are nil, as in one that was parsed.
func randomModule(rng *rand.Rand) *Module {
	names := []string{"edge", "lineitem:quantity", "_", "a b", "`", "é", "true", "12", "scratch",
		"domain"}
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
		t := Table{Func: name(), String: rng.IntN(3), Result: typ(), In: rng.IntN(5),
			Out: rng.IntN(5)}
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
			Threads: 1 + rng.IntN(256), Items: 1 + rng.IntN(1024), Scratch: rng.IntN(2) * 36,
			Expansions: rng.IntN(3)}
		e.Dynamic = rng.IntN(2) * e.Scratch
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

// TestStart wants workers to have all tiles once, and those that share a tile
// all of its outputs.
func TestStart(t *testing.T) {
	for _, c := range []struct {
		threads, items, expansions, workers, sharing, shares int
		from, until, tiles                                   int64
	}{
		{256, 8, 0, 10, 1, 0, 0, 1, 1},
		{256, 8, 0, 10, 1, 0, 0, 2048, 1},
		{256, 8, 0, 3, 1, 0, 0, 2049, 2},
		{256, 8, 0, 3, 4, 0, 5, 5, 0},
		// The first tile begins at row 4, or on a CPU where the rows do.
		{256, 8, 0, 3, 1, 0, 7, 2053, 2},
		{256, 8, 0, 3, 1, 0, 7, 2052, 1},
		{1, 1024, 0, 3, 1, 0, 7, 7 + 1024, 1},
		{256, 4, 1, 7, 3, 0, 0, 5000, 5},
		{256, 4, 2, 7, 7, 0, 0, 5000, 5},
		{1, 32, 1, 2, 2, 0, 0, 100, 4},
		{256, 8, 0, 3, 1, 3, 0, 5 * 2048, 5},
		{256, 8, 0, 8, 1, 3, 0, 5 * 2048, 5},
	} {
		e := &Entry{Threads: c.threads, Items: c.items, Expansions: c.expansions, Sharing: c.shares}
		states := make([]int64, c.workers*e.StateWords())
		e.Start(states, c.workers, c.from, c.until, c.sharing)
		tile := int64(c.threads * c.items)
		if got := e.Tiles(c.from, c.until); got != c.tiles {
			t.Errorf("%+v: %d tiles", c, got)
		}
		type output struct{ tile, first int64 }
		seen := map[output]int{}
		const outputs = 20 // of each tile, in tiles
		shares := max(1, c.shares)
		for w := int64(0); len(states) > 0; w, states = w+1, states[e.StateWords():] {
			for at := states[0]; at < states[1]; at += states[2] {
				if c.expansions == 0 {
					seen[output{at, w % int64(shares)}]++
					continue
				}
				n := len(states[:e.StateWords()])
				if states[3] != states[n-2] {
					t.Errorf("%+v: the first tile begins at output %d, others at %d", c, states[3],
						states[n-2])
				}
				for first := states[3]; first < outputs*tile; first += states[n-1] {
					seen[output{at, first}]++
				}
			}
		}
		want := int(c.tiles) * shares
		if c.expansions > 0 {
			want *= outputs
		}
		if len(seen) != want {
			t.Errorf("%+v: %d outputs are made, not %d", c, len(seen), want)
		}
		for o, n := range seen {
			if n != 1 || o.tile >= c.tiles {
				t.Errorf("%+v: %+v is made %d times", c, o, n)
			}
		}
	}
}
