package driver

import (
	"context"
	"math/bits"
	"testing"

	"github.com/redfoxdb/redfox/internal/graphgen"
	"github.com/redfoxdb/redfox/internal/reference/recursive"
)

// TestCountsByHand runs recursions of one to seventy rules, all of which derive
// tuples in each round, joins of uniform and of skewed keys, and triangles and
// 4-cliques of random graphs on every engine. The answers are counted by hand.
func TestCountsByHand(t *testing.T) {
	skewed := graphgen.ZipfChain([]int{400, 90}, 1.5, 3)
	longer := graphgen.ZipfChain([]int{300, 60, 2000}, 1.5, 3)
	chains := []graphgen.Chain{skewed, graphgen.UniformChain(400, 2, 7, skewed.Matches(), 3),
		longer, graphgen.UniformChain(300, 3, 7, longer.Matches(), 3)}
	for _, engine := range []string{EngineGPU, EngineCPU, EngineGo} {
		t.Run(engine, func(t *testing.T) {
			s := sessionOf(t, engine)
			for _, rules := range []int{1, 3, 10, 30, 70} {
				stratum, dir := recursive.Stratum{Rules: rules, Tokens: 5, Rounds: 60}, t.TempDir()
				if err := stratum.Facts().Write(dir); err != nil {
					t.Fatal(err)
				}
				got, stats := countIn(t, s, Text("stratum.logic", stratum.Program()),
					NewFacts().Dir(dir))
				if got != int64(stratum.Tuples()) {
					t.Errorf("%+v: %d tuples, not %d", stratum, got, stratum.Tuples())
				}
				// Benchmarks take calls of kernels for rounds. The last round
				// derives nothing.
				calls := int64(0)
				for _, k := range stats.Kernels {
					calls = max(calls, k.Calls)
				}
				if len(stats.Kernels) > 0 && calls != int64(stratum.Rounds+1) {
					t.Errorf("%+v: a kernel has %d calls", stratum, calls)
				}
			}
			for i, c := range chains {
				dir, want := t.TempDir(), matches(c)
				if err := c.Write(dir); err != nil {
					t.Fatal(err)
				}
				program := []string{"join", "chain"}[len(c)-2]
				if got, _ := countIn(t, s, graphProgram(t, program),
					NewFacts().Dir(dir)); got != want || want == 0 {
					t.Errorf("chain %d: %d matches, not %d", i, got, want)
				}
			}
			for _, kind := range []string{graphgen.RMAT, graphgen.Uniform, graphgen.Zipf} {
				g := graphgen.Graph{Kind: kind, Bits: 6, Edges: 500, Seed: 2}
				from, to, err := g.Make(1)
				if err != nil {
					t.Fatal(err)
				}
				three, four := cliques(from, to)
				for program, want := range map[string]int64{"triangles": three, "cliques": four} {
					got, _ := countIn(t, s, graphProgram(t, program),
						NewFacts().Columns("edge", from, to))
					if got != want || want == 0 {
						t.Errorf("%s of %+v: %d, not %d", program, g, got, want)
					}
				}
			}
		})
	}
}

// matches counts what join.logic and chain.logic do.
func matches(c graphgen.Chain) (n int64) {
	var follow func(first, at int32, behind graphgen.Chain)
	follow = func(first, at int32, behind graphgen.Chain) {
		if len(behind) == 0 {
			if first < at {
				n++
			}
			return
		}
		for _, e := range behind[0] {
			if e[0] == at {
				follow(first, e[1], behind[1:])
			}
		}
	}
	for _, e := range c[0] {
		follow(e[0], e[1], c[1:])
	}
	return n
}

// cliques counts the triangles of a directed graph of fewer than 64 nodes, as
// triangles.logic does, and the 4-cliques of the same graph without directions.
func cliques(from, to []int32) (three, four int64) {
	var after, beside [64]uint64 // sets of nodes; beside has those with larger numbers
	for i, x := range from {
		y := to[i]
		after[x] |= 1 << y
		if x != y {
			beside[min(x, y)] |= 1 << max(x, y)
		}
	}
	each := func(set uint64, do func(node int)) {
		for ; set != 0; set &= set - 1 {
			do(bits.TrailingZeros64(set))
		}
	}
	for x := range after {
		each(after[x], func(y int) { three += int64(bits.OnesCount64(after[y] & after[x])) })
		each(beside[x], func(y int) {
			common := beside[x] & beside[y]
			each(common, func(z int) { four += int64(bits.OnesCount64(common & beside[z])) })
		})
	}
	return three, four
}

// graphProgram returns a program of testdata/graphs.
func graphProgram(t *testing.T, name string) Source {
	t.Helper()
	sources, err := ReadSources("../../testdata/graphs/" + name + ".logic")
	if err != nil {
		t.Fatal(err)
	}
	return sources[0]
}

// countIn runs a program over facts, round by round. It returns its value of _
// and the profile.
func countIn(t *testing.T, s *Session, program Source, facts *Facts) (n int64, stats Stats) {
	t.Helper()
	ctx := context.Background()
	prog, err := Compile(ctx, []Source{program}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := s.Load(ctx, prog, facts, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Run(ctx, prog, db, RunOptions{Profile: true, NoDecompose: true})
	if err != nil {
		t.Fatal(err)
	}
	for row := range res.Rows("_") {
		n = row[0].(int64)
	}
	return n, res.Stats
}
