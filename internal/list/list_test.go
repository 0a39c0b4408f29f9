package list

import (
	"slices"
	"strconv"
	"testing"
)

func TestMap(t *testing.T) {
	if got := Map([]int{1, 2}, strconv.Itoa); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("got %q", got)
	}
	if got := Map(nil, strconv.Itoa); got == nil || len(got) > 0 {
		t.Errorf("got %#v of nil, want an empty slice", got)
	}
}

func TestFilter(t *testing.T) {
	odd := func(n int) bool { return n%2 == 1 }
	if got := Filter([]int{1, 2, 3}, odd); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("got %v", got)
	}
	if got := Filter([]int{2}, odd); got != nil {
		t.Errorf("got %v, want nil", got)
	}
}
