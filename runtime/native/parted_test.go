package native

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable"
)

// decomposed are programs with a loop that a column decomposes, over edges
// whose nodes are numbers, or strings where they say so.
var decomposed = []struct {
	name, text string
	strings    bool
}{
	{name: "right-linear", text: enginetest.Closure},
	{name: "left-linear, counted", text: `
edge(x, y) -> int(x), int(y).
_tc(x, y) <- edge(x, y).
_tc(x, z) <- edge(x, y), _tc(y, z).
n[] = v <- agg<<v = count()>> _tc(_, _).
`},
	{name: "two rules, one column read", text: `
edge(x, y) -> int(x), int(y).
back(x, y) -> int(x), int(y).
back(y, x) <- edge(x, y), x < 40.
_r(x, y) <- edge(x, y).
_r(x, z) <- _r(x, y), edge(y, z), z != 3.
_r(x, z) <- _r(x, y), back(y, z).
out(y) <- _r(_, y).
`},
	{name: "two columns carried", text: `
edge(x, y) -> int(x), int(y).
r(g, x, y) <- edge(x, y), edge(x, g).
r(g, x, z) <- r(g, x, y), edge(y, z), g < 12.
`},
	{name: "a lonely value", text: `
edge(x, y) -> int(x), int(y).
r(7, y) <- edge(_, y).
r(x, z) <- r(x, y), edge(y, z).
`},
	{name: "strings", strings: true, text: `
edge(x, y) -> string(x), string(y).
tc(x, y) <- edge(x, y).
tc(x, z) <- tc(x, y), edge(y, z).
`},
	{name: "a filter that needs a function of the host", strings: true, text: `
edge(x, y) -> string(x), string(y).
tc(x, y) <- edge(x, y).
tc(x, w) <- tc(x, y), edge(y, z), string:length[z] < 3, w = string:add[z, "'"].
tc(x, z) <- tc(x, y), edge(y, z).
`},
}

// shapes are graphs: dense numbers, numbers far apart, numbers that together
// fill more than a word, a hub, and a path.
var shapes = []struct {
	name  string
	edges func(rng *rand.Rand) [][2]int64
}{
	{"dense", func(rng *rand.Rand) [][2]int64 { return randomEdges(rng, 120, 60, 1) }},
	{"far apart", func(rng *rand.Rand) [][2]int64 { return randomEdges(rng, 100, 60, 1<<20+7) }},
	{"wide", func(rng *rand.Rand) [][2]int64 { return randomEdges(rng, 90, 50, 1<<55+3) }},
	{"a hub", func(rng *rand.Rand) (edges [][2]int64) {
		for i := range int64(60) {
			edges = append(edges, [2]int64{0, i}, [2]int64{i, i + 1})
		}
		return edges
	}},
	{"a path", func(*rand.Rand) (edges [][2]int64) {
		for i := range int64(90) {
			edges = append(edges, [2]int64{i - 20, i - 19})
		}
		return edges
	}},
}

// randomEdges has n edges between so many nodes, whose numbers are a step
// apart.
func randomEdges(rng *rand.Rand, n, nodes int, step int64) (edges [][2]int64) {
	for range n {
		edges = append(edges,
			[2]int64{(rng.Int64N(int64(nodes)) - 10) * step,
				(rng.Int64N(int64(nodes)) - 10) * step})
	}
	return edges
}

// TestDecomposed compares loops that are decomposed with the go engine, and
// says how often they were: from the calls of a kernel, which are more than the
// rounds.
func TestDecomposed(t *testing.T) {
	engines := []*engine{newEngine(t, 1024, false), newEngine(t, 32, false)}
	engines[0].sizes.values = 1
	for _, p := range decomposed {
		for _, shape := range short.Part(t, shapes, "shapes of graphs") {
			facts := oracle.Facts{}
			for _, e := range shape.edges(rand.New(rand.NewPCG(1, 2))) {
				tuple := oracle.Tuple{scalar.OfInt(scalar.IntType, e[0]),
					scalar.OfInt(scalar.IntType, e[1])}
				if p.strings {
					tuple = oracle.Tuple{scalar.OfString(fmt.Sprint(e[0])),
						scalar.OfString(fmt.Sprint(e[1]))}
				}
				facts["edge"] = append(facts["edge"], tuple)
			}
			plan, db := enginetest.Stored(t, p.text, facts)
			req := runtime.Request{Plan: plan, Facts: db, Profile: true}
			want, err := portable.New().Run(context.Background(), &req)
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range engines {
				for threads := range 3 {
					for _, off := range []bool{false, true} {
						name := fmt.Sprintf("%s, %s, engine %d, %d threads, off: %t", p.name,
							shape.name, i, threads+1, off)
						req.Threads, req.NoDecompose = threads+1, off
						got, err := e.Run(context.Background(), &req)
						if err != nil {
							t.Fatalf("%s: %v", name, err)
						}
						if d := enginetest.Difference(got, want); d != "" {
							t.Fatalf("%s: %s", name, d)
						}
					}
				}
			}
		}
	}
}

