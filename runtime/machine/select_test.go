package machine

import (
	"errors"
	"testing"

	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// TestAuto wants native code if there are many facts for each command. Here it
// is not available, and passed over where it would have been chosen.
func TestAuto(t *testing.T) {
	m := &Machine{
		Tools: &assemble.Tools{Find: func() (*llvm.Library, error) {
			return nil, errors.New("no libLLVM")
		}},
		Driver: func() (driver.Driver, error) { return nil, errors.New("no GPU") },
	}
	s, err := m.Select(Want{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		size   Size
		native bool
	}{
		{Size{Rows: FewFacts - 1}, false},
		{Size{Rows: FewFacts, Commands: 100}, true},
		{Size{Rows: FewFacts, Commands: 129}, false},
		{Size{Rows: 370_000, Commands: 3000}, false},
		{Size{Rows: 800_000, Commands: 3000}, true},
	} {
		choice, err := s.Choose(c.size, nil)
		if err != nil || choice.Name != Go || (len(choice.Passed) > 0) != c.native {
			t.Errorf("%+v: %s, passed over %v (%v)", c.size, choice.Name, choice.Passed, err)
		}
	}
}
