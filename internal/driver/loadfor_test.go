package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/redfoxdb/redfox/internal/await"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/runtime/pool"
)

// weights has a functional predicate, whose key the plan does not need, and a
// relation.
const weights = `
weight[k] = v -> int(k), int(v).
edge(x, y) -> int(x), int(y).
total[] = s <- agg<<s = total(v)>> weight[_] = v.
ends[] = s <- agg<<s = total(y)>> edge(_, y).
_(s, n) <- total[] = s, ends[] = n.
`

// weightFacts are n rows for each predicate.
func weightFacts(n int) *Facts {
	var weight, edge strings.Builder
	for i := range n {
		fmt.Fprintf(&weight, "%d\t%d\n", i, 3*i%1000)
		fmt.Fprintf(&edge, "%d\t%d\n", i, i*7%n)
	}
	return NewFacts().Reader("edge", TSVFacts, strings.NewReader(edge.String())).
		Reader("weight", TSVFacts, strings.NewReader(weight.String()))
}

// lateReader ends once a condition holds.
type lateReader struct {
	t         *testing.T
	condition func() bool
}

func (r lateReader) Read([]byte) (int, error) {
	await.Until(r.t, "a column on the GPU", r.condition)
	return 0, io.EOF
}

// copies returns the names of the columns that were copied ahead.
func copies(tracer *Tracer) (names []string) {
	for _, s := range tracer.Spans() {
		if s.Track == "copies" {
			names = append(names, s.Name)
		}
	}
	return names
}

// TestLoadFor has facts on the GPU before the first run, which runs as it does
// over others.
func TestLoadFor(t *testing.T) {
	ctx := context.Background()
	onEngines(t, func(t *testing.T, engine string) {
		prog := compileText(t, weights, Options{})
		var tracer Tracer
		opts := RunOptions{Engine: engine, Trace: tracer.Add}
		db, err := prog.LoadFor(ctx, weightFacts(5000), opts)
		if err != nil {
			t.Fatal(err)
		}
		if engine == "gpu" {
			<-db.prefetch.Done()
		}
		res, err := prog.RunOn(ctx, db, opts)
		if err != nil {
			t.Fatal(err)
		}
		if engine == "gpu" { // the run reads no others
			got := copies(&tracer)
			slices.Sort(got)
			if want := []string{"edge", "weight"}; !slices.Equal(got, want) {
				t.Errorf("%v were copied ahead, not %v", got, want)
			}
		}
		if got := resultText(t, res); !strings.Contains(got, "_:\n2497500\t12497500\n") {
			t.Errorf("got %q", got)
		}
		if res, err = prog.Run(ctx, weightFacts(5000), opts); err != nil || res.Len("_") != 1 {
			t.Errorf("%v", err)
		}
	})
}

// TestLoadForAuto has columns go to a GPU if they have so many rows that it
// will be taken.
func TestLoadForAuto(t *testing.T) {
	emulateGPU(t, emulated.Options{Seed: 3})
	prog := compileText(t, weights, Options{})
	for rows, want := range map[int]int{1000: 0, machine.FewGPUFacts: 2} {
		var tracer Tracer
		db, err := prog.LoadFor(context.Background(), weightFacts(rows),
			RunOptions{Trace: tracer.Add})
		if err != nil {
			t.Fatal(err)
		}
		<-db.prefetch.Done()
		if got := copies(&tracer); len(got) != want {
			t.Errorf("of %d rows %v were copied", rows, got)
		}
	}
	// A column would fit, and all facts do not.
	opts := RunOptions{DeviceMemory: 16 << 20}
	db, err := prog.LoadFor(context.Background(), weightFacts(machine.FewGPUFacts), opts)
	if err != nil {
		t.Fatal(err)
	}
	<-db.prefetch.Done()
	selected, err := process.Machine.Select(opts.want())
	if err != nil {
		t.Fatal(err)
	}
	choice, ok := selected.OnGPU(machine.Size{Rows: machine.FewGPUFacts}, nil)
	if err := process.With(choice, prog.fusing, func(e runtime.Engine) error {
		if use := e.(*gpu.Engine).Use(); !ok || use.Peak == 0 || use.Held != 0 {
			t.Errorf("the GPU is not for these facts, and its engine holds %+v", use)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestLoadForFails has a load that fails when columns are on the GPU, where
// nothing may stay, and a GPU that fails, which the run says.
func TestLoadForFails(t *testing.T) {
	d := emulateGPU(t, emulated.Options{Seed: 3})
	ctx := context.Background()
	prog := compileText(t, weights, Options{})
	s, err := OpenSession(SessionOptions{Engine: "gpu"})
	if err != nil {
		t.Fatal(err)
	}
	var wrong *ProgramError
	held := false
	conflict := NewFacts().Reader("edge", TSVFacts, strings.NewReader("1\t2\n3\t4\n")).
		Reader("weight", TSVFacts,
			io.MultiReader(strings.NewReader("1\t2\n1\t3\n"), lateReader{t, func() bool {
				held = s.DeviceUse().Held > 0
				return held
			}}))
	if _, err := s.Load(ctx, prog, conflict, LoadOptions{}); !errors.As(err, &wrong) || !held {
		t.Errorf("a column was copied: %t, and then %v", held, err)
	}
	if use := s.DeviceUse(); use.Held != 0 {
		t.Errorf("nothing is loaded, and the session holds %+v", use)
	}
	db, err := s.Load(ctx, prog, weightFacts(5000), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	<-db.prefetch.Done()
	if use := s.DeviceUse(); use.Held == 0 {
		t.Error("nothing is copied")
	}
	s.Forget(db)
	if use := s.DeviceUse(); use.Held != 0 {
		t.Errorf("nothing is to be kept, and the session holds %+v", use)
	}
	d.Inject(emulated.Fault{Calls: []string{"cuMemcpyHtoDAsync"}, Times: 1,
		Code: emulated.LaunchFailed})
	if db, err = s.Load(ctx, prog, weightFacts(5000), LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	<-db.prefetch.Done()
	if !d.Heal() {
		t.Error("nothing failed")
	}
	if res, err := s.Run(ctx, prog, db, RunOptions{}); err != nil || res.Len("_") != 1 {
		t.Errorf("another engine: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Load(ctx, prog, weightFacts(50), LoadOptions{}); !errors.Is(err,
		pool.ErrClosed) {
		t.Errorf("a closed session: %v", err)
	}
}

// TestClosedSessionIsGarbage has facts that outlive sessions, which they do not
// keep.
func TestClosedSessionIsGarbage(t *testing.T) {
	ctx := context.Background()
	onEngines(t, func(t *testing.T, engine string) {
		prog := compileText(t, weights, Options{})
		db, err := prog.Load(ctx, weightFacts(500), LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		used := func() weak.Pointer[Session] {
			s, err := OpenSession(SessionOptions{Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			for range 4 {
				if res, err := s.Run(ctx, prog, db, RunOptions{}); err != nil || res.Len("_") != 1 {
					t.Errorf("%v", err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			return weak.Make(s)
		}
		s := used()
		await.Until(t, "a closed session to be garbage", func() bool {
			goruntime.GC()
			return s.Value() == nil
		})
		goruntime.KeepAlive(db)
	})
}
