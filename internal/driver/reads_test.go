package driver

import (
	"context"
	"slices"
	"testing"
)

// TestFactBytes holds that columns count once, as they are stored, and that
// those which a plan does not scan do not count.
func TestFactBytes(t *testing.T) {
	const declared = `
edge(x, y) -> int(x), int(y).
weight[x] = w -> int(x), int(w).
unread(x) -> int(x).
`
	var xs, ys, ws []int
	for i := range 1000 {
		xs, ys, ws = append(xs, i), append(ys, i%200), append(ws, 70000*i)
	}
	facts := NewFacts().Columns("edge", xs, ys).Columns("weight", xs, ws).Columns("unread", xs)
	ctx := context.Background()
	for _, tt := range []struct {
		rule  string
		bytes int64
		reads []string
	}{
		{"_(x, y) <- edge(x, y).", 1000*2 + 1000, []string{"edge"}},
		{"_(x) <- edge(x, y), y > 7.", 1000*2 + 1000, []string{"edge"}},
		{"_(y) <- edge(_, y).", 1000, []string{"edge"}},
		{"_(x, z) <- edge(x, y), edge(y, z).", 1000*2 + 1000, []string{"edge"}},
		{"_(y, w) <- edge(x, y), weight[x] = w.", 1000*2 + 1000 + 1000*2 + 1000*4,
			[]string{"edge", "weight"}},
	} {
		prog := compileText(t, declared+tt.rule, Options{})
		reads, err := prog.Reads()
		if err != nil || !slices.Equal(reads, tt.reads) {
			t.Errorf("%s reads %v, %v, not %v", tt.rule, reads, err, tt.reads)
		}
		db, err := prog.Load(ctx, facts, LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		session, err := OpenSession(SessionOptions{Engine: "go"})
		if err != nil {
			t.Fatal(err)
		}
		prepared, err := session.Prepare(ctx, prog, db, RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := prepared.FactBytes(); got != tt.bytes {
			t.Errorf("%s scans %d bytes, not %d", tt.rule, got, tt.bytes)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFactBytesOfTables is the same where predicates are columns of one stored
// table, whose key is not read.
func TestFactBytesOfTables(t *testing.T) {
	ctx := context.Background()
	sources, err := ReadSources("../../testdata/tpch/schema.logic", "../../testdata/tpch/q06.logic")
	if err != nil {
		t.Fatal(err)
	}
	prog, err := Compile(ctx, sources, Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := prog.Load(ctx, NewFacts().Dir("../../testdata/tpch/sf0.01"), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	session, err := OpenSession(SessionOptions{Engine: "go"})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	prepared, err := session.Prepare(ctx, prog, db, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const row = 2 + 1 + 1 + 4 // l_shipdate, l_discount, l_quantity, l_extendedprice
	if got := prepared.FactBytes(); got != 60175*row || got >= db.Bytes() {
		t.Errorf("it scans %d bytes, not %d, of %d", got, 60175*row, db.Bytes())
	}
}
