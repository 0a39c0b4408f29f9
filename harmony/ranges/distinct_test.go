package ranges

import (
	"math"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
)

// TestDistinct bounds columns of relations that copy values, hand them on in a
// recursion, take constants, and compute.
func TestDistinct(t *testing.T) {
	p, err := harmony.Parse("test.harmony", `
relation edge(x: int, y: int) input "edge"
relation node(x: int) input "node"
relation path(x: int, y: int) derived output
relation other(a: int, b: int, c: int) derived output
relation t(x: int, n: int) temp
index i0 multi edge(x)
block b0:
  run k0
    rows edge
    v0: int = load x
    v1: int = load y
    insert path(v0, v1)
  merge path
  build i0
  branch delta path -> b1 else b2
block b1:
  run k1
    rows delta path
    v0: int = load x
    v1: int = load y
    v2: row = probe multi i0(v1)
    v3: int = gather y[v2]
    insert path(v0, v3)
  merge path
  branch delta path -> b1 else b2
block b2:
  topk t(y, x) = path limit 10 order [x]
  run k2
    rows t
    v0: int = load x
    v1: int = load n
    v2: int = map add(v0, 1)
    insert other(v0, v1, v2)
  run k3
    rows node
    v0: int = load x
    insert other(v0, 7, 8)
  merge other
  halt
`)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int64{"edge": 100, "node": 30}
	distinct := Distinct(p, func(r *harmony.Relation, col int) int64 {
		return rows[r.Name] + int64(col)
	})
	want := map[string][]int64{"edge": {100, 101}, "node": {30}, "path": {100, 101},
		"t": {101, 100}, "other": {131, 101, math.MaxInt64}}
	for _, r := range p.Relations {
		for i, c := range r.Cols {
			if got := distinct(r, i); got != want[r.Name][i] {
				t.Errorf("%s.%s has at most %d values, want %d", r.Name, c.Name, got, want[r.Name][i])
			}
		}
	}
}
