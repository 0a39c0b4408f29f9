package driver

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/reference/randprog"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
	"github.com/redfoxdb/redfox/runtime/tiers"
)

// changesBefore gives the test an emulated GPU, to which loops of auto change
// over before a round.
func changesBefore(t *testing.T, o emulated.Options, round int64) *emulated.Driver {
	t.Helper()
	d := emulateGPU(t, o)
	process.Tiers = &tiers.Sizes{Commands: 1 << 20, Scanned: 1 << 40, Rows: 1 << 40, First: round,
		Waits: true}
	return d
}

// changes counts the segments of a GPU, and those that failed there.
func changes(res *Result) (onCard, failed int) {
	for _, s := range res.Stats.Segments {
		if s.Engine == EngineGPU {
			onCard++
			if s.Failed != "" {
				failed++
			}
		}
	}
	return onCard, failed
}

// TestProgramsChangeToGPU runs the programs of testdata with auto, whose loops
// change over to an emulated GPU before each of the first rounds.
func TestProgramsChangeToGPU(t *testing.T) {
	ctx := context.Background()
	files, err := filepath.Glob("../../testdata/programs/*/program.logic")
	if err != nil {
		t.Fatal(err)
	}
	files = short.Part(t, files, "programs")
	changed := 0
	for round := range int64(3) {
		t.Run(fmt.Sprint("before round ", round), func(t *testing.T) {
			changesBefore(t, emulated.Options{Seed: 11}, round)
			for _, file := range files {
				sources, err := ReadSources(file)
				if err != nil {
					t.Fatal(err)
				}
				prog, err := Compile(ctx, sources, Options{})
				if err != nil {
					t.Fatal(err)
				}
				facts := FactsIn(filepath.Join(filepath.Dir(file), "facts"))
				on, failed := changesAsGo(t, file, prog, facts, 0)
				if changed += on; failed > 0 {
					t.Errorf("%s: the GPU fails", file)
				}
			}
		})
	}
	if changed == 0 {
		t.Error("no loop changed over")
	}
	t.Logf("loops changed over %d times", changed)
}

// changesAsGo compares a run of auto with one of the go engine, and counts the
// segments of a GPU with so much memory, and those that failed there.
func changesAsGo(t *testing.T, name string, prog *Program, facts *Facts, memory int64) (
	on, failed int) {
	t.Helper()
	ctx := context.Background()
	want, failure := prog.Run(ctx, facts, RunOptions{Engine: EngineGo})
	got, err := prog.Run(ctx, facts, RunOptions{DeviceMemory: memory})
	if fmt.Sprint(err) != fmt.Sprint(failure) {
		t.Fatalf("%s: the error is %v, not %v", name, err, failure)
	}
	if err != nil {
		return 0, 0
	}
	if on, failed = changes(got); on > failed && got.Stats.Device == nil {
		t.Errorf("%s: nothing is known of the GPU's work", name)
	}
	if a, b := resultText(t, got), resultText(t, want); a != b {
		t.Errorf("%s: got\n%.2000s\nwant\n%.2000s", name, a, b)
	}
	return on, failed
}

// TestRandomProgramsChangeToGPU runs random programs with auto, whose loops
// change over to a GPU of much or little memory.
func TestRandomProgramsChangeToGPU(t *testing.T) {
	count, changed, failed := short.Count(t, 60, "random programs"), 0, 0
	for round := range uint64(3) {
		changesBefore(t, emulated.Options{Seed: 3}, int64(round))
		for seed := round; seed < count; seed += 3 {
			random := randprog.New(8_800_054 + seed)
			dir := t.TempDir()
			if err := random.Write(dir); err != nil {
				t.Fatal(err)
			}
			on, bad := changesAsGo(t, fmt.Sprint("seed ", seed),
				compileText(t, random.Text(), Options{}), FactsIn(filepath.Join(dir, "facts")),
				[]int64{0, 8 << 10}[seed/3%2])
			changed, failed = changed+on, failed+bad
		}
	}
	t.Logf("loops changed over %d times, of which %d failed", changed, failed)
	if changed == failed {
		t.Error("no loop changed over")
	}
}

// pathOf returns the edges of a path.
func pathOf(nodes int) [][]any {
	var out [][]any
	for i := range nodes - 1 {
		out = append(out, []any{i, i + 1})
	}
	return out
}

const closureOfInts = `
edge(x, y) -> int(x), int(y).
path(x, y) <- edge(x, y).
path(x, z) <- path(x, y), edge(y, z).
n[] = v <- agg<<v = count()>> path(_, _).
_(v) <- n[] = v.
`

