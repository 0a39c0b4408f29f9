package enginetest

import (
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/store"
)

// growing has a relation, comes, of which one tuple is known before the
// recursion begins.
const growing = `
start(b, c) -> int(b), int(c).
next(c, d) -> int(c), int(d).
exit(c, d) -> int(c), int(d).
again(d) -> int(d).
at(b, c) <- start(b, c).
at(b, d) <- at(b, c), next(c, d).
comes(0, 0).
comes(a, b) <- comes(a0, b), a = a0 + 1, a < 40.
comes(a, b) <- comes(a, b0), b = b0 + 1, b < 40, a = 0.
comes(a, d) <- found(a, _, d), again(d).
at(a, d) <- found(a, _, d), again(d).
found(a, c, d) <- comes(a, b), at(b, c), exit(c, d).
_(a, c, d) <- found(a, c, d).
`

// Growing returns a plan and facts whose orders of joins change in the midst of
// a run: a relation grows from one tuple to 1,600.
func Growing(t testing.TB) (*queryplan.Plan, *store.Database) {
	t.Helper()
	num := func(n int) scalar.Value { return scalar.OfInt(scalar.IntType, int64(n)) }
	facts := oracle.Facts{"again": {{num(-1)}}}
	for i := range 40 {
		facts["start"] = append(facts["start"], oracle.Tuple{num(i), num(i % 7)})
	}
	for i := range 300 {
		facts["next"] = append(facts["next"], oracle.Tuple{num(i), num(i + 1)})
		if i%50 == 49 {
			facts["exit"] = append(facts["exit"], oracle.Tuple{num(i), num(i / 50)})
		}
	}
	return StoredFor(t, growing, facts)
}
