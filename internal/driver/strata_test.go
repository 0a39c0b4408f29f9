package driver

import (
	"context"
	"testing"

	"github.com/redfoxdb/redfox/internal/graphgen"
	"github.com/redfoxdb/redfox/internal/reference/recursive"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// TestStrata runs recursions of one to thirty rules, all of which derive tuples
// in each round, and joins of uniform and of skewed keys on every engine. The
// answers are counted by hand.
func TestStrata(t *testing.T) {
	skewed := graphgen.ZipfJoin(400, 90, 1.5, 3)
	joins := map[string]graphgen.Join{"skewed": skewed,
		"uniform": graphgen.UniformJoin(400, 7, skewed.Matches(), 3)}
	for _, engine := range []string{EngineGPU, EngineCPU, EngineGo} {
		t.Run(engine, func(t *testing.T) {
			var s *Session
			switch engine {
			case EngineGPU:
				short.Skip(t, "strata on an emulated GPU")
				emulateGPU(t, emulated.Options{Seed: 5, Memory: 4 << 30})
				s = openSession(t, engine)
			case EngineCPU:
				short.Skip(t, "strata on the cpu engine")
				if s = QuickSession(t); s == nil {
					t.Skip("no cpu engine")
				}
			case EngineGo:
				s = openSession(t, engine)
			}
			for _, rules := range []int{1, 3, 10, 30} {
				stratum, dir := recursive.Stratum{Rules: rules, Tokens: 5, Rounds: 60}, t.TempDir()
				if err := stratum.Facts().Write(dir); err != nil {
					t.Fatal(err)
				}
				if got := countIn(t, s, Text("stratum.logic", stratum.Program()),
					dir); got != int64(stratum.Tuples()) {
					t.Errorf("%+v: %d tuples, not %d", stratum, got, stratum.Tuples())
				}
			}
			for name, j := range joins {
				dir, want := t.TempDir(), int64(0)
				for _, l := range j.Left {
					for _, r := range j.Right {
						if l[1] == r[0] && l[0] < r[1] {
							want++
						}
					}
				}
				if err := j.Write(dir); err != nil {
					t.Fatal(err)
				}
				sources, err := ReadSources("../../testdata/graphs/join.logic")
				if err != nil {
					t.Fatal(err)
				}
				if got := countIn(t, s, sources[0], dir); got != want {
					t.Errorf("the %s join: %d matches, not %d", name, got, want)
				}
			}
		})
	}
}

// countIn runs a program over a folder of facts and returns its value of _.
func countIn(t *testing.T, s *Session, program Source, dir string) (n int64) {
	t.Helper()
	ctx := context.Background()
	prog, err := Compile(ctx, []Source{program}, Options{})
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
	for row := range res.Rows("_") {
		n = row[0].(int64)
	}
	return n
}
