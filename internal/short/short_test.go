package short

import "testing"

// TestEvery wants the variable to decide.
func TestEvery(t *testing.T) {
	for _, value := range []string{"", "1"} {
		t.Setenv(Variable, value)
		if Every() != (value != "") {
			t.Errorf("%s=%q: every case is %t", Variable, value, Every())
		}
	}
}

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
