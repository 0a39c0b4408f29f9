package woven

import (
	"errors"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/layout"
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

// TestCodesInUseWhileMade uses and releases code while other code is being
// generated, which two runs then share.
func TestCodesInUseWhileMade(t *testing.T) {
	l := &Codes[string]{Drop: func(string) {}}
	bound := func() *Bound {
		return &Bound{Program: &Program{Named: map[string]harmony.Managed{}},
			Layouts: &layout.Layouts{}}
	}
	mine, other := bound(), bound()
	first, err := l.Use(mine, func(Knowledge) (string, error) { return "first", nil })
	if err != nil {
		t.Fatal(err)
	}
	first.fixed[abi.Param{Kind: abi.ColumnBase}] = answer{1, 1, true} // not so of others
	l.Release(first)

	begun, end := make(chan bool), make(chan bool)
	names := make(chan string)
	for range 2 {
		go func() {
			c, err := l.Use(other, func(Knowledge) (string, error) {
				close(begun) // a second call panics
				<-end
				return "second", nil
			})
			if err != nil {
				t.Error(err)
			}
			names <- c.Made
		}()
	}
	<-begun
	again, err := l.Use(mine, func(Knowledge) (string, error) {
		return "", errors.New("code is made again")
	})
	if err != nil || again != first {
		t.Fatal(err)
	}
	l.Release(again)
	close(end)
	if a, b := <-names, <-names; a != "second" || b != "second" || l.Len() != 2 {
		t.Errorf("%q and %q are used, of %d", a, b, l.Len())
	}
}
