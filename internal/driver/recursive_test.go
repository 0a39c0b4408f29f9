package driver

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/recursive"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// TestRecursivePrograms runs the programs of testdata/recursive on every engine
// over made-up facts. Hand-written loops give the answers.
func TestRecursivePrograms(t *testing.T) {
	cases := []struct {
		program string
		sizes   []int
		facts   func(size int, seed uint64) recursive.Facts
		solve   func(recursive.Facts) map[string][]string
	}{
		{"doop", []int{4, 20}, recursive.Doop, func(f recursive.Facts) map[string][]string {
			return recursive.SolveDoop(f).Tuples()
		}},
		{"crdt", []int{300, 3000}, recursive.CRDT, solveCRDT},
		{"crdt-by-hand", []int{300, 3000}, recursive.CRDT, solveCRDT},
		{"growing", []int{60, 300}, recursive.Growing, recursive.SolveGrowing},
		{"polonius", []int{40, 3000}, recursive.Polonius, recursive.SolvePolonius},
	}
	for _, engine := range []string{EngineGPU, EngineCPU, EngineGo} {
		t.Run(engine, func(t *testing.T) {
			var s *Session
			switch engine {
			case EngineGPU:
				short.Skip(t, "recursive programs on an emulated GPU")
				emulateGPU(t, emulated.Options{Seed: 5, Memory: 4 << 30})
				s = openSession(t, engine)
			case EngineCPU:
				short.Skip(t, "recursive programs on the cpu engine")
				if s = QuickSession(t); s == nil {
					t.Skip("no cpu engine")
				}
			case EngineGo:
				s = openSession(t, engine)
			}
			for _, c := range cases {
				size, seeds := c.sizes[0], uint64(1)
				if engine == EngineGo {
					size, seeds = c.sizes[1], uint64(short.Count(t, 4, "made-up facts"))
				}
				for seed := range seeds {
					facts := c.facts(size, seed)
					compareRecursive(t, s, c.program, facts, c.solve(facts))
				}
			}
		})
	}
}

func solveCRDT(f recursive.Facts) map[string][]string {
	out := map[string][]string{}
	for pred, pairs := range recursive.SolveCRDT(f) {
		out[pred] = recursive.ElementRows(pairs)
	}
	return out
}

// compareRecursive runs a program of testdata/recursive and compares the
// relations that are given.
func compareRecursive(
	t *testing.T, s *Session, program string, facts recursive.Facts, want map[string][]string,
) {
	t.Helper()
	ctx := context.Background()
	dir := t.TempDir()
	if err := facts.Write(dir); err != nil {
		t.Fatal(err)
	}
	sources, err := ReadSources("../../testdata/recursive/" + program + ".logic")
	if err != nil {
		t.Fatal(err)
	}
	prog, err := Compile(ctx, sources, Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := s.Load(ctx, prog, NewFacts().Dir(dir), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Run(ctx, prog, db, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(want) < 4 {
		t.Fatalf("%s: the facts give answers for %d predicates only", program, len(want))
	}
	for pred, rows := range want {
		var b bytes.Buffer
		if err := res.Write(&b, pred, TSV, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		slices.Sort(got)
		slices.Sort(rows)
		if !slices.Equal(got, rows) {
			t.Errorf("%s: %s: %d rows, want %d:\n%s", program, pred, len(got), len(rows),
				firstDifference(got, rows))
		}
	}
}

// TestRecursiveProgramsChangeToGPU begins the programs of testdata/recursive on
// the go engine, and goes on with their loops on an emulated GPU.
func TestRecursiveProgramsChangeToGPU(t *testing.T) {
	short.Skip(t, "recursive programs that change over to an emulated GPU")
	changesBefore(t, emulated.Options{Seed: 5, Memory: 4 << 30}, 1)
	s := openSession(t, EngineAuto)
	s.pool.Tiers = process.Tiers
	facts := recursive.Growing(60, 3)
	compareRecursive(t, s, "growing", facts, recursive.SolveGrowing(facts))
	facts = recursive.CRDT(300, 3)
	compareRecursive(t, s, "crdt", facts, solveCRDT(facts))
	facts = recursive.Polonius(40, 3)
	compareRecursive(t, s, "polonius", facts, recursive.SolvePolonius(facts))
	if used := s.DeviceUse(); used.Peak == 0 {
		t.Error("no loop changed over")
	}
}
