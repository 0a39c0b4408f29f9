package woven

import (
	"slices"
	"testing"
)

// TestCodesClose gives code back when its last user does: also code that is
// made after the close, by a run that found the program before.
func TestCodesClose(t *testing.T) {
	var dropped []string
	l := &Codes[string]{Drop: func(name string) { dropped = append(dropped, name) }}
	use := func(name string) *Code[string] {
		c, err := l.Use(&Bound{Program: &Program{}}, func(Knowledge) (string, error) {
			return name, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	expect := func(when string, want ...string) {
		t.Helper()
		if !slices.Equal(dropped, want) {
			t.Errorf("%s: %q are dropped, not %q", when, dropped, want)
		}
	}
	first := use("first")
	if again := use("second"); again != first || l.Len() != 1 {
		t.Error("code that takes nothing for granted is made again")
	} else {
		l.Release(again)
	}
	l.Close()
	expect("in use")
	late := use("late")
	if late.Made != "late" || l.Len() != 0 {
		t.Errorf("%q, and %d are kept", late.Made, l.Len())
	}
	l.Release(first)
	expect("the first is not used", "first")
	l.Release(late)
	expect("nothing is used", "first", "late")
}
