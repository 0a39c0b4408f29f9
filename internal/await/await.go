package await

import (
	"testing"
	"time"
)

const (
	// margin is the time that a test has left to report what did not come.
	margin = 20 * time.Second
	// pause lies between two looks at a condition.
	pause = time.Millisecond
)

// Until waits for a condition. A busy machine only makes it wait longer: if the
// condition does not come before the timeout of the test binary is near, the
// test has failed, and the answer is false. It may be called by any goroutine.
func Until(t testing.TB, what string, condition func() bool) bool {
	t.Helper()
	var last time.Time
	if limited, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := limited.Deadline(); ok {
			last = deadline.Add(-margin)
		}
	}
	return until(t, what, condition, last)
}

// until waits until last, or forever if that is zero.
func until(t testing.TB, what string, condition func() bool, last time.Time) bool {
	t.Helper()
	for !condition() {
		if !last.IsZero() && time.Now().After(last) {
			t.Errorf("waited in vain for %s", what)
			return false
		}
		time.Sleep(pause)
	}
	return true
}
