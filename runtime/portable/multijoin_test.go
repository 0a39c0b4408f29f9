package portable

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
)

// shapes are the hypergraphs of cyclic joins: the variables of each input.
var shapes = map[string][]string{
	"triangle":          {"xy", "yz", "zx"},
	"square":            {"xy", "yz", "zu", "ux"},
	"clique of four":    {"xy", "xz", "xu", "yz", "yu", "zu"},
	"Loomis-Whitney":    {"xyz", "yzu", "zux", "uxy"},
	"clique of five":    {"xy", "xz", "xu", "xv", "yz", "yu", "yv", "zu", "zv", "uv"},
	"bow tie":           {"xy", "yz", "zx", "xu", "uv", "vx"},
	"triangle and more": {"xy", "yz", "zx", "x", "yu", "uz", "y"},
	"path":              {"xy", "yz", "zu"},
	"one variable":      {"x", "x", "x"},
}

// shapePlan is a random plan whose joins have the given shape. Inputs are whole
// or filtered relations, some with columns of their own or with repeated
// tuples, and constants.
func shapePlan(rng *rand.Rand, shape []string) (*queryplan.Plan, map[string]planref.Rows) {
	p, facts := &queryplan.Plan{}, map[string]planref.Rows{}
	// Variables of a shape have one type each, so that inputs may be of any.
	types := map[rune]scalar.Type{}
	typeOf := func(r rune) scalar.Type {
		if _, ok := types[r]; !ok {
			types[r] = []scalar.Type{scalar.IntType, scalar.IntType, scalar.StringType,
				scalar.FloatType, scalar.DatetimeType}[rng.IntN(5)]
		}
		return types[r]
	}
	low := []int64{0, 0, -3, math.MinInt64, math.MaxUint32 - 2}[rng.IntN(5)]
	values := 2 + rng.IntN(6)
	value := func(t scalar.Type) scalar.Value {
		w := rng.Int64N(int64(values))
		switch t.Kind {
		case scalar.String:
			return scalar.OfString(fmt.Sprint(w))
		case scalar.Float:
			return scalar.OfFloat(t, float64(w)/2)
		case scalar.Datetime:
			return scalar.OfDatetime(w)
		}
		if rng.IntN(3) == 0 {
			return scalar.OfInt(t, w) // far away from low
		}
		return scalar.OfInt(t, low+w)
	}
	join := &queryplan.MultiJoin{}
	for i, vars := range shape {
		name := fmt.Sprint("in", i)
		v := &queryplan.Var{Name: name, Kind: queryplan.Input, Source: name, Limit: -1}
		s := &queryplan.Scan{Var: v}
		for _, r := range vars {
			v.Cols = append(v.Cols, queryplan.Column{Name: string(r), Type: typeOf(r)})
			s.Names = append(s.Names, string(r))
		}
		extra := rng.IntN(3)
		if rng.IntN(len(shape)) > 1 {
			extra = 0 // products of many repeated tuples take long
		}
		for j := range extra {
			t := []scalar.Type{scalar.IntType, scalar.StringType}[j]
			v.Cols = append(v.Cols, queryplan.Column{Name: fmt.Sprint("p", j), Type: t})
			s.Names = append(s.Names, []string{"", fmt.Sprint(name, "p", j)}[rng.IntN(2)])
		}
		rng.Shuffle(len(v.Cols), func(i, j int) {
			v.Cols[i], v.Cols[j] = v.Cols[j], v.Cols[i]
			s.Names[i], s.Names[j] = s.Names[j], s.Names[i]
		})
		v.Keys = len(v.Cols)
		var rows planref.Rows
		for range []int{0, 5, 20, 20, 60, 60}[rng.IntN(6)] {
			row := make([]scalar.Value, len(v.Cols))
			for j, c := range v.Cols {
				row[j] = value(c.Type)
			}
			rows = append(rows, row)
		}
		facts[name] = distinct(rows)
		p.Vars = append(p.Vars, v)
		var n queryplan.Node = s
		switch rng.IntN(6) {
		case 0:
			n = &queryplan.Union{Nodes: []queryplan.Node{s, s}}
		case 1:
			c := s.Columns()[0]
			n = &queryplan.Filter{Input: s,
				Cond: call("ne", &queryplan.ColRef{Col: c}, &queryplan.Const{Value: value(c.Type)})}
		case 2:
			values := &queryplan.Values{Cols: s.Columns()}
			for range rng.IntN(8) {
				var row []scalar.Value
				for _, c := range values.Cols {
					row = append(row, value(c.Type))
				}
				values.Rows = append(values.Rows, row)
			}
			n = &queryplan.Union{Nodes: []queryplan.Node{s, values}}
		}
		join.Nodes = append(join.Nodes, n)
	}
	join.Order = queryplan.SharedColumns(join.Nodes)
	rng.Shuffle(len(join.Order),
		func(i, j int) { join.Order[i], join.Order[j] = join.Order[j], join.Order[i] })

	// One output has all columns, one some of them, and one counts the tuples.
	block := &queryplan.Block{Name: "b", Term: &queryplan.Halt{}}
	p.Blocks = []*queryplan.Block{block}
	insert := func(name string, n queryplan.Node) {
		v := &queryplan.Var{Name: name, Kind: queryplan.Derived, Output: true, Limit: -1,
			Cols: n.Columns()}
		v.Keys = len(v.Cols)
		p.Vars = append(p.Vars, v)
		block.Cmds = append(block.Cmds, &queryplan.Insert{Var: v, Node: n},
			&queryplan.Merge{Var: v})
	}
	insert("whole", join)
	some := pickNames(rng, columnNames(join.Columns()))
	count := queryplan.Agg{Out: queryplan.Column{Name: "n", Type: scalar.IntType},
		Fn: queryplan.Count}
	insert("groups", &queryplan.Aggregate{Input: join, By: some, Aggs: []queryplan.Agg{count}})
	insert("count", &queryplan.Aggregate{Input: join, Aggs: []queryplan.Agg{count}})
	return p, facts
}

