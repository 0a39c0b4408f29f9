package failure

import (
	"errors"
	"strings"
	"testing"
)

// advised is an error with advice.
type advised struct{}

func (advised) Error() string  { return "there is no compiler; install one" }
func (advised) Advice() string { return "install one" }

func TestMissing(t *testing.T) {
	e := Missing(advised{})
	if e.Message != "there is no compiler" || e.Help != "install one" || !errors.Is(e, advised{}) {
		t.Errorf("got %+v", e)
	}
	if got, want := e.Error(), (advised{}).Error(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRecover(t *testing.T) {
	phase := func() (err error) {
		defer Recover("a phase", &err)
		panic("a bug")
	}
	var bug *Internal
	if err := phase(); !errors.As(err, &bug) || bug.Error() != "internal error in a phase: a bug" ||
		!strings.Contains(bug.Stack, "TestRecover") {
		t.Errorf("got %v", err)
	}
}
