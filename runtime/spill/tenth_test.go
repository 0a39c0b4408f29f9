package spill

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/store"
)

// pairs returns n different pairs of numbers below most.
func pairs(rng *rand.Rand, n, most int) []oracle.Tuple {
	seen := map[[2]int]bool{}
	var out []oracle.Tuple
	for len(out) < n {
		p := [2]int{rng.IntN(most), rng.IntN(most)}
		if !seen[p] {
			seen[p] = true
			out = append(out, oracle.Tuple{scalar.OfInt(scalar.IntType, int64(p[0])),
				scalar.OfInt(scalar.IntType, int64(p[1]))})
		}
	}
	return out
}

const edges = "edge(x, y) -> int(x), int(y).\n"

// tenths are programs whose relations take many times what their facts take.
var tenths = []struct {
	name, text string
	facts      func(rng *rand.Rand) oracle.Facts
}{
	{"a closure", edges + `
tc(x, y) <- edge(x, y).
tc(x, z) <- tc(x, y), edge(y, z).
`, graph(1500, 1300)},
	{"a closure of itself", edges + `
tc(x, y) <- edge(x, y).
tc(x, z) <- tc(x, y), tc(y, z).
`, graph(900, 900)},
	{"the same generation", edges + `
sg(x, y) <- edge(a, x), edge(a, y), x != y.
sg(x, y) <- edge(a, x), sg(a, b), edge(b, y).
`, graph(1400, 900)},
	{"an analysis", `
address(v, o) -> int(v), int(o).
assign(v, w) -> int(v), int(w).
load(v, w) -> int(v), int(w).
store(v, w) -> int(v), int(w).
points(v, o) <- address(v, o).
points(v, o) <- assign(v, w), points(w, o).
points(v, o) <- load(v, w), points(w, a), points(a, o).
points(a, o) <- store(v, w), points(v, a), points(w, o).
`, func(rng *rand.Rand) oracle.Facts {
		return oracle.Facts{"address": pairs(rng, 250, 300), "assign": pairs(rng, 260, 300),
			"load": pairs(rng, 50, 300), "store": pairs(rng, 50, 300)}
	}},
	{"triangles", edges + `
triangle(x, y, z) <- edge(x, y), edge(y, z), edge(z, x).
n[] = v <- agg<<v = count()>> triangle(_, _, _).
`, graph(60_000, 500)},
	{"a join and groups", edges + `
hop(x, y, z) <- edge(x, y), edge(y, z).
n[x, z] = v <- agg<<v = count()>> hop(x, _, z).
sum[x] = v <- agg<<v = total(w)>> n[x, z] = w.
most[] = v <- agg<<v = max(w)>> n[_, _] = w.
`, graph(8000, 600)},
}

func graph(n, nodes int) func(rng *rand.Rand) oracle.Facts {
	return func(rng *rand.Rand) oracle.Facts {
		return oracle.Facts{"edge": pairs(rng, n, nodes)}
	}
}

// TestTenth runs programs in a tenth of the memory that they take without a
// bound.
func TestTenth(t *testing.T) {
	for _, c := range tenths {
		t.Run(c.name, func(t *testing.T) {
			plan, db := enginetest.Stored(t, c.text, c.facts(rand.New(rand.NewPCG(1, 2))))
			req := &runtime.Request{Plan: plan, Facts: db}
			want, err := portable.New().Run(context.Background(), req)
			if err != nil {
				t.Fatal(err)
			}
			req.Memory = want.Peak / 10
			var memory *runtime.MemoryError
			if _, err := portable.New().Run(context.Background(), req); !errors.As(err, &memory) {
				t.Fatalf("%d bytes suffice: %v", req.Memory, err)
			}
			folder := t.TempDir()
			got, err := Run(context.Background(), portable.New(), req, Options{Folder: folder})
			if err != nil {
				t.Fatal(err)
			}
			if !sameTuples(got, want) {
				t.Error("the answers differ")
			}
			if got.Peak > req.Memory {
				t.Errorf("%d bytes are held, of %d", got.Peak, req.Memory)
			}
			if s := got.Spill; s.Written == 0 || s.Boxes < 2 {
				t.Errorf("%d bytes written, %d boxes", s.Written, s.Boxes)
			}
			if left, err := os.ReadDir(folder); len(left) > 0 || err != nil {
				t.Errorf("%v is left, %v", left, err)
			}
			t.Logf("%d of %d bytes, %d boxes, wrote %d, read %d", req.Memory, want.Peak,
				got.Spill.Boxes, got.Spill.Written, got.Spill.Read)
		})
	}
}

