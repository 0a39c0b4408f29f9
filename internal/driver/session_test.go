package driver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/internal/await"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
	"github.com/redfoxdb/redfox/runtime/pool"
)

// onEngines calls f once for each engine, the GPU being an emulated one.
func onEngines(t *testing.T, f func(t *testing.T, engine string)) {
	for _, engine := range []string{"gpu", "cpu", "go"} {
		t.Run(engine, func(t *testing.T) {
			switch engine {
			case "gpu":
				emulateGPU(t, emulated.Options{Seed: 3})
			case "cpu":
				if _, err := process.Machine.Tools.LLVM(); err != nil {
					t.Skip(err)
				}
			}
			f(t, engine)
		})
	}
}

// TestSession runs two programs over one database from several goroutines, and
// leaves nothing behind.
func TestSession(t *testing.T) {
	ctx := context.Background()
	onEngines(t, func(t *testing.T, engine string) {
		s, err := OpenSession(SessionOptions{Engine: engine, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		reach := compileText(t, closure, Options{})
		degree := compileText(t,
			"edge(x, y) -> string(x), string(y).\nout[x] = n <- agg<<n = count()>> edge(x, _).\n",
			Options{NoFuse: true})
		db := loadedEdges(t, reach, "ann\tbob", "bob\tcid", "cid\tann", "dee\tann")
		q, err := s.Prepare(ctx, reach, db, RunOptions{Outputs: []string{"_", "edge"}})
		if err != nil {
			t.Fatal(err)
		}
		plan := q.plan
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				res, err := q.Run(ctx, RunOptions{Resident: i%2 == 0})
				if err != nil {
					t.Error(err)
					return
				}
				if res.Len("_") != 3 || res.Len("edge") != 4 || res.Has("reach") ||
					res.Stats.Engine != engine {
					t.Errorf("%d answers of %d edges, on engine %s", res.Len("_"), res.Len("edge"),
						res.Stats.Engine)
				}
				switch i % 4 {
				case 0:
					if err := res.Fetch(ctx); err != nil {
						t.Error(err)
					}
				case 2:
					res.Release()
					var gone bytes.Buffer
					if err := res.Write(&gone, "_", TSV, WriteOptions{}); engine == "gpu" &&
						err == nil {
						t.Error("what was released can be written")
					}
					for range res.Rows("_") {
						if engine == "gpu" {
							t.Error("what was released has tuples")
						}
					}
					if engine == "gpu" && res.Err() == nil {
						t.Error("nothing says that the result was released")
					}
					return
				}
				if got := resultText(t,
					res); got != "edge:\nann\tbob\nbob\tcid\ncid\tann\ndee\tann\n_:\nann\nbob\ncid\n" {
					t.Errorf("got %q", got)
				}
			})
			group.Go(func() {
				res, err := s.Run(ctx, degree, db, RunOptions{})
				if err != nil || res.Len("out") != 4 {
					t.Errorf("%v, %v", res, err)
				}
			})
		}
		group.Wait()
		if q.plan != plan || q.plan == nil {
			t.Error("a prepared program was planned again")
		}
		if engine == "gpu" && s.DeviceUse().Resident == 0 {
			t.Error("no facts stay on the device")
		}
		s.Forget(db)
		if use := s.DeviceUse(); use.Held != 0 {
			t.Errorf("%+v is held without facts", use)
		}
		left, err := q.Run(ctx, RunOptions{Resident: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := left.Fetch(ctx); engine == "gpu" && err == nil {
			t.Error("a result outlives its session")
		}
		_, err = q.Run(ctx, RunOptions{})
		if err == nil || !strings.Contains(err.Error(), "the session is closed") {
			t.Errorf("after Close: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("closing again: %v", err)
		}
	})
}

// TestEarlyStart has runs take the engine that is being opened ahead of them,
// and go on to another one if that fails.
func TestEarlyStart(t *testing.T) {
	ctx := context.Background()
	d := emulateGPU(t, emulated.Options{})
	prog := compileText(t, closure, Options{NoFuse: true})
	db := loadedEdges(t, prog, "ann\tbob")
	opts := RunOptions{Engine: "gpu", DeviceMemory: 64 << 20}
	run := func(engines *pool.Pool) error {
		q, err := prepare(engines, prog, db, opts)
		if err != nil {
			t.Fatal(err)
		}
		_, err = q.Run(ctx, opts)
		return err
	}
	for _, fails := range []bool{false, true} {
		const call = "cuDevicePrimaryCtxRetain"
		before := d.Calls()[call]
		if fails {
			d.Inject(emulated.Fault{Calls: []string{call}, Times: 1, Code: emulated.OutOfMemory})
		}
		s := pool.New(process.Machine)
		start(s, opts, prog.fusing)
		err := run(s)
		var environment *EnvironmentError
		if fails != (errors.As(err, &environment) &&
			strings.Contains(err.Error(), "the GPU is out of memory")) {
			t.Errorf("the run's error is %v", err)
		}
		if err := run(s); err != nil {
			t.Errorf("the next run: %v", err)
		}
		want := 1
		if fails {
			want = 2
		}
		if n := d.Calls()[call] - before; n != want {
			t.Errorf("%d contexts were opened, want %d", n, want)
		}
		d.Heal()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	selected, err := process.Machine.Select(RunOptions{Engine: "auto"}.want())
	if err != nil || selected.IsGPU() {
		t.Errorf("auto opens a GPU before there are facts, %v", err)
	}
}

// TestCloseWaits closes a session while a program runs, which ends all the
// same. That Close waits for it is for TestClose of package pool.
func TestCloseWaits(t *testing.T) {
	ctx := context.Background()
	s, err := OpenSession(SessionOptions{Engine: "go"})
	if err != nil {
		t.Fatal(err)
	}
	prog := compileText(t, "n(0).\nn(x + 1) <- n(x), x < 200000.\n", Options{})
	db, err := prog.Load(ctx, NewFacts(), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	started, ended := make(chan bool), make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, prog, db, RunOptions{Trace: func(at Span) {
			if at.Name != TracePlan { // before which the session may be closed
				once.Do(func() { close(started) })
			}
		}})
		ended <- err
	}()
	<-started
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestFactsLeaveGPU drops a database, after which nothing of it stays on the
// device.
func TestFactsLeaveGPU(t *testing.T) {
	emulateGPU(t, emulated.Options{})
	ctx := context.Background()
	prog := compileText(t, closure, Options{})
	func() {
		db := loadedEdges(t, prog, "ann\tbob", "bob\tcid", "cid\tann")
		for range 4 { // the last is a graph
			res, err := prog.RunOn(ctx, db, RunOptions{Engine: "gpu"})
			if err != nil || res.Len("_") != 3 {
				t.Fatalf("%v, %v", res, err)
			}
		}
		if process.Use().Resident == 0 {
			t.Error("no facts are on the device")
		}
		goruntime.KeepAlive(db)
	}()
	await.Until(t, "facts that are gone to leave the GPU", func() bool {
		goruntime.GC()
		return process.Use().Held == 0
	})
	if use := process.Use(); use.Held != 0 {
		t.Errorf("%+v is held of facts that are gone", use)
	}
	if _, err := prog.Run(ctx, NewFacts().Rows("edge", []any{"ann", "bob"}),
		RunOptions{Engine: "gpu"}); err != nil {
		t.Error(err)
	}
	if use := process.Use(); use.Held != 0 {
		t.Errorf("%+v is held of facts that only one run had", use)
	}
}

// storedProgram writes a program compiled for targets and reads it again.
func storedProgram(t *testing.T, prog *Program, opts CompiledOptions, trust bool) *Program {
	t.Helper()
	var file bytes.Buffer
	if _, err := prog.WriteCompiled(&file, opts); err != nil {
		t.Fatal(err)
	}
	compiled, err := ParseCompiled(Text("p.rfx", file.String()))
	if err != nil {
		t.Fatal(err)
	}
	again, err := compiled.Program(Options{TrustCode: trust})
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// TestStoredCode runs compiled programs on a GPU where nothing can be compiled:
// the code in the file serves the facts that it is for, and is refused for
// others.
func TestStoredCode(t *testing.T) {
	ctx := context.Background()
	few := []string{"ann\tbob", "bob\tcid"}
	var many []string
	for i := range 3000 {
		many = append(many, fmt.Sprintf("ann\tx%d", i))
	}
	for _, tt := range []struct {
		name    string
		opts    CompiledOptions
		facts   []string // that the code is for
		over    []string // of the run
		outputs []string
		fails   string
	}{
		{name: "for all facts", opts: CompiledOptions{Targets: []string{"gpu:sm_80"}}, over: few},
		{name: "for all facts, many",
			opts: CompiledOptions{Targets: []string{"gpu:sm_80", "gpu:sm_90"}}, over: many},
		{name: "for these", opts: CompiledOptions{Targets: []string{"gpu:sm_90"}}, facts: few,
			over: few},
		{name: "for others", opts: CompiledOptions{Targets: []string{"gpu:sm_90"}}, facts: few,
			over:  many,
			fails: "the compiled program's code is for other facts: column_width _ 0 is 2 and not 1; compile it without --facts"},
		{name: "for a later GPU", opts: CompiledOptions{Targets: []string{"gpu:sm_100"}}, over: few,
			fails: "the compiled program has code for gpu:sm_100, and GPU 0, Emulated GPU (sm_90) needs it for gpu:sm_90 or an older one"},
		{name: "for the cpu", opts: CompiledOptions{Targets: []string{"cpu"}}, over: few,
			fails: "code for a GPU must be compiled, and "},
		{name: "of another output", opts: CompiledOptions{Targets: []string{"gpu:sm_90"}},
			over: few, outputs: []string{"reach"},
			fails: "has code for what it prints by default, which is _, and not for reach"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			emulateGPU(t, emulated.Options{})
			prog := compileText(t, closure, Options{})
			if tt.facts != nil {
				tt.opts.Facts = loadedEdges(t, prog, tt.facts...)
			}
			prog = storedProgram(t, prog, tt.opts, true)
			db := loadedEdges(t, prog, tt.over...)
			outputs := tt.outputs
			if outputs == nil {
				outputs = []string{"_"}
			}
			want, err := prog.RunOn(ctx, db, RunOptions{Engine: "go", Outputs: outputs})
			if err != nil {
				t.Fatal(err)
			}
			hideLLVM(t)
			got, err := prog.RunOn(ctx, db, RunOptions{Engine: "gpu", Outputs: outputs})
			if tt.fails != "" {
				var missing *EnvironmentError
				if !errors.As(err, &missing) || !strings.Contains(err.Error(), tt.fails) {
					t.Fatalf("got %v", err)
				}
				t.Log(err)
				// Where it can be compiled, it is.
				showLLVM(t)
				got, err = prog.RunOn(ctx, db, RunOptions{Engine: "gpu", Outputs: outputs})
			}
			if err != nil {
				t.Fatal(err)
			}
			if a, b := resultText(t, got), resultText(t, want); a != b {
				t.Errorf("got\n%.1000s\nwant\n%.1000s", a, b)
			}
		})
	}
}

// TestUntrustedCode runs no code of a compiled program that is not trusted: it
// is compiled again, or the run refuses.
func TestUntrustedCode(t *testing.T) {
	ctx := context.Background()
	emulateGPU(t, emulated.Options{})
	prog := compileText(t, closure, Options{})
	prog = storedProgram(t, prog, CompiledOptions{Targets: []string{"gpu:sm_80"}}, false)
	db := loadedEdges(t, prog, "ann\tbob", "bob\tcid")
	want, err := prog.RunOn(ctx, db, RunOptions{Engine: "go"})
	if err != nil {
		t.Fatal(err)
	}
	spoiled := *prog.codes.List[0]
	spoiled.Text = ".version 7.8\nthis would fail"
	prog.codes.List[0] = &spoiled
	got, err := prog.RunOn(ctx, db, RunOptions{Engine: "gpu"})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := resultText(t, got), resultText(t, want); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
	hideLLVM(t)
	var missing *EnvironmentError
	_, err = prog.RunOn(ctx, db, RunOptions{Engine: "gpu"})
	if !errors.As(err, &missing) ||
		!strings.HasPrefix(missing.Message,
			"the compiled program's code is not trusted, and it cannot be compiled here: ") ||
		!strings.HasPrefix(missing.Help, "give --trust-code if you trust whoever made the file") {
		t.Errorf("got %v", err)
	}
	if chosen, _, err := prog.ChooseEngine(db, RunOptions{}); err != nil || chosen.Name != "go" {
		t.Errorf("auto is %v, %v", chosen, err)
	}
	prog.codes.Distrust = false
	if _, err := prog.RunOn(ctx, db, RunOptions{Engine: "gpu"}); err == nil ||
		strings.Contains(err.Error(), "not trusted") {
		t.Errorf("code that is trusted is not run: %v", err)
	}
}

// TestNoCompiler runs a program on a GPU where nothing can be compiled.
func TestNoCompiler(t *testing.T) {
	emulateGPU(t, emulated.Options{})
	hideLLVM(t)
	prog := compileText(t, closure, Options{})
	_, err := prog.Run(context.Background(), NewFacts(), RunOptions{Engine: "gpu"})
	var missing *EnvironmentError
	if !errors.As(err, &missing) ||
		!strings.Contains(err.Error(), "code for a GPU must be compiled") ||
		!strings.Contains(err.Error(), "redfox compile --target gpu:sm_90 -o FILE.rfx") {
		t.Errorf("got %v", err)
	}
	if info := process.Machine.Engine("gpu"); info.Available ||
		!strings.Contains(info.Detail, "compiled programs") {
		t.Errorf("%+v", info)
	}
	devices, err := Devices()
	if err != nil ||
		!strings.Contains(devices[0].Detail, "runs compiled programs with code for gpu:sm_90") {
		t.Errorf("%+v, %v", devices, err)
	}
}

// TestTrace reads a trace as a viewer does: each span is on a track with a
// name, and is within the run.
func TestTrace(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		prog := compileText(t, closure, Options{})
		db := loadedEdges(t, prog, "ann\tbob", "bob\tcid")
		var tracer Tracer
		if _, err := prog.RunOn(context.Background(), db,
			RunOptions{Engine: engine, Trace: tracer.Add}); err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := tracer.Write(&text); err != nil {
			t.Fatal(err)
		}
		var trace struct {
			Unit   string `json:"displayTimeUnit"`
			Events []struct {
				Name     string         `json:"name"`
				Phase    string         `json:"ph"`
				Time     *float64       `json:"ts"`
				Duration *float64       `json:"dur"`
				Process  *int           `json:"pid"`
				Thread   *int           `json:"tid"`
				Args     map[string]any `json:"args"`
			} `json:"traceEvents"`
		}
		decoder := json.NewDecoder(&text)
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&trace); err != nil {
			t.Fatal(err)
		}
		tracks, spans := map[int]string{}, map[string]int{}
		ends := map[int][]float64{} // of the spans that the last one of a track is within
		var whole float64
		for _, e := range trace.Events {
			if e.Time == nil || e.Process == nil || e.Thread == nil || e.Name == "" {
				t.Fatalf("event %+v lacks what every event has", e)
			}
			switch {
			case e.Phase == "M" && e.Name == "thread_name":
				tracks[*e.Thread] = e.Args["name"].(string)
			case e.Phase == "M":
			case e.Phase != "X" || e.Duration == nil || *e.Duration < 0 || *e.Time < 0 ||
				tracks[*e.Thread] == "":
				t.Errorf("%+v is no span of a track", e)
			default:
				spans[tracks[*e.Thread]]++
				within, end := ends[*e.Thread], *e.Time+*e.Duration
				for len(within) > 0 && within[len(within)-1] <= *e.Time+0.001 {
					within = within[:len(within)-1]
				}
				if len(within) > 0 && within[len(within)-1] < end-0.001 {
					t.Errorf("%s overlaps another span of %s", e.Name, tracks[*e.Thread])
				}
				ends[*e.Thread] = append(within, end)
				if e.Name == "run on "+engine {
					whole = *e.Time + *e.Duration
				}
			}
		}
		want := []string{"redfox", "host"}
		if engine == "gpu" {
			want = append(want, "kernels", "transfers")
		}
		for _, track := range want {
			if spans[track] == 0 {
				t.Errorf("nothing is on track %s of %v", track, spans)
			}
		}
		const slack = 1000 // between the clocks of host and device, in microseconds
		for _, e := range trace.Events {
			if e.Phase == "X" && *e.Time+*e.Duration > whole+slack {
				t.Errorf("%s ends after the run, at %v of %v", e.Name, *e.Time+*e.Duration, whole)
			}
		}
	})
}
