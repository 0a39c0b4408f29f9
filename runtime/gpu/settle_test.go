package gpu

import (
	"context"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/reference/recursive"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
	"github.com/redfoxdb/redfox/runtime/store"
)

// word returns an integer that needs more than four bytes.
func word(i int) scalar.Value { return scalar.OfInt(scalar.IntType, int64(i)<<34) }

// stratum returns the plan and the facts of a recursive.Stratum over wide
// integers.
func stratum(t *testing.T, rules, tokens, rounds int) (*queryplan.Plan, *store.Database) {
	t.Helper()
	facts := oracle.Facts{}
	for i := range tokens {
		facts["start"] = append(facts["start"], oracle.Tuple{word(i)})
	}
	for i := range rounds {
		facts["next"] = append(facts["next"], oracle.Tuple{word(i), word(i + 1)})
	}
	return enginetest.Stored(t, recursive.Stratum{Rules: rules}.Program(), facts)
}

// TestSettle has the host lead a stratum of many rules. It waits once a round
// for all of their kernels, also if tables begin so small that
// kernels stop in many rounds.
func TestSettle(t *testing.T) {
	const rules, tokens, rounds = 30, 12, 24
	plan, db := stratum(t, rules, tokens, rounds)
	for _, rows := range []int64{8, 4096} {
		e, d := card{small: true, Options: emulated.Options{Seed: 7}}.open(t)
		e.sizes.rows = rows
		answer, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db,
			NoDeviceLoops: true})
		if err != nil {
			t.Fatal(err)
		}
		// A round that enlarges tables waits for more.
		most := int64(2*rounds) + answer.Device.Enlarged + rules
		if p := answer.Device; p.Waits > most {
			t.Errorf("tables of %d rows: %d waits, more than %d; %d tables are enlarged", rows,
				p.Waits, most, p.Enlarged)
		}
		if rows == 8 && answer.Device.Enlarged == 0 {
			t.Error("no table is enlarged")
		}
		for range 3 {
			check(t, "in runs", e, plan, db)
		}
		if err := d.Check(); err != nil {
			t.Error(err)
		}
	}
}

// TestSettleBesideIndexes has joins of a relation that grows with itself. The
// indexes are built while kernels that may have stopped are not looked after,
// and these go on over the runs of an index that they began with.
func TestSettleBesideIndexes(t *testing.T) {
	for name, program := range map[string]string{"joins": joinsItself, "shares": sharesIndexes} {
		t.Run(name, func(t *testing.T) { testSettleBeside(t, program) })
	}
}

func testSettleBeside(t *testing.T, program string) {
	plan, db := growing(t, program)
	for _, rows := range []int64{1, 8, 4096} {
		e, d := card{small: true, Options: emulated.Options{Seed: 11}}.open(t)
		e.sizes.rows, e.sizes.run = rows, 8
		answer, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db,
			NoDeviceLoops: true})
		if err != nil {
			t.Fatal(err)
		}
		if rows == 1 && answer.Device.Enlarged == 0 {
			t.Error("no table is enlarged")
		}
		for range 3 {
			check(t, "in runs", e, plan, db)
		}
		if err := d.Check(); err != nil {
			t.Error(err)
		}
	}
}

// Relations that grow are joined with themselves in the first program, and
// tested for tuples of each other in the second one. In the third one, old and
// full rows are looked up by the same columns, for all rows and for any.
const (
	joinsItself = `
edge(x, y) -> int(x), int(y).
other(x, y) -> int(x), int(y).
path(x, y) <- edge(x, y).
path(x, z) <- path(x, y), path(y, z).
path(x, z) <- path(y, x), other(y, z).
both(x, z) <- path(x, y), both(y, z).
both(x, y) <- other(x, y).
`
	testsItself = `
edge(x, y) -> int(x), int(y).
other(x, y) -> int(x), int(y).
path(x, y) <- edge(x, y).
ok(y) <- other(x, y), x = y.
path(x, z) <- path(x, y), other(y, z), ok(z).
ok(y) <- path(x, y), ok(x).
`
	sharesIndexes = `
edge(x, y) -> int(x), int(y).
other(x, y) -> int(x), int(y).
path(x, y) <- edge(x, y).
path(x, z) <- path(x, y), edge(y, z).
path(x, z) <- path(y, x), path(y, z), other(x, _).
ok(y) <- other(x, y), x = y.
ok(z) <- ok(x), edge(x, z), path(z, _).
ok(z) <- ok(x), ok(y), three(x, y, z).
three(x, y, z) <- path(x, z), other(y, z).
`
)

// TestSharedIndexes counts the indexes of the third program that serve old and
// full rows.
func TestSharedIndexes(t *testing.T) {
	plan, _ := growing(t, sharesIndexes)
	p, err := card{}.lower(plan)
	if err != nil {
		t.Fatal(err)
	}
	shared := map[harmony.IndexKind]int{}
	for _, c := range p.Commands() {
		if b, ok := c.(*harmony.Build); ok && b.Before {
			shared[b.Index.Kind]++
		}
	}
	if shared[harmony.Multi] == 0 || shared[harmony.Exists]+shared[harmony.Unique] == 0 {
		t.Errorf("the shared indexes by kind are %v:\n%s", shared, p)
	}
}

// growing returns the plan and the facts of such a program.
func growing(t *testing.T, text string) (*queryplan.Plan, *store.Database) {
	t.Helper()
	facts := oracle.Facts{}
	for i := range 30 {
		facts["edge"] = append(facts["edge"], oracle.Tuple{word(i), word(i + 1)})
		facts["other"] = append(facts["other"], oracle.Tuple{word(3 * i % 31), word(7 * i % 31)})
	}
	return enginetest.Stored(t, text, facts)
}

// TestSpacedIndexes has the device lead the rounds of such programs, and add to
// the indexes. These have room for few rows in some runs, so that the host
// takes over and comes back; and few rows are added to extents that are there.
func TestSpacedIndexes(t *testing.T) {
	for name, program := range map[string]string{"joins": joinsItself, "tests": testsItself,
		"shares": sharesIndexes} {
		t.Run(name, func(t *testing.T) { testSpaced(t, program) })
	}
}

func testSpaced(t *testing.T, program string) {
	plan, db := growing(t, program)
	for _, c := range []struct{ places, added, looped, rows int64 }{
		{1 << 20, 1 << 16, 1 << 13, 4096}, {40, 1 << 16, 1 << 13, 8}, {1 << 20, 1, 1 << 13, 8},
		{200, 8, 400, 4096},
	} {
		e, d := card{small: true, Options: emulated.Options{Seed: 11}}.open(t)
		e.sizes.rows, e.sizes.run = c.rows, 8
		e.sizes.places, e.sizes.added, e.sizes.looped = c.places, c.added, c.looped
		answer, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
		if err != nil {
			t.Fatal(err)
		}
		if n := answer.Device.Rounds; n == 0 && c.looped == 1<<13 {
			t.Errorf("%+v: the device leads no rounds", c)
		}
		for range 3 {
			check(t, "in rounds of the device", e, plan, db)
		}
		if err := d.Check(); err != nil {
			t.Error(err)
		}
	}
}
