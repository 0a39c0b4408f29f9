package short

import "testing"

// share is the part of random cases that -short leaves.
const share = 8

// Count returns how many of all cases a test runs.
func Count(t testing.TB, all uint64, cases string) uint64 {
	t.Helper()
	if !testing.Short() || all <= 1 {
		return all
	}
	n := (all + share - 1) / share
	t.Logf("left out: -short: seven of eight %s", cases)
	return n
}

// Skip leaves a test out, and says what of.
func Skip(t testing.TB, what string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: " + what)
	}
}
