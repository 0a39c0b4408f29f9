package driver

import (
	"context"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/recursive"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// TestLoopOnDevice has a GPU run the rounds of small deltas by itself, in the
// first run, in one that repeats it, and as part of a graph, and has the host
// lead them.
func TestLoopOnDevice(t *testing.T) {
	crdt, err := ReadSources("../../testdata/recursive/crdt.logic")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("operations that wait", func(t *testing.T) {
		testLoopOnDevice(t, crdt, recursive.CRDT(300, 1))
	})
	many := recursive.Stratum{Rules: 100, Tokens: 2, Rounds: 150}
	t.Run("many rules", func(t *testing.T) {
		testLoopOnDevice(t, []Source{{Name: "many.logic", Text: many.Program()}}, many.Facts())
	})
}

func testLoopOnDevice(t *testing.T, sources []Source, facts recursive.Facts) {
	short.Skip(t, "loops on an emulated GPU")
	t.Setenv("REDFOX_CACHE", "") // a record of an earlier process would tell the sizes
	emulateGPU(t, emulated.Options{Seed: 7, Memory: 4 << 30})
	s, ctx, dir := openSession(t, EngineGPU), context.Background(), t.TempDir()
	if err := facts.Write(dir); err != nil {
		t.Fatal(err)
	}
	var want string
	for _, disable := range [][]string{nil, {loopOnDevice}} {
		prog, err := Compile(ctx, sources, Options{Disable: disable})
		if err != nil {
			t.Fatal(err)
		}
		db, err := s.Load(ctx, prog, NewFacts().Dir(dir), LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for run := range 4 {
			res, err := s.Run(ctx, prog, db, RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			d := res.Stats.Device
			switch {
			case disable == nil && (d.Rounds < 100 || d.Waits > d.Rounds/4):
				t.Errorf("run %d: %d rounds on the device, and %d waits", run, d.Rounds, d.Waits)
			case disable != nil && (d.Rounds > 0 || run == 0 && d.Waits < 100):
				t.Errorf("run %d without it: %d rounds on the device, and %d waits", run, d.Rounds,
					d.Waits)
			}
			got := resultText(t, res)
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("run %d, without %v: other answers", run, disable)
			}
		}
	}
}
