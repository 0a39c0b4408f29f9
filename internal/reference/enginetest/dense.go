package enginetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime"
)

// dense are programs that find most tuples again and again: by matches in the
// last and in the first column, in tuples of three, over relations that grow
// beside each other, over two columns of one index, and without recursion.
var dense = map[string]string{
	"closure": `
edge(x, y) -> int(x), int(y).
path(x, y) <- edge(x, y).
path(x, z) <- path(x, y), path(y, z).
`,
	"aliases": `
edge(x, y) -> int(x), int(y).
flow(x, x) <- edge(x, _).
flow(x, y) <- edge(x, y).
flow(x, z) <- flow(x, y), flow(y, z).
alias(x, y) <- flow(z, x), flow(z, y).
flow(x, y) <- edge(x, z), alias(z, y), edge(y, x).
`,
	"triples": `
edge(x, y) -> int(x), int(y).
step(x, y, z) <- edge(x, y), edge(y, z).
step(x, y, w) <- step(x, y, z), step(y, z, w).
step(w, y, z) <- step(x, y, z), edge(w, x).
`,
	"two columns": `
edge(x, y) -> int(x), int(y).
near(x, y, d) <- edge(x, y), d = 1.
near(x, z, d) <- near(x, y, d), edge(y, z), d < 3.
near(x, z, d + 1) <- near(x, y, d), near(y, z, e), d <= e, d < 4.
end(x, y) <- near(z, x, _), near(z, y, _).
depth(x, d) <- near(z, x, _), near(z, _, d).
`,
	"out of bounds": `
edge(x, y) -> int(x), int(y).
low(x, y) <- edge(x, y), x < 5, y < 5.
out(y, z) <- edge(_, y), low(y, z).
`,
	"flat": `
edge(x, y) -> int(x), int(y).
both(x, y) <- edge(z, x), edge(z, y).
`,
}

// Dense runs dense programs by f, whose rules with one join are to join by
// bits, over facts that are few, many and far from 0. It calls f with what a
// test calls the program, and wants it to report joins by bits for each.
func Dense(t *testing.T, f func(t *testing.T, name string, req runtime.Request) (byBits bool)) {
	for name, text := range dense {
		t.Run(name, func(t *testing.T) {
			byBits := false
			for _, nodes := range []int64{3, 40, 150} {
				r := rand.New(rand.NewPCG(uint64(nodes), 7))
				facts := oracle.Facts{}
				for range 3 * nodes {
					facts["edge"] = append(facts["edge"], oracle.Tuple{
						scalar.OfInt(scalar.IntType, r.Int64N(nodes)-nodes/3),
						scalar.OfInt(scalar.IntType, r.Int64N(nodes)+nodes/5)})
				}
				plan, db := Stored(t, text, facts)
				for _, threads := range []int{1, 3} {
					req := runtime.Request{Plan: plan, Facts: db, Threads: threads,
						NoDecompose: true, Profile: true}
					if f(t, fmt.Sprintf("%s over %d nodes", name, nodes), req) {
						byBits = true
					}
				}
			}
			if !byBits {
				t.Error("nothing joins by bits")
			}
		})
	}
}