// sameTuples compares answers over ints by sums of hashes, which are those of
// sets.
func sameTuples(a, b *runtime.Answer) bool {
	for name, rel := range b.Outputs {
		if a.Outputs[name].Rows() != rel.Rows() || digest(a.Outputs[name]) != digest(rel) {
			return false
		}
	}
	return len(a.Outputs) == len(b.Outputs)
}

func digest(rel *store.Relation) (sum uint64) {
	for i := range rel.Rows() {
		h := uint64(1)
		for _, c := range rel.Columns() {
			h = hash(int64(h*31) + c.Word(i))
		}
		sum += h
	}
	return sum
}

// faulty is a file that fails at a call.
type faulty struct {
	Store
	mu        sync.Mutex
	calls, at int
}

func (f *faulty) fails() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	return f.calls == f.at
}

func (f *faulty) WriteAt(data []byte, at int64) (int, error) {
	if f.fails() {
		return len(data) / 2, &os.PathError{Op: "write", Path: "gone", Err: syscall.ENOSPC}
	}
	return f.Store.WriteAt(data, at)
}

func (f *faulty) ReadAt(data []byte, at int64) (int, error) {
	if f.fails() {
		return 0, syscall.EIO
	}
	return f.Store.ReadAt(data, at)
}

// TestFailingFile has each write and read of a run fail in turn, of those that
// are many only some.
func TestFailingFile(t *testing.T) {
	plan, db := enginetest.Stored(t, tenths[2].text, graph(150, 120)(rand.New(rand.NewPCG(1, 2))))
	folder := t.TempDir()
	run := func(ctx context.Context, f *faulty) (*runtime.Answer, error) {
		inner := &strict{portable.New(), 20, db, map[string]bool{}}
		return Run(ctx, inner, &runtime.Request{Plan: plan, Facts: db, Memory: 1 << 30},
			Options{Folder: folder, Open: func() (Store, error) {
				var err error
				f.Store, err = open(folder)
				return f, err
			}})
	}
	whole := &faulty{}
	if _, err := run(context.Background(), whole); err != nil {
		t.Fatal(err)
	}
	for at := 1; at <= whole.calls; at += 1 + whole.calls/40 {
		answer, err := run(context.Background(), &faulty{at: at})
		var spilled *runtime.SpillError
		if answer != nil || !errors.As(err, &spilled) ||
			!errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EIO) {
			t.Errorf("call %d of %d: %v", at, whole.calls, err)
		}
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	if _, err := run(ctx, &faulty{}); err != why {
		t.Errorf("a cancelled run returns %v", err)
	}
	if left, err := os.ReadDir(folder); len(left) > 0 || err != nil {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestNoFolder wants the error to name the folder.
func TestNoFolder(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(3))
	_, err := Run(context.Background(), portable.New(),
		&runtime.Request{Plan: plan, Facts: db, Memory: 1 << 20}, Options{Folder: "/nowhere/at/all"})
	const want = "redfox cannot make a file in /nowhere/at/all: no such file or directory"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// TestWhatCannotBeCut wants the error of a run without a file where one value
// of a group has too many rows to be put in order.
func TestWhatCannotBeCut(t *testing.T) {
	plan, err := queryplan.Parse("test", `
var edge(x: int, y: int) input "edge"
var out(i: int, x: int, y: int) derived output
block b0:
  insert out
    project i, x, y
      seq i order [y]
        scan edge(x, y)
  merge out
  halt
`)
	if err != nil {
		t.Fatal(err)
	}
	_, db := enginetest.Stored(t, edges+"out(x, y) <- edge(x, y).",
		graph(40_000, 1000)(rand.New(rand.NewPCG(1, 2))))
	_, err = Run(context.Background(), portable.New(),
		&runtime.Request{Plan: plan, Facts: db, Memory: 100_000}, Options{Folder: t.TempDir()})
	var memory *runtime.MemoryError
	if !errors.As(err, &memory) || memory.Bound != 100_000 || memory.Held > memory.Bound {
		t.Errorf("got %v", err)
	}
}
