package assemble

import (
	"errors"
	"testing"

	"github.com/redfoxdb/redfox/internal/llvm"
)

// TestHasLLVM opens libLLVM only if nobody knows whether it is installed.
func TestHasLLVM(t *testing.T) {
	for _, c := range []struct {
		installed func() bool
		opens     error
		want      bool
		opened    int
	}{
		{func() bool { return true }, errors.New("damaged"), true, 0},
		{func() bool { return false }, nil, true, 1},
		{func() bool { return false }, errors.New("no libLLVM"), false, 1},
		{nil, errors.New("no libLLVM"), false, 1},
	} {
		opened := 0
		tools := &Tools{Installed: c.installed, Find: func() (*llvm.Library, error) {
			opened++
			return nil, c.opens
		}}
		if got := tools.HasLLVM(); got != c.want || opened != c.opened {
			t.Errorf("%v, opened %d times; want %v and %d", got, opened, c.want, c.opened)
		}
	}
}
