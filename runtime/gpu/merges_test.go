package gpu

import (
	"fmt"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
)

// twoMerges goes on with a loop: what it begins with is merged twice, and
// nothing asks in between how many tuples there are.
const twoMerges = `var next(x: int, y: int) input "next"
var after(x: int, y: int) derived output
var old(x: int, y: int) input "old"
var new(x: int, y: int) input "new"
block b0:
  insert after
    scan old(x, y)
  merge after
  insert after
    scan new(x, y)
  merge after
  jump b1
block b1:
  insert after
    project x, y
      join y$1
        scan delta after(x, y$1)
        scan next(y$1, y)
  merge after
  branch delta after -> b1 else b2
block b2:
  halt
`

// TestTwoMerges wants the second merge to make a delta of what was added after
// the first one, and of no more.
func TestTwoMerges(t *testing.T) {
	plan, err := queryplan.Parse("merges", twoMerges)
	if err != nil {
		t.Fatal(err)
	}
	const inputs = `next(x, y) -> int(x), int(y).
old(x, y) -> int(x), int(y).
new(x, y) -> int(x), int(y).
all(x, y) <- next(x, y) ; old(x, y) ; new(x, y).
`
	steps := func(n, step int64) (out []oracle.Tuple) {
		for i := range n {
			out = append(out, oracle.Tuple{scalar.OfInt(scalar.IntType, i),
				scalar.OfInt(scalar.IntType, i+step)})
		}
		return out
	}
	for _, c := range []card{{}, {small: true}, {apart: true}} {
		e, d := c.open(t)
		for _, old := range []int64{0, 5, 30} {
			_, db := enginetest.Stored(t, inputs, oracle.Facts{"next": steps(30, 1),
				"old": steps(old, 1), "new": steps(25, 2)})
			for _, led := range []bool{false, true} {
				enginetest.Compare(t, fmt.Sprintf("%d tuples before, by the host: %t", old, led), e,
					runtime.Request{Plan: plan, Facts: db, NoDeviceLoops: led})
			}
		}
		if err := d.Check(); err != nil {
			t.Error(err)
		}
	}
}
