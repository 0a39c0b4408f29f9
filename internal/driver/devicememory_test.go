package driver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// partsCase is a program, and facts of which its run takes several times the
// device's memory.
type partsCase struct {
	name, text string
	facts      func(rng *rand.Rand) *Facts
	onHost     bool // the host may evaluate all of it
}

// edgeFacts are random edges of a graph.
func edgeFacts(nodes, edges int) func(*rand.Rand) *Facts {
	return func(rng *rand.Rand) *Facts {
		var b strings.Builder
		for range edges {
			fmt.Fprintf(&b, "%d\t%d\n", rng.IntN(nodes), rng.IntN(nodes))
		}
		return NewFacts().Reader("edge", TSVFacts, strings.NewReader(b.String()))
	}
}

// partsCases have a loop that a column decomposes, one that none does, groups,
// strings, a negation, a join of three relations, and totals of a join, of
// which those of a part overflow or do not.
var partsCases = []partsCase{
	{"a closure and its groups", `
edge(x, y) -> int(x), int(y).
tc(x, y) <- edge(x, y).
tc(x, z) <- tc(x, y), edge(y, z).
_[x] = n <- agg<<n = count()>> tc(x, _).
`, edgeFacts(900, 1500), false},
	{"a closure of itself, and what it lacks", `
edge(x, y) -> int(x), int(y).
tc(x, y) <- edge(x, y).
tc(x, z) <- tc(x, y), tc(y, z).
_(x, y) <- edge(x, _), edge(y, _), x < y, !tc(x, y).
`, edgeFacts(300, 400), false},
	{"triangles", `
edge(x, y) -> int(x), int(y).
_(x, y, z) <- edge(x, y), edge(y, z), edge(z, x).
`, edgeFacts(3000, 60_000), false},
	{"names", `
city[p] = c -> string(p), string(c).
paid[p, d] = a -> string(p), int(d), decimal[18,2](a).
spent[c] = s <- agg<<s = total(a)>> city[p] = c, paid[p, _] = a.
_(c, s) <- spent[c] = s, s > 10.00.
`, func(rng *rand.Rand) *Facts {
		var city, paid strings.Builder
		for p := range 20_000 {
			fmt.Fprintf(&city, "p%d\tcity %d\n", p, rng.IntN(8000))
			for d := range rng.IntN(5) {
				fmt.Fprintf(&paid, "p%d\t%d\t%d.25\n", p, d, rng.IntN(90))
			}
		}
		return NewFacts().Reader("city", TSVFacts, strings.NewReader(city.String())).
			Reader("paid", TSVFacts, strings.NewReader(paid.String()))
	}, false},
	{"totals of a join", `
kind[p] = k -> int(p), int(k).
paid[p, d] = a -> int(p), int(d), int(a).
_(k, s, m, n) <- sums[k] = s, means[k] = m, above[k] = n.
sums[k] = s <- agg<<s = total(a)>> kind[p] = k, paid[p, _] = a.
means[k] = m <- agg<<m = avg(a)>> kind[p] = k, paid[p, _] = a.
above[k] = n <- agg<<n = count()>> kind[p] = k, paid[p, _] = a, a > 50.
`, amountFacts(func(rng *rand.Rand) int { return rng.IntN(100) }), true},
	{"totals of parts that overflow", `
kind[p] = k -> int(p), int(k).
paid[p, d] = a -> int(p), int(d), int(a).
_[] = s <- agg<<s = total(a)>> kind[p] = _, paid[p, _] = a.
`, amountFacts(func() func(*rand.Rand) int {
		sign := 1
		return func(*rand.Rand) int { sign = -sign; return sign << 62 }
	}()), true},
}

// amountFacts are 60,000 people of three kinds, and two amounts that each has
// paid.
func amountFacts(amount func(*rand.Rand) int) func(*rand.Rand) *Facts {
	return func(rng *rand.Rand) *Facts {
		var kind, paid strings.Builder
		for _, p := range rng.Perm(60_000) {
			fmt.Fprintf(&kind, "%d\t%d\n", p, rng.IntN(3))
		}
		for d := range 2 {
			for _, p := range rng.Perm(60_000) {
				fmt.Fprintf(&paid, "%d\t%d\t%d\n", p, d, amount(rng))
			}
		}
		return NewFacts().Reader("kind", TSVFacts, strings.NewReader(kind.String())).
			Reader("paid", TSVFacts, strings.NewReader(paid.String()))
	}
}

// TestDeviceMemory runs programs on a device whose memory holds a part of what
// they need, with what they derive in the host's memory or in a folder.
func TestDeviceMemory(t *testing.T) {
	emulateGPU(t, emulated.Options{Seed: 5})
	ctx := context.Background()
	for i, c := range partsCases[:short.Count(t, uint64(len(partsCases)), "programs")] {
		prog := compileText(t, c.text, Options{})
		run := func(opts RunOptions) (*Result, error) {
			opts.Load.Memory = 1 << 30
			return prog.Run(ctx, c.facts(rand.New(rand.NewPCG(7, uint64(i)))), opts)
		}
		want, err := run(RunOptions{Engine: "go"})
		if err != nil {
			t.Fatal(err)
		}
		cut := 0
		for bound := int64(16 << 20); cut < 2 && bound > 64<<10; bound /= 2 {
			folder := []string{"", t.TempDir()}[cut]
			res, err := run(RunOptions{Engine: "gpu", DeviceMemory: bound, Spill: folder})
			if err != nil {
				t.Errorf("%s in %d bytes: %v", c.name, bound, err)
				break
			}
			if got := resultText(t, res); got != resultText(t, want) {
				t.Errorf("%s in %d bytes differs", c.name, bound)
			}
			s, d := res.Stats.Spill, res.Stats.Device
			if s == nil {
				continue // all of it fits
			}
			cut++
			if !c.onHost && (s.Boxes < 2 || s.Folder != folder || d == nil || d.Launches == 0) {
				t.Errorf("%s in %d bytes: %+v, %+v", c.name, bound, s, d)
			}
			t.Logf("%s in %d bytes: %d parts, %d attempts, code in %v of %v", c.name, bound,
				s.Boxes, s.Tries, res.Stats.Compile, res.Stats.Run)
			_, err = run(RunOptions{Engine: "gpu", DeviceMemory: bound, Memory: 16 << 10})
			if env := new(EnvironmentError); !errors.As(err, &env) ||
				!strings.Contains(err.Error(), "--memory") {
				t.Errorf("%s in little memory of the host: %v", c.name, err)
			}
		}
		if cut < 2 {
			t.Errorf("%s was cut in %d runs", c.name, cut)
		}
	}
}
