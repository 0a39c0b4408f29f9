package planref

import (
	"testing"

	"github.com/redfoxdb/redfox/queryplan"
)

// TestPositions holds the answers of the plan of positions against what they
// are by hand: positions are 0 to n-1, deltas follow each other, and no two
// pairs have one.
func TestPositions(t *testing.T) {
	p, err := queryplan.Parse("positions.plan", Positions)
	if err == nil {
		err = queryplan.Verify(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, nodes := range []int64{1, 5, 12} {
		ans, err := RunProving(p, map[string]Rows{"edge": PositionsEdges(nodes, 3)})
		if err != nil {
			t.Fatal(err)
		}
		next := int64(0)
		for _, r := range ans.Outputs["round"] {
			if lo, hi, n := r[0].Int(), r[1].Int(), r[2].Int(); lo != next || hi != lo+n-1 {
				t.Errorf("%d nodes: a delta of %d has positions %d to %d, after %d", nodes, n, lo,
					hi, next-1)
			}
			next = r[1].Int() + 1
		}
		if span := ans.Outputs["span"][0]; span[0].Int() != next || span[1].Int() != 0 ||
			span[2].Int() != next-1 {
			t.Errorf("%d nodes: the positions are %v, of %d pairs", nodes, span, next)
		}
		if n := len(ans.Outputs["taken"]) + len(ans.Outputs["moved"]); n > 0 {
			t.Errorf("%d nodes: %d positions are taken twice or move", nodes, n)
		}
		if n := len(ans.Outputs["via"]); nodes > 1 && int64(n) != next {
			t.Errorf("%d nodes: %d of %d pairs are found by their positions", nodes, n, next)
		}
	}
}
