package await

import (
	"fmt"
	"testing"
	"time"
)

// recorder keeps what a test reports.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper()                           {}
func (r *recorder) Errorf(format string, args ...any) { r.said = fmt.Sprintf(format, args...) }

// TestUntil waits for conditions that come late, and for one that never does.
func TestUntil(t *testing.T) {
	looks := 0
	if !Until(t, "the third look", func() bool { looks++; return looks == 3 }) || looks != 3 {
		t.Errorf("%d looks", looks)
	}
	r := &recorder{}
	if until(r, "nothing", func() bool {
		return false
	}, time.Now()) || r.said != "waited in vain for nothing" {
		t.Errorf("said %q", r.said)
	}
	if r.said = ""; !until(r, "what is there", func() bool {
		return true
	}, time.Now().Add(-time.Hour)) || r.said != "" {
		t.Errorf("said %q", r.said)
	}
}
