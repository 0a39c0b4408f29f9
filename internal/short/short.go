package short

import (
	"os"
	"testing"
)

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

// Part returns the cases that a test runs: all, or each eighth with -short.
func Part[T any](t testing.TB, all []T, cases string) []T {
	t.Helper()
	if n := Count(t, uint64(len(all)), cases); n == uint64(len(all)) {
		return all
	}
	var out []T
	for i := 0; i < len(all); i += share {
		out = append(out, all[i])
	}
	return out
}

// Skip leaves a test out, and says what of.
func Skip(t testing.TB, what string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: " + what)
	}
}

// Environment variables that ask for more than a plain go test does.
const (
	Variable  = "REDFOX_EVERY_CASE"
	mutations = "REDFOX_EVERY_MUTATION"
)

// Every reports whether tests run every case, as `make every` has them. A plain
// go test takes a part of the cases that cost much processor time.
func Every() bool { return os.Getenv(Variable) != "" }

// EveryMutation reports whether tests damage each file in a hundred thousand
// ways, as `make mutations` has them, which takes a quarter of an hour.
func EveryMutation() bool { return os.Getenv(mutations) != "" }

// OnlyEvery leaves a test to `make every`, and says what it leaves.
func OnlyEvery(t testing.TB, what string) {
	t.Helper()
	if !Every() {
		t.Skip("only make every: " + what)
	}
}
