//go:build linux && !android && (amd64 || arm64)

package cuda

import (
	"testing"

	"github.com/ebitengine/purego"
)

// TestVariables looks at the driver's variables as it does when it is
// initialised: what the user has set stays.
func TestVariables(t *testing.T) {
	address, err := purego.Dlsym(purego.RTLD_DEFAULT, "getenv")
	if err != nil {
		t.Skip(err)
	}
	var getenv func(string) string
	purego.RegisterFunc(&getenv, address)
	LimitQueues(2)
	defer LimitQueues(0)
	for _, c := range []struct{ set, want string }{{"5", "5"}, {"", "2"}} {
		t.Setenv(loadingVariable, "")
		t.Setenv(queuesVariable, c.set)
		k := newFake()
		seen := false
		k.fn.Init = func(uint32) Code {
			seen = true
			if loading, queues := getenv(loadingVariable),
				getenv(queuesVariable); loading != "EAGER" || queues != c.want {
				t.Errorf("the driver finds %q and %q, want EAGER and %q", loading, queues, c.want)
			}
			return success
		}
		if _, err := k.open(); err != nil || !seen {
			t.Errorf("the driver was initialised: %v, %v", seen, err)
		}
	}
}
