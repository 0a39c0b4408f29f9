package driver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
	"github.com/redfoxdb/redfox/runtime/machine"
)

const closure = `
edge(x, y) -> string(x), string(y).
reach(x, y) <- edge(x, y).
reach(x, z) <- reach(x, y), edge(y, z).
_(y) <- reach("ann", y).
`

func compileText(t testing.TB, text string, opts Options) *Program {
	t.Helper()
	prog, err := Compile(context.Background(), []Source{Text("p.logic", text)}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return prog
}

// loadedEdges returns a program and facts for it, each of its own types' text.
func loadedEdges(t *testing.T, prog *Program, edges ...string) *Database {
	t.Helper()
	text := strings.NewReader(strings.Join(edges, "\n") + "\n")
	db, err := prog.Load(context.Background(), NewFacts().Reader("edge", TSVFacts, text), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func resultText(t *testing.T, res *Result) string {
	t.Helper()
	var out bytes.Buffer
	for _, pred := range res.Predicates() {
		fmt.Fprintf(&out, "%s:\n", pred)
		if err := res.Write(&out, pred, TSV, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// TestProgramsOnGPU runs the programs of testdata on an emulated GPU.
func TestProgramsOnGPU(t *testing.T) {
	emulateGPU(t, emulated.Options{Seed: 5})
	dirs, err := filepath.Glob("../../testdata/programs/*/program.logic")
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		t.Log("left out: -short: 19 of 20 programs on an emulated GPU")
	}
	ctx := context.Background()
	for i, file := range dirs {
		if testing.Short() && i%20 > 0 {
			continue
		}
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			sources, err := ReadSources(file)
			if err != nil {
				t.Fatal(err)
			}
			prog, err := Compile(ctx, sources, Options{})
			if err != nil {
				t.Fatal(err)
			}
			facts := FactsIn(filepath.Join(filepath.Dir(file), "facts"))
			want, failure := prog.Run(ctx, facts, RunOptions{Engine: "go"})
			got, err := prog.Run(ctx, facts, RunOptions{Engine: "gpu", Resident: true})
			switch {
			case fmt.Sprint(err) != fmt.Sprint(failure):
				t.Fatalf("the error is %v, not %v", err, failure)
			case err != nil:
				return
			}
			if got.Stats.Engine != "gpu" {
				t.Errorf("it ran on engine %s", got.Stats.Engine)
			}
			if a, b := resultText(t, got), resultText(t, want); a != b {
				t.Errorf("got\n%.2000s\nwant\n%.2000s", a, b)
			}
		})
	}
}

// TestNoGPU holds what is said where there is no GPU to use, and whether auto
// says so.
func TestNoGPU(t *testing.T) {
	prog := compileText(t, closure, Options{})
	var many []string
	for i := range 1024 {
		many = append(many, fmt.Sprintf("a\tb%d", i))
	}
	db := loadedEdges(t, prog, many...)
	for _, tt := range []struct {
		name     string
		attempts []cuda.Attempt
		want     string
		problem  bool
	}{
		{"no driver", []cuda.Attempt{{Name: "libcuda.so.1", Problem: cuda.NoDriver, Reason: "no such library"}},
			"engine gpu is not available: there is no NVIDIA GPU to use; install NVIDIA's driver", false},
		{"no device", []cuda.Attempt{{Name: "libcuda.so.1", Problem: cuda.NoDevice, Reason: "the driver finds no GPU"}},
			"libcuda.so.1: the driver finds no GPU; see whether nvidia-smi lists one", false},
		{"old driver", []cuda.Attempt{{Name: "libcuda.so.1", Problem: cuda.DriverTooOld, Reason: "a driver for CUDA 10.2"}},
			"a driver for CUDA 10.2; install a driver for CUDA 11.4 or newer", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			noGPU(t, tt.attempts...)
			_, err := prog.RunOn(context.Background(), db, RunOptions{Engine: "gpu"})
			var missing *EnvironmentError
			if !errors.As(err, &missing) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
			if _, err := Devices(); err == nil {
				t.Error("there are devices")
			}
			if _, err := OpenSession(SessionOptions{Engine: "gpu"}); err == nil {
				t.Error("a session opens")
			}
			_, passed, err := ChooseEngine("auto")
			if said := len(passed) > 0 && passed[0].Name == "gpu"; err != nil || said != tt.problem {
				t.Errorf("auto passes over %v", passed)
			}
			if _, err := prog.RunOn(context.Background(), db, RunOptions{}); err != nil {
				t.Errorf("auto: %v", err)
			}
		})
	}
}

// TestCards lists several GPUs and runs on the last.
func TestCards(t *testing.T) {
	emulateGPU(t, emulated.Options{Devices: 3})
	devices, err := Devices()
	if err != nil || len(devices) != 3 || !devices[1].Usable || devices[1].Free == 0 ||
		devices[1].Detail != "runs every program" {
		t.Errorf("%+v, %v", devices, err)
	}
	prog := compileText(t, closure, Options{})
	res, err := prog.Run(context.Background(), NewFacts().Rows("edge", []any{"ann", "bob"}),
		RunOptions{Engine: "gpu", Device: "2", Profile: true})
	if err != nil {
		t.Fatal(err)
	}
	if res.Stats.Device == nil || res.Stats.Device.Peak == 0 || len(res.Stats.Kernels) == 0 {
		t.Errorf("stats: %+v", res.Stats)
	}
}

// TestAutoOnGPU takes the GPU for many facts that fit it.
func TestAutoOnGPU(t *testing.T) {
	emulateGPU(t, emulated.Options{})
	prog := compileText(t, closure, Options{})
	db := loadedEdges(t, prog, "ann\tbob")
	many := &Database{store: db.store, print: db.print, bytes: db.bytes}
	for _, tt := range []struct {
		rows   int
		bytes  int64
		memory int64
		want   string
	}{
		{100, 800, 0, "go"},
		{machine.FewFacts, 800, 0, "cpu"},
		{machine.FewGPUFacts, 8 << 20, 0, "gpu"},
		{machine.FewGPUFacts, 8 << 20, 15 << 20, "cpu"},
		{machine.FewGPUFacts, 600 << 20, 0, "cpu"},
	} {
		// The loaded facts count, not all facts that exist.
		table := *db.store.Relation("edge").Table
		table.Rows = tt.rows
		rel := *db.store.Relation("edge")
		rel.Table = &table
		many.store.Put(&rel)
		many.bytes = tt.bytes
		chosen, passed, err := prog.ChooseEngine(many, RunOptions{DeviceMemory: tt.memory})
		if err != nil || chosen.Name != tt.want {
			t.Errorf("%d rows, %d bytes of %d: %s, %v", tt.rows, tt.bytes, tt.memory, chosen.Name, err)
		}
		if said := len(passed) > 0; said != (tt.rows >= machine.FewGPUFacts && tt.want == "cpu") {
			t.Errorf("%d rows, %d bytes of %d: passed over %v", tt.rows, tt.bytes, tt.memory, passed)
		}
	}
}

// TestNamedDevice holds that a GPU that is named is used, or is an error that
// says why not: with auto over however few facts, in runs, sessions and ahead
// of both.
func TestNamedDevice(t *testing.T) {
	ctx := context.Background()
	prog := compileText(t, closure, Options{})
	db := loadedEdges(t, prog, "ann\tbob")
	run := func(opts RunOptions) (string, error) {
		res, err := prog.RunOn(ctx, db, opts)
		if err != nil {
			return "", err
		}
		return res.Stats.Engine, nil
	}
	load := func(opts RunOptions) (string, error) {
		_, err := prog.LoadFor(ctx, NewFacts().Rows("edge", []any{"ann", "bob"}), opts)
		return opts.Engine, err
	}
	session := func(opts RunOptions) (string, error) {
		s, err := OpenSession(SessionOptions{Engine: opts.Engine, Device: opts.Device,
			DeviceMemory: opts.DeviceMemory})
		if err != nil {
			return "", err
		}
		defer s.Close()
		res, err := s.Run(ctx, prog, db, RunOptions{})
		if err != nil {
			return "", err
		}
		return res.Stats.Engine, nil
	}
	uses := map[string]func(RunOptions) (string, error){"run": run, "load": load, "session": session}
	refused := func(opts RunOptions, without []string, wants ...string) {
		t.Helper()
		for name, use := range uses {
			if slices.Contains(without, name) {
				continue
			}
			_, err := use(opts)
			var environment *EnvironmentError
			if !errors.As(err, &environment) {
				t.Errorf("%s with %q, device %q: %v", name, opts.Engine, opts.Device, err)
				continue
			}
			for _, want := range wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s with %q, device %q: %v lacks %q", name, opts.Engine, opts.Device, err, want)
				}
			}
		}
	}
	for _, engine := range []string{"go", "cpu"} {
		refused(RunOptions{Engine: engine, Device: "0"}, nil, "GPU 0 is named", engine)
		refused(RunOptions{Engine: engine, DeviceMemory: 1 << 30}, nil, "memory of a GPU", engine)
	}
	emulateGPU(t, emulated.Options{})
	for _, engine := range []string{"", "auto", "gpu"} {
		ways := map[string]func(RunOptions) (string, error){"run": run, "session": session}
		for name, use := range ways {
			if on, err := use(RunOptions{Engine: engine, Device: "0"}); err != nil || on != "gpu" {
				t.Errorf("%s with %q, device 0: ran on %q, %v", name, engine, on, err)
			}
		}
		// Facts are loaded all the same: the engine is for the run to find.
		refused(RunOptions{Engine: engine, Device: "3"}, []string{"load"}, `there is no GPU "3"`, "0: ")
	}
	if on, err := run(RunOptions{DeviceMemory: 1 << 30}); err != nil || on != "go" {
		t.Errorf("a bound of the memory of a GPU that few facts do not need: %q, %v", on, err)
	}
}

