package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/graphgen"
)

// iterateRounds is the number of rounds of the programs of the suite iterate.
const iterateRounds = 20

// iterateWork is a program of testdata/graphs that iterates, and a loop by hand
// that computes the value of each node, of which some may be missing.
type iterateWork struct {
	program string
	loop    func(g *arrays) (value []float64)
	// off is the largest acceptable relative difference between values.
	off float64
}

var iterateWorks = []iterateWork{
	{program: "ranks", loop: ranksByHand, off: 1e-9},
	{program: "wholeranks", loop: wholeRanksByHand},
	{program: "labels", loop: labelsByHand},
}

// iterateGraphs are the R-MAT graphs of the suite, of about as many different
// edges as their names say. Only the first one runs unless another is named.
var iterateGraphs = []struct {
	name  string
	graph graphgen.Graph
}{
	{"1M", graphgen.Graph{Kind: graphgen.RMAT, Bits: 16, Edges: 1_000_000}},
	{"10M", graphgen.Graph{Kind: graphgen.RMAT, Bits: 19, Edges: 10_000_000}},
	{"69M", graphgen.Graph{Kind: graphgen.RMAT, Bits: 22, Edges: 71_000_000}},
}

// benchIterate measures programs that iterate over R-MAT graphs, on the go and
// cpu engines or those of -engines, beside single-threaded loops over arrays in
// Go. The time of a loop covers only its rounds, without making the arrays. A
// run does all the work, and leaves the answer on a GPU. All values must agree.
func benchIterate(ctx context.Context, c config) error {
	engines := c.enginesOr(driver.EngineGo, driver.EngineCPU)
	var rows []table.Row
	for _, w := range iterateWorks {
		for _, g := range iterateGraphs {
			name := w.program + "/" + g.name
			if !c.wants(name, g.name == "1M") {
				continue
			}
			g.graph.Seed = c.seed
			more, err := c.iterate(ctx, name, w, g.graph, engines)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			rows = append(rows, more...)
		}
	}
	report(fmt.Sprintf("%d rounds over R-MAT graphs beside loops over arrays, "+
		"wall / processor time, %d threads", iterateRounds, c.threads),
		table.Row{"program", "edges", "engine", "run", "arrays", "loop", "run/loop"}, rows)
	return nil
}

// iterate measures one program over one graph.
func (c config) iterate(ctx context.Context, name string, w iterateWork, graph graphgen.Graph,
	engines []string) (rows []table.Row, err error) {
	from, to, err := graph.Make(c.threads)
	if err != nil {
		return nil, err
	}
	clock := startClock()
	a := newArrays(from, to)
	made := clock.taken()
	clock = startClock()
	want := w.loop(a)
	loop := clock.taken()
	prog, err := compile(ctx, driver.Options{}, testFile("graphs", w.program+".logic"))
	if err != nil {
		return nil, err
	}
	db, err := prog.Load(ctx, driver.NewFacts().Columns("edge", from, to),
		driver.LoadOptions{Threads: c.threads})
	if err != nil {
		return nil, err
	}
	seconds := map[string]float64{"by hand": loop.processor}
	for _, engine := range engines {
		took, res, err := c.medianRun(ctx, prog, db, driver.RunOptions{Engine: engine,
			Threads: c.threads, Outputs: []string{"_"}, Resident: engine == driver.EngineGPU})
		if err == nil {
			err = equalValues(res, want, w.off)
		}
		if err != nil {
			return nil, fmt.Errorf("engine %s: %w", engine, err)
		}
		seconds[engine] = took.processor
		rows = append(rows, table.Row{name, len(a.source), engine, took, made, loop,
			fmt.Sprintf("%.2f", took.processor/loop.processor)})
	}
	return rows, c.record("iterate/"+name, seconds, nil)
}

// equalValues returns an error if a result does not have the value of each
// node, within a share of it.
func equalValues(res *driver.Result, want []float64, off float64) error {
	found := 0
	for row := range res.Rows("_") {
		found++
		node, got := row[0].(int64), 0.0
		switch v := row[1].(type) {
		case int64:
			got = float64(v)
		case float64:
			got = v
		}
		// A missing value is NaN, so the comparison fails.
		if !(math.Abs(got-want[node]) <= off*math.Abs(want[node])) {
			return fmt.Errorf("node %d has %v, and %v in the loop by hand", node, got, want[node])
		}
	}
	nodes := 0
	for _, v := range want {
		if !math.IsNaN(v) {
			nodes++
		}
	}
	if found != nodes {
		return fmt.Errorf("%d nodes have values, and %d in the loop by hand", found, nodes)
	}
	return res.Err()
}

// arrays is a graph as compressed sparse rows: the edges into node y come from
// source[begin[y]:begin[y+1]].
type arrays struct {
	begin, source []int32
	links         []int32 // edges out of each node
}