// TestChangeFinds has a second run find the code of the first, and the GPU
// open.
func TestChangeFinds(t *testing.T) {
	changesBefore(t, emulated.Options{}, 0)
	prog := compileText(t, closureOfInts, Options{})
	for run := range 2 {
		res, err := prog.Run(context.Background(), NewFacts().Rows("edge", pathOf(30)...),
			RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s := res.Stats.Segments
		if len(s) != 2 || !s[0].Left || s[1].Engine != EngineGPU || s[1].Compile > 0 ||
			s[0].Rounds != int64(2-run) {
			t.Errorf("run %d: %+v", run, s)
		}
		if got := resultText(t, res); !strings.Contains(got, "435") {
			t.Errorf("run %d: %s", run, got)
		}
	}
}

// TestChangeFails changes over to a GPU that cannot be opened, that lacks
// memory, or that fails in the middle of the loop.
func TestChangeFails(t *testing.T) {
	ctx := context.Background()
	prog := compileText(t, closureOfInts, Options{})
	facts := NewFacts().Rows("edge", pathOf(120)...)
	for _, tt := range []struct {
		name   string
		card   emulated.Options
		fault  *emulated.Fault
		opts   RunOptions
		on     int // segments of the GPU
		failed int
	}{
		{name: "no context", fault: &emulated.Fault{Calls: []string{"cuDevicePrimaryCtxRetain"},
			Code: emulated.OutOfMemory}},
		{name: "no room for the tuples", opts: RunOptions{DeviceMemory: 1 << 10}},
		{name: "no room for what is derived", opts: RunOptions{DeviceMemory: 32 << 10}, on: 1, failed: 1},
		{name: "room", opts: RunOptions{DeviceMemory: 32 << 20}, on: 1},
		{name: "a fault", fault: &emulated.Fault{Calls: []string{emulated.Execution}, Times: 1,
			Code: emulated.IllegalAddress}, on: 1, failed: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := changesBefore(t, tt.card, 1)
			if tt.fault != nil {
				d.Inject(*tt.fault)
			}
			res, err := prog.Run(ctx, facts, tt.opts)
			if tt.fault != nil && !d.Heal() {
				t.Error("the call was not made")
			}
			if err != nil {
				t.Fatal(err)
			}
			if on, failed := changes(res); on != tt.on || failed != tt.failed {
				t.Errorf("%+v", res.Stats.Segments)
			}
			if got := resultText(t, res); !strings.Contains(got, "7140") {
				t.Error(got)
			}
		})
	}
}

// TestChangeLeavesHostLoops keeps loops whose functions GPUs have no code for
// from a GPU.
func TestChangeLeavesHostLoops(t *testing.T) {
	const types = "e(x, y) -> string(x), string(y).\ns(x, y) <- e(x, y).\n"
	for text, want := range map[string]string{
		types + `s(x, z) <- s(x, y), e(y, z), x + z != "ab0".`: EngineCPU,
		types + `s(x, z) <- s(x, y), e(y, z), x != z.`:         EngineGPU,
	} {
		changesBefore(t, emulated.Options{}, 1)
		res, err := compileText(t, text, Options{}).Run(context.Background(),
			NewFacts().Rows("e", []any{"a", "b"}, []any{"b", "c"}, []any{"c", "d"}, []any{"d", "e"}),
			RunOptions{})
		if err != nil || res.Len("s") != 10 {
			t.Fatal(res, err)
		}
		if s := res.Stats.Segments; len(s) != 2 || s[1].Engine != want {
			t.Errorf("%s: %+v", text, s)
		}
	}
}

// TestShortRunsOpenNoGPU looks for the driver of a GPU only when auto has a
// loop that takes long.
func TestShortRunsOpenNoGPU(t *testing.T) {
	ctx := context.Background()
	prog := compileText(t, closureOfInts, Options{})
	for _, tt := range []struct {
		engine string
		after  time.Duration
		looks  bool
	}{
		{EngineAuto, time.Hour, false}, {EngineAuto, 0, true}, {EngineGo, 0, false},
		{EngineCPU, 0, false},
	} {
		d := changesBefore(t, emulated.Options{}, 0)
		process.Tiers.OpenCard = tt.after
		looked := false
		process.Machine.Driver = func() (driver.Driver, error) {
			looked = true
			return d, nil
		}
		res, err := prog.Run(ctx, NewFacts().Rows("edge", pathOf(10)...),
			RunOptions{Engine: tt.engine})
		if err != nil || !strings.Contains(resultText(t, res), "45") {
			t.Fatal(res, err)
		}
		if looked != tt.looks {
			t.Errorf("engine %s, after %v: the driver was looked for: %t", tt.engine, tt.after, looked)
		}
	}
}