// TestDeviceFailures has calls of the driver fail in the middle of runs. Each
// is an environment's error, and the next run works.
func TestDeviceFailures(t *testing.T) {
	d := emulateGPU(t, emulated.Options{Memory: 16 << 20})
	ctx := context.Background()
	prog := compileText(t, closure, Options{})
	db := loadedEdges(t, prog, "ann\tbob", "bob\tcid", "cid\tdee")
	good := func() {
		t.Helper()
		res, err := prog.RunOn(ctx, db, RunOptions{Engine: "gpu"})
		if err != nil {
			t.Fatal(err)
		}
		if res.Len("reach") != 6 {
			t.Errorf("%d tuples", res.Len("reach"))
		}
	}
	good()
	for _, tt := range []struct {
		fault emulated.Fault
		want  []string
	}{
		{emulated.Fault{Calls: []string{emulated.Execution}, Times: 1,
			Code: emulated.IllegalAddress}, []string{"the GPU is lost", "use --engine cpu"}},
		{emulated.Fault{Calls: []string{"cuLaunchKernel"}, Times: 1, Code: emulated.LaunchFailed}, []string{"GPU"}},
		{emulated.Fault{Calls: emulated.Allocations, Code: emulated.OutOfMemory}, []string{"memory", "--device"}},
	} {
		d.Inject(tt.fault)
		_, err := prog.RunOn(ctx, db, RunOptions{Engine: "gpu"})
		if !d.Heal() {
			t.Errorf("%v: the call was not made", tt.fault)
		}
		var environment *EnvironmentError
		if !errors.As(err, &environment) {
			t.Errorf("%v: got %v", tt.fault, err)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v lacks %q", tt.fault, err, want)
			}
		}
		good()
	}
	grow := compileText(t, "n(x) -> int(x).\npair(x, y) <- n(x), n(y).\n", Options{})
	var rows [][]any
	for i := range 2000 {
		rows = append(rows, []any{i})
	}
	res, err := grow.Run(ctx, NewFacts().Rows("n", rows...), RunOptions{Engine: "gpu"})
	if err != nil || res.Len("pair") != 4_000_000 || res.Stats.Spill == nil ||
		res.Stats.Device.Launches == 0 {
		t.Errorf("4 million pairs in 16 MiB: %v", err)
	}
	good()
	res, err = prog.RunOn(ctx, db, RunOptions{Engine: "gpu", DeviceMemory: 1 << 10})
	if err != nil || res.Stats.Spill == nil || res.Stats.Device.Peak > 1<<10 {
		t.Errorf("a KiB of memory: %v", err)
	}
	good()
}
