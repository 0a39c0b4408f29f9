package driver

import (
	"bufio"
	"compress/gzip"
	"container/heap"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/graph"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// arcs lists the edges of a graph, without repetitions and loops.
type arcs [][2]int64

// readArcs reads a graph of testdata/graphs.
func readArcs(t *testing.T, name string) arcs {
	t.Helper()
	f, err := os.Open(filepath.Join("../../testdata/graphs", name+".tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[2]int64]bool{}
	for s := bufio.NewScanner(z); s.Scan(); {
		var a [2]int64
		if _, err := fmt.Sscan(s.Text(), &a[0], &a[1]); err != nil {
			t.Fatal(err)
		}
		if a[0] != a[1] {
			seen[a] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b [2]int64) int {
		return slices.Compare(a[:], b[:])
	})
}

// length is the length of an edge, which the programs compute too.
func length(x, y int64) int64 { return (7*x+13*y)%10 + 1 }

// weighted is the start of the programs. Its lengths are those of length.
const weighted = "edge(x, y) -> int(x), int(y).\n" +
	"_road(x, y, w) <- edge(x, y), w = int:mod[7 * x + 13 * y, 10] + 1.\n"

// textbook has programs that iterate or keep the best value in a recursion, and
// what a textbook's algorithm makes of the same graph.
var textbook = []struct {
	name, text string
	answer     func(g arcs) map[int64]float64
}{
	{"shortest paths", weighted + `
lang:recursiveMin(` + "`_d" + `).
_d[x] = 0 <- _first[] = x.
_d[y] = _d[x] + w <- _road(x, y, w).
_first[] = m <- agg<<m = min(x)>> edge(x, _).
_(x, d) <- _d[x] = d.
`, func(g arcs) map[int64]float64 {
		return dijkstra(g, 0, func(d, w float64) float64 { return d + w },
			func(a, b float64) bool { return a < b })
	}},
	{"widest paths", weighted + `
lang:recursiveMax(` + "`_d" + `).
_d[x] = 100 <- _first[] = x.
_d[y] = int:min[_d[x], w] <- _road(x, y, w).
_first[] = m <- agg<<m = min(x)>> edge(x, _).
_(x, d) <- _d[x] = d.
`, func(g arcs) map[int64]float64 {
		return dijkstra(g, 100, math.Min, func(a, b float64) bool { return a > b })
	}},
	{"components", weighted + `
lang:recursiveMin(` + "`_c" + `).
_c[x] = x <- edge(x, _) ; edge(_, x).
_c[y] = _c[x] <- edge(x, y).
_c[x] = _c[y] <- edge(x, y).
_(x, c) <- _c[x] = c.
`, components},
	{"longest chains", weighted + `
lang:recursiveMax(` + "`_d" + `).
_d[x] = 0 <- edge(x, _) ; edge(_, x).
_d[y] = _d[x] + w <- _road(x, y, w), x < y.
_(x, d) <- _d[x] = d.
`, chains},
	{"ranks", weighted + `
_node(x) <- edge(x, _) ; edge(_, x).
_nodes[] = n <- agg<<n = count()>> _node(_).
_degree[x] = n <- agg<<n = count()>> edge(x, _).
lang:iterate[` + "`_rank" + `] = 20.
_rank[x] = 1f / _nodes[] <- _node(x).
_rank[y] = 0.15f / _nodes[] + 0.85f * _sum[y] <- _node(y).
lang:defaultValue[` + "`_sum" + `] = 0f.
_sum[y] = s <- agg<<s = total(r)>> edge(x, y), r = _rank[x] / _degree[x].
_(x, r) <- _rank[x] = r.
`, ranks},
	{"labels", weighted + `
lang:iterate[` + "`_label" + `] = 30.
lang:iterateUntil[` + "`_label" + `] = 0.
_label[x] = x <- edge(x, _) ; edge(_, x).
_label[x] = l <- agg<<l = min(m)>> _seen(x, m).
_seen(x, l) <- _label[x] = l.
_seen(y, l) <- _label[x] = l, edge(x, y).
_(x, l) <- _label[x] = l.
`, labels},
}

// dijkstra labels the nodes that the least node with an edge reaches.
func dijkstra(g arcs, start float64, along func(d, w float64) float64,
	better func(a, b float64) bool) map[int64]float64 {
	next := map[int64][]int64{}
	for _, a := range g {
		next[a[0]] = append(next[a[0]], a[1])
	}
	out := map[int64]float64{}
	q := &frontier{better: better, items: []labelled{{g[0][0], start}}}
	for q.Len() > 0 {
		at := heap.Pop(q).(labelled)
		if _, done := out[at.node]; done {
			continue
		}
		out[at.node] = at.value
		for _, y := range next[at.node] {
			heap.Push(q, labelled{y, along(at.value, float64(length(at.node, y)))})
		}
	}
	return out
}

type labelled struct {
	node  int64
	value float64
}

type frontier struct {
	items  []labelled
	better func(a, b float64) bool
}

func (f *frontier) Len() int           { return len(f.items) }
func (f *frontier) Less(i, j int) bool { return f.better(f.items[i].value, f.items[j].value) }
func (f *frontier) Swap(i, j int)      { f.items[i], f.items[j] = f.items[j], f.items[i] }
func (f *frontier) Push(x any)         { f.items = append(f.items, x.(labelled)) }
func (f *frontier) Pop() any {
	last := f.items[len(f.items)-1]
	f.items = f.items[:len(f.items)-1]
	return last
}

// nodes lists the nodes of a graph in ascending order.
func (g arcs) nodes() []int64 {
	seen := map[int64]bool{}
	for _, a := range g {
		seen[a[0]], seen[a[1]] = true, true
	}
	return slices.Sorted(maps.Keys(seen))
}

// components labels each node with the least one that it is connected with.
func components(g arcs) map[int64]float64 {
	nodes := g.nodes()
	number := map[int64]int{}
	for i, x := range nodes {
		number[x] = i
	}
	sets := graph.NewSets(len(nodes))
	for _, a := range g {
		sets.Union(number[a[0]], number[a[1]])
	}
	least := map[int]int64{}
	for i, x := range nodes {
		if _, ok := least[sets.Find(i)]; !ok {
			least[sets.Find(i)] = x
		}
	}
	out := map[int64]float64{}
	for i, x := range nodes {
		out[x] = float64(least[sets.Find(i)])
	}
	return out
}

// chains labels each node with the length of the longest chain to it that
// ascends.
func chains(g arcs) map[int64]float64 {
	out := map[int64]float64{}
	before := map[int64][]int64{}
	for _, a := range g {
		before[a[1]] = append(before[a[1]], a[0])
	}
	for _, y := range g.nodes() {
		out[y] = 0
		for _, x := range before[y] {
			if x < y {
				out[y] = max(out[y], out[x]+float64(length(x, y)))
			}
		}
	}
	return out
}

// ranks iterates over edges by their targets.
func ranks(g arcs) map[int64]float64 {
	nodes := g.nodes()
	degree := map[int64]float64{}
	for _, a := range g {
		degree[a[0]]++
	}
	out := map[int64]float64{}
	for _, x := range nodes {
		out[x] = 1 / float64(len(nodes))
	}
	for range 20 {
		sum := map[int64]float64{}
		for _, a := range g {
			sum[a[1]] += out[a[0]] / degree[a[0]]
		}
		for _, x := range nodes {
			out[x] = 0.15/float64(len(nodes)) + 0.85*sum[x]
		}
	}
	return out
}

// labels spreads the least label along edges, 30 times at most.
func labels(g arcs) map[int64]float64 {
	out := map[int64]float64{}
	for _, x := range g.nodes() {
		out[x] = float64(x)
	}
	for range 30 {
		next := maps.Clone(out)
		for _, a := range g {
			next[a[1]] = min(next[a[1]], out[a[0]])
		}
		out = next
	}
	return out
}

// TestTextbookAlgorithms compares what programs make of graphs with the
// textbook, on each engine.
func TestTextbookAlgorithms(t *testing.T) {
	engines := []string{"go"}
	if _, _, err := ChooseEngine("cpu"); err == nil {
		emulateGPU(t, emulated.Options{Seed: 5})
		engines = append(engines, "cpu", "gpu")
	}
	names := []string{"OL.cedge", "wiki-Vote"}
	for _, name := range names[:short.Count(t, uint64(len(names)), "graphs")] {
		g := readArcs(t, name)
		rows := make([][]any, len(g))
		for i, a := range g {
			rows[i] = []any{a[0], a[1]}
		}
		for _, b := range textbook {
			t.Run(name+" "+b.name, func(t *testing.T) {
				want := b.answer(g)
				for _, engine := range engines {
					compareTextbook(t, engine, b.text, rows, want)
				}
			})
		}
	}
}

func compareTextbook(t *testing.T, engine, text string, rows [][]any, want map[int64]float64) {
	t.Helper()
	res, err := compileText(t, text, Options{}).Run(context.Background(),
		NewFacts().Rows("edge", rows...), RunOptions{Engine: engine})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Release()
	got := 0
	for row := range res.Rows("_") {
		got++
		x := row[0].(int64)
		value, ok := row[1].(float64)
		if !ok {
			value = float64(row[1].(int64))
		}
		if w, ok := want[x]; !ok || math.Abs(value-w) > 1e-12 {
			t.Fatalf("engine %s: %d has %v, not %v", engine, x, value, w)
		}
	}
	if got != len(want) {
		t.Errorf("engine %s: %d nodes, not %d", engine, got, len(want))
	}
}
