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