func pickNames(rng *rand.Rand, from []string) []string {
	var out []string
	for _, name := range from {
		if rng.IntN(2) == 0 {
			out = append(out, name)
		}
	}
	return out
}

func TestRandomMultiJoins(t *testing.T) {
	plans := uint64(16)
	if testing.Short() {
		plans = 4
	}
	found := 0
	for i, name := range slices.Sorted(maps.Keys(shapes)) {
		for seed := range plans {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			p, facts := shapePlan(rng, shapes[name])
			if err := queryplan.Verify(p); err != nil {
				t.Fatalf("%s, seed %d: %v\n%s", name, seed, err, p)
			}
			if err := agree(p, facts); err != nil {
				t.Fatalf("%s, seed %d: %v\n%s\n%v", name, seed, err, p, facts)
			}
			ans, err := planref.Run(p, facts)
			if err == nil && len(ans.Outputs["whole"]) > 0 {
				found++
			}
		}
	}
	if total := int(plans) * len(shapes); found < total/5 {
		t.Errorf("only %d of %d random joins have a tuple", found, total)
	}
}

const triangles = `
var edge(x: int, y: int) input "edge"
var tri(n: int) derived output
block b0:
  insert tri
    aggregate [] n: int = count()
      multijoin x, y, z
        scan edge(x, y)
        scan edge(y, z)
        scan edge(x, z)
  merge tri
  halt
`

// star is a graph in which one node has nearly all edges: rows of one value of
// the first variable have to be shared out.
func star(n int64) planref.Rows {
	var edges [][]int64
	for i := int64(1); i < n; i++ {
		edges = append(edges, []int64{0, i}, []int64{i, i % (n - 1) / 2}, []int64{i, i*i%n + 1})
	}
	return distinct(ints(edges...))
}

func TestMultiJoinSharesHeavyValues(t *testing.T) {
	if err := agree(parse(t, triangles), map[string]planref.Rows{"edge": star(2000)}); err != nil {
		t.Fatal(err)
	}
}

// TestMultiJoinOfCliques lists and counts the cliques of four of graphs whose
// neighbourhoods are dense, or of very different lengths.
func TestMultiJoinOfCliques(t *testing.T) {
	const body = `
      multijoin %s
        scan edge(x, y)
        scan edge(x, z)
        scan edge(y, z)
        scan edge(x, w)
        scan edge(y, w)
        scan edge(z, w)`
	for name, c := range map[string]struct {
		nodes int
		has   func(rng *rand.Rand, x, y int) bool
	}{
		"dense": {40, func(rng *rand.Rand, _, _ int) bool { return rng.IntN(2) == 0 }},
		"skewed": {1500, func(rng *rand.Rand, x, y int) bool {
			return x < 3 || x < 40 && y < 60 && rng.IntN(4) > 0 || rng.IntN(2000) == 0
		}},
	} {
		rng := rand.New(rand.NewPCG(1, 7))
		adjacent := make([][]bool, c.nodes)
		var edges [][]int64
		for x := range adjacent {
			adjacent[x] = make([]bool, c.nodes)
			for y := x + 1; y < c.nodes; y++ {
				if adjacent[x][y] = c.has(rng, x, y); adjacent[x][y] {
					edges = append(edges, []int64{int64(x), int64(y)})
				}
			}
		}
		var cliques [][]int64
		for _, e := range edges {
			for z := e[1] + 1; z < int64(c.nodes); z++ {
				if !adjacent[e[0]][z] || !adjacent[e[1]][z] {
					continue
				}
				for w := z + 1; w < int64(c.nodes); w++ {
					if adjacent[e[0]][w] && adjacent[e[1]][w] && adjacent[z][w] {
						cliques = append(cliques, []int64{e[0], e[1], z, w})
					}
				}
			}
		}
		if len(cliques) < 1000 {
			t.Errorf("%s: only %d cliques", name, len(cliques))
		}
		facts := map[string]planref.Rows{"edge": distinct(ints(edges...))}
		want := map[string]planref.Rows{"clique": distinct(ints(cliques...)),
			"size": ints([]int64{int64(len(cliques))})}
		for _, order := range []string{"x, y, z, w", "y, z, x, w", "z, w, y, x", "w, x, z, y"} {
			p := parse(t, fmt.Sprintf(`
var edge(x: int, y: int) input "edge"
var clique(x: int, y: int, z: int, w: int) derived output
var size(n: int) derived output
block b0:
  insert clique
    project x, y, z, w`+body+`
  merge clique
  insert size
    aggregate [] n: int = count()`+body+`
  merge size
  halt
`, order, order))
			db := database(p, facts)
			for _, e := range configurations {
				got, err := (&engine{opts: e.opts}).Run(context.Background(),
					&runtime.Request{Plan: p, Facts: db, Threads: e.threads})
				if err := compareRuns(got, err, &planref.Answer{Outputs: want}, nil); err != nil {
					t.Errorf("%s, %s, %s: %v", name, order, e.name, err)
				}
			}
		}
	}
}

