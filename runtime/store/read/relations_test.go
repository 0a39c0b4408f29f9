package read

import (
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// TestUniqueByCount finds keys unique by one column, and not by a column that
// repeats.
func TestUniqueByCount(t *testing.T) {
	s := store.Schema{Name: "p", Keys: 2, Args: []store.Field{{Name: "x", Type: scalar.IntType},
		{Name: "y", Type: scalar.IntType}}}
	for _, tt := range []struct {
		x, y []int
		rows int
	}{
		{[]int{1, 2, 3}, []int{5, 5, 5}, 3},
		{[]int{5, 5, 5}, []int{1, 2, 3}, 3},
		{[]int{1, 2, 2}, []int{5, 5, 5}, 2},
		{[]int{3, 1, 3}, []int{5, 5, 5}, 2},
	} {
		rel, err := FromSlices(s, tt.x, tt.y)
		if err != nil || rel.Rows() != tt.rows {
			t.Errorf("%v, %v: %v, %v", tt.x, tt.y, rel, err)
		}
	}
}
