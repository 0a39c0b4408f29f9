package rewrite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/build"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

// manyRules builds a program of about n rules: chains of views, joins of three
// and of eight relations, recursion, negation and aggregates, as generated
// programs have them.
func manyRules(t testing.TB, n int) *queryplan.Plan {
	var b strings.Builder
	b.WriteString("edge(x, y) -> int(x), int(y).\nw[x] = y -> int(x), int(y).\n" +
		"q[x] = y -> int(x), int(y).\n")
	b.WriteString("v0(x, y) <- edge(x, y).\n")
	for i := 1; i <= n/10; i++ {
		fmt.Fprintf(&b, "v%d(x, z) <- v%d(x, y), edge(y, z), x < %d.\n", i, i-1, i)
		fmt.Fprintf(&b, "f%d[x] = z <- w[x] = y, z = y + %d.\n", i, i)
		fmt.Fprintf(&b, "r%d(x, y) <- v%d(x, y), f%d[x] != 3.\n", i, i, i)
		fmt.Fprintf(&b, "r%d(x, z) <- r%d(x, y), edge(y, z), !q[z] = 7.\n", i, i)
		fmt.Fprintf(&b, "n%d[x] = c <- agg<<c = count()>> r%d(x, y), f%d[y] = _.\n", i, i, i)
		fmt.Fprintf(&b, "s%d[x] = c <- agg<<c = total(k)>> r%d(x, y), f%d[y] = k.\n", i, i, i)
		fmt.Fprintf(&b, "t%d(x, y) <- n%d[x] = c, s%d[y] = d, c < d, v%d(y, x).\n", i, i, i, i)
		fmt.Fprintf(&b,
			"u%d(a, h) <- edge(a, b), edge(b, c), edge(c, d), edge(d, e), edge(e, f), edge(f, g), edge(g, h), t%d(a, h).\n", i, i)
		fmt.Fprintf(&b, "u%d(x, y) <- edge(x, y), !t%d(x, y), w[x] = %d.\n", i, i, i)
		fmt.Fprintf(&b, "o%d(x) <- u%d(x, y), v%d(y, x).\n", i, i, i)
	}
	prog, found := frontend.Compile([]*source.File{source.NewFile("many.logic", b.String())},
		frontend.Options{})
	if prog == nil {
		t.Fatal(found[0].Message)
	}
	p, err := build.Build(prog)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range p.Vars {
		v.Output = v.Output && strings.HasPrefix(v.Name, "o")
	}
	return p
}

// BenchmarkManyRules times all passes on a program of 1,000 rules, verified
// as the driver has it.
func BenchmarkManyRules(b *testing.B) {
	p := manyRules(b, 1000)
	times := map[string]time.Duration{}
	for b.Loop() {
		_, trace, err := Run(p, nil, Options{Verify: true})
		if err != nil {
			b.Fatal(err)
		}
		for _, s := range trace.Steps {
			times[s.Pass] += s.Time
		}
	}
	for _, pass := range passes {
		b.ReportMetric(float64(times[pass.Name].Microseconds())/1000/float64(b.N), pass.Name+"-ms")
	}
}

// BenchmarkTwelveRelations times the search for the order of a join of as many
// relations as it is exact for: all on one column, in a chain, and round one of
// them.
func BenchmarkTwelveRelations(b *testing.B) {
	const n = 12
	for _, shape := range []struct {
		name string
		cols func(i int) []string
	}{
		{"clique", func(i int) []string { return []string{"x", fmt.Sprint("y", i)} }},
		{"chain", func(i int) []string {
			return []string{fmt.Sprint("x", i), fmt.Sprint("x", i+1)}
		}},
		{"star", func(i int) []string {
			if i > 0 {
				return []string{fmt.Sprint("x", i), fmt.Sprint("y", i)}
			}
			var hub []string
			for k := range n - 1 {
				hub = append(hub, fmt.Sprint("x", k+1))
			}
			return hub
		}},
	} {
		b.Run(shape.name, func(b *testing.B) {
			q := &joins.Conjunction{Names: queryplan.NewNames()}
			for i := range n {
				v := &queryplan.Var{Name: fmt.Sprint("r", i), Kind: queryplan.Input,
					Source: fmt.Sprint("r", i),
					Limit:  -1}
				for _, name := range shape.cols(i) {
					v.Cols = append(v.Cols, queryplan.Column{Name: name, Type: scalar.IntType})
				}
				v.Keys = len(v.Cols)
				q.Rels = append(q.Rels, &queryplan.Scan{Var: v, Names: shape.cols(i)})
				q.Out = append(q.Out,
					queryplan.Rename{From: shape.cols(i)[0], To: fmt.Sprint("out", i)})
			}
			est := stats.NewEstimator(&queryplan.Plan{}, nil)
			for b.Loop() {
				joins.NewGraph(q, est, nil).Order()
			}
		})
	}
}
