package prepare

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/lower"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/reference/randprog"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/build"
	"github.com/redfoxdb/redfox/queryplan/rewrite"
	"github.com/redfoxdb/redfox/weaver/fuse"
	"github.com/redfoxdb/redfox/weaver/target"
)

var (
	firstSeed = flag.Uint64("seed", 1, "first seed of the random programs")
	seedCount = flag.Uint64("seeds", 60, "number of random programs")
)

// graphs compiles a program to kernels: as built, optimised, and optimised and
// fused.
func graphs(t *testing.T, text string) (*core.Program, []*harmony.Program) {
	t.Helper()
	prog, found := frontend.Compile([]*source.File{source.NewFile("test.logic", text)},
		frontend.Options{})
	if prog == nil {
		t.Fatalf("%s\n%s", found[0].Message, text)
	}
	plan, err := build.Build(prog)
	if err != nil {
		t.Fatal(err)
	}
	optimised, _, err := rewrite.Run(queryplan.Clone(plan), nil, rewrite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out []*harmony.Program
	for _, p := range []*queryplan.Plan{plan, optimised} {
		lowered, err := lower.Lower(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, lowered)
	}
	fused, _, err := fuse.Fuse(out[1], fuse.Options{Budget: target.CPU().Budget})
	if err != nil {
		t.Fatal(err)
	}
	return prog, append(out, fused)
}

// TestRandomPrograms runs random programs over random facts and holds every
// value against what is known of it before.
func TestRandomPrograms(t *testing.T) {
	seen := map[string]int{}
	for seed := *firstSeed; seed < *firstSeed+*seedCount; seed++ {
		_, list := graphs(t, randprog.New(seed).Text())
		for i, p := range list {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			facts := randomFacts(rng, p)
			f := follow(t, fmt.Sprintf("seed %d, graph %d", seed, i), p, facts)
			// An error ends the run; until then all must hold.
			if f.run(facts) != nil {
				seen["error"]++
			}
			for what, n := range f.seen {
				seen[what] += n
			}
		}
	}
	t.Log(seen)
	for _, what := range []string{"code", "exact", "inexact", "table", "host",
		"compare, grows false", "compare, grows true"} {
		if seen[what] == 0 {
			t.Errorf("nothing was checked of %s", what)
		}
	}
}

// maxFacts bounds the programs that the reference runs.
const maxFacts = 100

// TestPrograms does the same with the whole programs.
func TestPrograms(t *testing.T) {
	dirs, err := filepath.Glob("../../testdata/programs/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no programs", err)
	}
	for _, dir := range dirs {
		text, err := os.ReadFile(filepath.Join(dir, "program.logic"))
		if err != nil {
			t.Fatal(err)
		}
		prog, list := graphs(t, string(text))
		given, err := oracle.ReadFacts(filepath.Join(dir, "facts"), prog)
		if err != nil {
			t.Fatal(err)
		}
		facts, n := map[string]planref.Rows{}, 0
		for name, tuples := range given {
			for _, tuple := range tuples {
				facts[name] = append(facts[name], scalar.SplitRow(tuple))
			}
			n += len(tuples)
		}
		for i, p := range list {
			f := follow(t, fmt.Sprintf("%s, graph %d", filepath.Base(dir), i), p, facts)
			if n <= maxFacts {
				_ = f.run(facts) // may end in an error on purpose
			}
		}
	}
}

// TestOtherLiterals puts other constants into random programs: ranges that do
// not know the constants have to hold still.
func TestOtherLiterals(t *testing.T) {
	short.Skip(t, "programs with other literals")
	changed := 0
	for seed := *firstSeed; seed < *firstSeed+*seedCount; seed++ {
		_, list := graphs(t, randprog.New(seed).Text())
		for i, p := range list {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			facts := randomFacts(rng, p)
			f := follow(t, fmt.Sprintf("seed %d, graph %d, other literals", seed, i), p, facts)
			f.ranges = f.ranges[1:]
			for _, k := range p.Kernels() {
				for _, s := range k.Stages {
					m, ok := s.(*harmony.Map)
					if !ok {
						continue
					}
					if _, _, ok := f.domains.Table(m); ok {
						continue // its constants are in the data
					}
					for i, a := range m.Args {
						if k := a.Const.Type.Kind; a.Reg == nil && k != scalar.String &&
							k != scalar.Float {
							m.Args[i].Const = randomValue(rng, a.Const.Type)
							changed++
						}
					}
				}
			}
			_ = f.run(facts)
		}
	}
	if changed == 0 {
		t.Error("no constant was changed")
	}
}

// randomFacts gives the inputs and tables rows of values at the edges of their
// types and in between, unique in their keys.
func randomFacts(rng *rand.Rand, p *harmony.Program) map[string]planref.Rows {
	facts := map[string]planref.Rows{}
	for _, r := range p.Relations {
		if r.Kind != queryplan.Input && r.Kind != queryplan.Table || facts[r.Source] != nil {
			continue
		}
		stored := r.Stored
		if r.Kind == queryplan.Input {
			stored = nil
			for i := range r.Cols {
				stored = append(stored, i)
			}
		}
		rows, seen := planref.Rows{}, map[string]bool{}
		wild := rng.IntN(4) == 0
		for range rng.IntN(16) {
			row := make([]scalar.Value, slices.Max(append(stored[:len(stored):len(stored)], -1))+1)
			var key []scalar.Value
			for i, at := range stored {
				if row[at] = smallValue(rng, r.Cols[i].Type); wild {
					row[at] = randomValue(rng, r.Cols[i].Type)
				}
				if i < r.Keys {
					key = append(key, row[at])
				}
			}
			if k := planref.Key(key); !seen[k] {
				seen[k] = true
				rows = append(rows, row)
			}
		}
		facts[r.Source] = rows
	}
	return facts
}

func smallValue(rng *rand.Rand, t scalar.Type) scalar.Value {
	return valueOf(t, rng.Int64N(7)-2)
}

// randomValue returns any value of a type, often one at the edges.
func randomValue(rng *rand.Rand, t scalar.Type) scalar.Value {
	switch rng.IntN(4) {
	case 0:
		return valueOf(t,
			[]int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64, -1, 0, 1, 1 << 31,
				1 << 62}[rng.IntN(8)])
	case 1:
		return valueOf(t, int64(rng.Uint64())>>rng.IntN(64))
	}
	return smallValue(rng, t)
}

func valueOf(t scalar.Type, n int64) scalar.Value {
	switch t.Kind {
	case scalar.Boolean:
		return scalar.OfBool(n%2 == 0)
	case scalar.String:
		return scalar.OfString(strings.Repeat(string(rune('a'+uint64(n)%3)), int(uint64(n)/3%3)))
	case scalar.Float:
		return scalar.OfFloat(t, float64(n)/4)
	case scalar.Decimal:
		return scalar.OfBits(t, uint64(n))
	case scalar.Datetime:
		return scalar.OfDatetime(n * 86400e6 * 31)
	}
	return scalar.OfInt(t, n)
}
