package short

import "testing"

// TestCount wants all cases without -short, and at least one with it.
func TestCount(t *testing.T) {
	for _, all := range []uint64{0, 1, 7, 8, 9, 400} {
		want := all
		if testing.Short() {
			want = (all + 7) / 8
		}
		if got := Count(t, all, "made-up cases"); got != want {
			t.Errorf("%d of %d", got, all)
		}
	}
}