// TestNoGPUToChangeTo goes on as native code on a machine without a GPU.
func TestNoGPUToChangeTo(t *testing.T) {
	changesBefore(t, emulated.Options{}, 0)
	process.Machine.Driver = func() (driver.Driver, error) {
		return nil, errors.New("a driver that is too old")
	}
	res, err := compileText(t, closureOfInts, Options{}).Run(context.Background(),
		NewFacts().Rows("edge", pathOf(10)...), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s := res.Stats.Segments; len(s) != 2 || s[1].Engine != EngineCPU {
		t.Errorf("%+v", s)
	}
}

// TestGPUAtOnce takes a GPU at once for a join that makes many rows, and for
// nothing that loops fill.
func TestGPUAtOnce(t *testing.T) {
	const joins = "a(x) -> int(x).\nb(x) -> int(x).\nn[] = v <- agg<<v = count()>> a(x), b(y), x < y.\n"
	const loops = joins + "c(x, y) <- a(x), b(y), x = y. c(x, z) <- c(x, y), c(y, z).\n"
	const after = `a(x) -> int(x).
b(x) -> int(x).
c(x, y) <- a(x), b(y), y = x + 1.
c(x, z) <- c(x, y), c(y, z).
d(x, y) <- c(x, _), c(_, y).
`
	ctx := context.Background()
	for _, tt := range []struct {
		name, text string
		rows       int
		memory     int64
		want       string
	}{
		{"few rows", joins, 100, 0, EngineGo},
		{"many rows", joins, 16_000, 0, EngineGPU},
		{"many rows beside a loop", loops, 16_000, 0, EngineGPU},
		{"what follows a loop", after, 16_000, 0, EngineGo},
		{"a GPU that is too small", joins, 16_000, 1 << 10, EngineGo},
	} {
		t.Run(tt.name, func(t *testing.T) {
			emulateGPU(t, emulated.Options{})
			prog := compileText(t, tt.text, Options{})
			var rows [][]any
			for i := range tt.rows {
				rows = append(rows, []any{i})
			}
			db, err := prog.Load(ctx, NewFacts().Rows("a", rows...).Rows("b", rows...), LoadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			opts := RunOptions{DeviceMemory: tt.memory, Threads: 2}
			chosen, _, err := prog.ChooseEngine(db, opts)
			if err != nil || chosen.Name != tt.want {
				t.Errorf("auto chooses %s, %v", chosen.Name, err)
			}
			q, err := prepare(process, prog, db, opts)
			if err != nil || q.engine.Name != tt.want {
				t.Errorf("a run takes %s, %v", q.engine.Name, err)
			}
			if opts = (RunOptions{Engine: EngineGo}); tt.memory > 0 {
				return
			}
			if chosen, _, err = prog.ChooseEngine(db, opts); err != nil || chosen.Name != EngineGo {
				t.Errorf("%s in place of go, %v", chosen.Name, err)
			}
		})
	}
}

// TestGPUAtOnceFails goes on with a simpler engine if a GPU that auto takes at
// once cannot be opened, but not if the user asks for one.
func TestGPUAtOnceFails(t *testing.T) {
	prog := compileText(t, "a(x) -> int(x).\nn[] = v <- agg<<v = count()>> a(x), a(y), x < y.\n",
		Options{})
	var rows [][]any
	for i := range 5000 {
		rows = append(rows, []any{i})
	}
	for _, engine := range []string{EngineAuto, EngineGPU} {
		d := emulateGPU(t, emulated.Options{})
		d.Inject(emulated.Fault{Calls: []string{"cuDevicePrimaryCtxRetain"},
			Code: emulated.OutOfMemory})
		res, err := prog.Run(context.Background(), NewFacts().Rows("a", rows...),
			RunOptions{Engine: engine, Threads: 1})
		if !d.Heal() {
			t.Error("the GPU was not opened")
		}
		switch {
		case engine == EngineGPU:
			if !isOfDevice(err) {
				t.Errorf("a GPU that is asked for: %v", err)
			}
		case err != nil:
			t.Error(err)
		case res.Stats.Engine != EngineGo || !strings.Contains(resultText(t, res), "12497500"):
			t.Errorf("engine %s: %s", res.Stats.Engine, resultText(t, res))
		}
	}
}
