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
// strings, a negation, and a join of three relations.
var partsCases = []partsCase{
	{"a closure and its groups", `
edge(x, y) -> int(x), int(y).
tc(x, y) <- edge(x, y).
tc(x, z) <- tc(x, y), edge(y, z).
_[x] = n <- agg<<n = count()>> tc(x, _).
`, edgeFacts(900, 1500)},
	{"a closure of itself, and what it lacks", `
edge(x, y) -> int(x), int(y).
tc(x, y) <- edge(x, y).
tc(x, z) <- tc(x, y), tc(y, z).
_(x, y) <- edge(x, _), edge(y, _), x < y, !tc(x, y).
`, edgeFacts(300, 400)},
	{"triangles", `
edge(x, y) -> int(x), int(y).
_(x, y, z) <- edge(x, y), edge(y, z), edge(z, x).
`, edgeFacts(3000, 60_000)},
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
	}},
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
			if s.Boxes < 2 || s.Folder != folder || d == nil || d.Launches == 0 {
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