// TestMultiJoinOfDelta finds the cycles of three in a closure that grows: in
// each round the trie of the new tuples is another.
func TestMultiJoinOfDelta(t *testing.T) {
	p := parse(t, `
var edge(x: int, y: int) input "edge"
var near(x: int, z: int) derived output
block b0:
  insert near
    scan edge(x, z)
  merge near
  branch delta near -> b1 else b2
block b1:
  insert near
    project y as x, u as z
      multijoin x, y, u
        scan delta near(x, y)
        scan edge(y, u)
        scan near(x, u)
  insert near
    project x, z
      multijoin x, y, z
        project z as x, x as z
          scan near(x, z)
        scan delta near(x, y)
        scan edge(y, z)
  merge near
  branch delta near -> b1 else b2
block b2:
  halt
`)
	rng := rand.New(rand.NewPCG(1, 2))
	var edges [][]int64
	for range 120 {
		edges = append(edges, []int64{rng.Int64N(25), rng.Int64N(25)})
	}
	if err := agree(p, map[string]planref.Rows{"edge": distinct(ints(edges...))}); err != nil {
		t.Fatal(err)
	}
}

func TestMultiJoinStops(t *testing.T) {
	p := parse(t, triangles)
	facts := map[string]planref.Rows{"edge": star(50)}
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	if _, err := New().Run(ctx,
		&runtime.Request{Plan: p, Facts: database(p, facts)}); !errors.Is(err, why) {
		t.Errorf("got %v, want the cause", err)
	}
	var full *runtime.MemoryError
	_, err := New().Run(context.Background(),
		&runtime.Request{Plan: p, Facts: database(p, facts), Memory: 1000})
	if !errors.As(err, &full) {
		t.Errorf("got %v, want a memory error", err)
	}
}

// BenchmarkTriangles counts the triangles of random graphs of 300,000 edges, by
// their average degree.
func BenchmarkTriangles(b *testing.B) {
	for _, degree := range []int64{1, 16} {
		b.Run(fmt.Sprint("degree", degree), func(b *testing.B) {
			const edges = 300_000
			rng := rand.New(rand.NewPCG(7, 8))
			rows := make([][]int64, edges)
			for i := range rows {
				rows[i] = []int64{rng.Int64N(edges / degree), rng.Int64N(edges / degree)}
			}
			p := parse(b, triangles)
			db := database(p, map[string]planref.Rows{"edge": ints(rows...)})
			for b.Loop() {
				if _, err := New().Run(context.Background(),
					&runtime.Request{Plan: p, Facts: db, Threads: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestMultiJoinsShareTries has joins of one relation that need the same columns
// in the same order, but not the same trie: one has a column as payload, and
// one meets values that others do not reach.
func TestMultiJoinsShareTries(t *testing.T) {
	p := parse(t, `
var edge(x: int, y: int) input "edge"
var far(x: int, y: int) input "far"
var a(x: int, y: int, z: int) derived output
var b(x: int, y: int, z: int) derived output
var c(x: int, y: int, z: int) derived output
block b0:
  insert a
    multijoin x, y, z
      scan edge(x, y)
      scan edge(y, z)
      scan edge(x, z)
  merge a
  insert b
    multijoin x
      scan edge(x, y)
      scan edge(x, z)
      scan edge(x, _)
  merge b
  insert c
    multijoin x, y, z
      scan edge(x, y)
      scan far(y, z)
      scan edge(x, z)
  merge c
  halt
`)
	facts := map[string]planref.Rows{"edge": star(20),
		"far": ints([]int64{1, 5}, []int64{-4, 3}, []int64{5, 1000})}
	if err := agree(p, facts); err != nil {
		t.Fatal(err)
	}
}
