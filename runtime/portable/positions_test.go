package portable

import (
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/planref"
)

// TestPositions compares a plan that numbers the tuples of a set with the
// reference.
func TestPositions(t *testing.T) {
	plan := parse(t, planref.Positions)
	for _, spread := range []int64{0, 17, 40} {
		for _, n := range []int64{0, 1, 12, 30} {
			facts := map[string]planref.Rows{"edge": planref.PositionsEdges(n, spread)}
			if err := agree(plan, facts); err != nil {
				t.Fatalf("%d nodes, %d bits apart: %v", n, spread, err)
			}
		}
	}
}