// newArrays makes arrays of edges without repeated ones.
func newArrays(from, to []int32) *arrays {
	nodes := int32(0)
	for i := range from {
		nodes = max(nodes, from[i]+1, to[i]+1)
	}
	a := &arrays{begin: make([]int32, nodes+1), links: make([]int32, nodes)}
	at := make([]int32, nodes+1)
	for _, y := range to {
		at[y+1]++
	}
	for y := range nodes {
		at[y+1] += at[y]
	}
	sorted, ends := make([]int32, len(from)), slices.Clone(at)
	for i, y := range to {
		sorted[ends[y]] = from[i]
		ends[y]++
	}
	for y := range nodes {
		row := sorted[at[y]:at[y+1]]
		slices.Sort(row)
		a.source = append(a.source, slices.Compact(row)...)
		a.begin[y+1] = int32(len(a.source))
	}
	for _, x := range a.source {
		a.links[x]++
	}
	return a
}

// into returns the sources of the edges into a node.
func (a *arrays) into(y int) []int32 { return a.source[a.begin[y]:a.begin[y+1]] }

// pages returns which nodes have an edge, and how many.
func (a *arrays) pages() (is []bool, n int) {
	is = make([]bool, len(a.links))
	for y := range is {
		if is[y] = a.links[y] > 0 || len(a.into(y)) > 0; is[y] {
			n++
		}
	}
	return is, n
}

// ranksByHand is ranks.logic.
func ranksByHand(a *arrays) []float64 {
	is, pages := a.pages()
	rank, pass := make([]float64, len(is)), make([]float64, len(is))
	for y := range rank {
		rank[y] = 1 / float64(pages)
	}
	for range iterateRounds {
		for x, r := range rank {
			pass[x] = r / float64(a.links[x])
		}
		for y := range rank {
			sum := 0.0
			for _, x := range a.into(y) {
				sum += pass[x]
			}
			rank[y] = 0.15/float64(pages) + 0.85*sum
		}
	}
	return onlyOf(rank, is)
}

// wholeRanksByHand is wholeranks.logic.
func wholeRanksByHand(a *arrays) []float64 {
	is, pages := a.pages()
	rank, pass := make([]int64, len(is)), make([]int64, len(is))
	for y := range rank {
		rank[y] = 1_000_000_000_000 / int64(pages)
	}
	for range iterateRounds {
		for x, r := range rank {
			pass[x] = r / int64(max(a.links[x], 1))
		}
		for y := range rank {
			sum := int64(0)
			for _, x := range a.into(y) {
				sum += pass[x]
			}
			rank[y] = 150_000_000_000/int64(pages) + 17*sum/20
		}
	}
	return onlyOf(rank, is)
}

// labelsByHand is labels.logic.
func labelsByHand(a *arrays) []float64 {
	near := a.both()
	label, next := make([]int32, len(a.links)), make([]int32, len(a.links))
	for x := range label {
		label[x] = int32(x)
	}
	votes := make([]int32, len(label))
	for range iterateRounds {
		for x := range label {
			most, best := int32(0), label[x]
			for _, y := range near.into(x) {
				votes[label[y]]++
			}
			for _, y := range near.into(x) {
				l := label[y]
				if n := votes[l]; n > most || n == most && l < best {
					most, best = n, l
				}
			}
			for _, y := range near.into(x) {
				votes[label[y]] = 0
			}
			next[x] = best
		}
		label, next = next, label
	}
	is, _ := a.pages()
	return onlyOf(label, is)
}

// both returns the arrays of the edges in both directions.
func (a *arrays) both() *arrays {
	var from, to []int32
	for y := range a.links {
		for _, x := range a.into(y) {
			from, to = append(from, x, int32(y)), append(to, int32(y), x)
		}
	}
	return newArrays(from, to)
}

// onlyOf returns values as floats, NaN for those that are missing.
func onlyOf[T int32 | int64 | float64](values []T, is []bool) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		if out[i] = float64(v); !is[i] {
			out[i] = math.NaN()
		}
	}
	return out
}

// medianRun returns the median times of runs over loaded facts, and the answer
// of an uncounted first run, which compiles the code.
func (c config) medianRun(ctx context.Context, prog *driver.Program, db *driver.Database,
	opts driver.RunOptions) (took cost, first *driver.Result, err error) {
	if first, err = prog.RunOn(ctx, db, opts); err != nil {
		return took, nil, err
	}
	var wall, processor []float64
	for range c.repeat {
		clock := startClock()
		res, err := prog.RunOn(ctx, db, opts)
		if err != nil {
			return took, nil, err
		}
		took = clock.taken()
		res.Release()
		wall, processor = append(wall, took.wall), append(processor, took.processor)
	}
	slices.Sort(wall)
	slices.Sort(processor)
	return cost{measure.Median(wall), measure.Median(processor)}, first, nil
}
