package enginetest

import (
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/read"
)

// PositionsPlan returns a plan that numbers the tuples of a set that grows in a
// loop.
func PositionsPlan(t testing.TB) *queryplan.Plan {
	t.Helper()
	p, err := queryplan.Parse("positions.plan", planref.Positions)
	if err == nil {
		err = queryplan.Verify(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Positions calls f with the plan of PositionsPlan and facts that make sets of
// several forms.
func Positions(t *testing.T, f func(plan *queryplan.Plan, db *store.Database)) {
	t.Helper()
	plan := PositionsPlan(t)
	for _, spread := range []int64{0, 40} {
		for _, n := range []int64{0, 1, 30} {
			columns := make([]any, 2)
			s := store.Schema{Name: "edge", Keys: 2}
			for i, name := range []string{"x", "y"} {
				s.Args = append(s.Args, store.Field{Name: name, Type: scalar.IntType})
				words := []int64{}
				for _, r := range planref.PositionsEdges(n, spread) {
					words = append(words, r[i].Int())
				}
				columns[i] = words
			}
			rel, err := read.FromSlices(s, columns...)
			if err != nil {
				t.Fatal(err)
			}
			db := store.NewDatabase()
			db.Put(rel)
			f(plan, db)
		}
	}
}