// TestLoopIsDecomposed wants the ranges of a loop to be its own, and none if
// there are too few values, or if nothing is to be decomposed.
func TestLoopIsDecomposed(t *testing.T) {
	e := newEngine(t, 1024, false)
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(300))
	rounds := func(threads int, off bool) int64 {
		answer, err := e.Run(context.Background(),
			&runtime.Request{Plan: plan, Facts: db, Threads: threads, Profile: true,
				NoDecompose: off})
		if err != nil {
			t.Fatal(err)
		}
		if n := answer.Outputs["tc"].Rows(); n != 300*301/2 {
			t.Fatalf("%d tuples", n)
		}
		return answer.Kernels[1].Calls
	}
	for _, c := range []struct {
		threads int
		off     bool
		whole   bool
	}{{1, false, false}, {2, false, false}, {2, true, true}, {300, false, true}} {
		if n := rounds(c.threads, c.off); (n == 300) != c.whole {
			t.Errorf("%d threads, off: %t: %d calls of the loop's kernel", c.threads, c.off, n)
		}
	}
}

// TestShortRounds wants more values at a time where rounds are short: on a
// path, a value has one new tuple a round.
func TestShortRounds(t *testing.T) {
	const n = 2000
	e := newEngine(t, 1024, false)
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(n))
	answer, err := e.Run(context.Background(),
		&runtime.Request{Plan: plan, Facts: db, Threads: 1, Profile: true})
	if err != nil {
		t.Fatal(err)
	}
	tuples := int64(answer.Outputs["tc"].Rows())
	if calls := answer.Kernels[1].Calls; tuples != n*(n+1)/2 || calls == n || tuples < 64*calls {
		t.Errorf("%d tuples in %d calls of the loop's kernel", tuples, calls)
	}
}

// TestUnreadColumns wants no memory for columns that nothing reads after a
// loop.
func TestUnreadColumns(t *testing.T) {
	e := newEngine(t, 1024, false)
	peak := func(text string) int64 {
		plan, db := enginetest.Stored(t, text, enginetest.Line(3000))
		answer, err := e.Run(context.Background(),
			&runtime.Request{Plan: plan, Facts: db, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		return answer.Peak
	}
	counted := peak(`
edge(x, y) -> int(x), int(y).
_tc(x, y) <- edge(x, y).
_tc(x, z) <- _tc(x, y), edge(y, z).
n[] = v <- agg<<v = count()>> _tc(_, _).
`)
	whole := peak(enginetest.Closure)
	if counted > whole/2 {
		t.Errorf("a closure that is counted takes %d bytes, one that is an output %d", counted,
			whole)
	}
}

// TestOutputsOutliveRuns reads large outputs, whose columns are the run's own
// memory, when the run and its account are gone.
func TestOutputsOutliveRuns(t *testing.T) {
	e := newEngine(t, 1024, false)
	e.sizes.output = 1
	const n = 2500
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(n))
	for _, off := range []bool{false, true} {
		answer, err := e.Run(context.Background(),
			&runtime.Request{Plan: plan, Facts: db, Threads: 2, NoDecompose: off})
		if err != nil {
			t.Fatal(err)
		}
		tc := answer.Outputs["tc"]
		answer = nil
		for range 3 {
			goruntime.GC()
		}
		sum, words := int64(0), make([]int64, tc.Rows())
		for i, c := range tc.Columns() {
			same := c.WithDict(nil, nil, 1)
			c = nil
			goruntime.GC()
			same.Read(words, 0)
			for _, w := range words {
				sum += int64(1+9*i) * w
			}
		}
		want := int64(0)
		for x := range int64(n) {
			for y := x + 1; y <= n; y++ {
				want += x + 10*y
			}
		}
		if sum != want {
			t.Errorf("off: %t: the tuples sum up to %d, not %d", off, sum, want)
		}
	}
}

// TestCancelDecomposed cancels a run in the midst of a decomposed loop, which
// has reported its progress before.
func TestCancelDecomposed(t *testing.T) {
	e := newEngine(t, 1024, false)
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(12000))
	why := errors.New("enough")
	for _, threads := range []int{1, 2} {
		ctx, cancel := context.WithCancelCause(context.Background())
		var first *runtime.Progress
		_, err := e.Run(ctx,
			&runtime.Request{Plan: plan, Facts: db, Threads: threads,
				Progress: func(p runtime.Progress) {
					if first == nil {
						first = &p
						cancel(why)
					}
				}})
		if err != why {
			t.Fatalf("got %v", err)
		}
		if last := *first; last.Block != "b1" || last.Iteration < 1 || last.Total < 12000 ||
			last.Total > 12000*12001/2 || fmt.Sprint(last.Vars) != "[tc]" {
			t.Errorf("progress was %+v", last)
		}
	}
}

// TestDecomposedMemory runs decomposed loops into every bound.
func TestDecomposedMemory(t *testing.T) {
	short.Skip(t, "bounds of the cpu engine")
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(1500))
	for _, e := range []*engine{newEngine(t, 1024, false), newEngine(t, 32, false)} {
		failed, done := 0, 0
		for bound := int64(1 << 14); bound < 64<<20; bound += bound / 2 {
			answer, err := e.Run(context.Background(),
				&runtime.Request{Plan: plan, Facts: db, Threads: 3, Memory: bound})
			var out *runtime.MemoryError
			switch {
			case errors.As(err, &out):
				failed++
			case err != nil:
				t.Fatalf("bound %d: %v", bound, err)
			case answer.Outputs["tc"].Rows() != 1500*1501/2 || answer.Peak > bound:
				t.Errorf("bound %d: %d tuples, %d bytes", bound, answer.Outputs["tc"].Rows(),
					answer.Peak)
			default:
				done++
			}
		}
		if failed < 5 || done < 5 {
			t.Errorf("%d runs failed, %d did not", failed, done)
		}
	}
}
