package driver_test

import (
	"context"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
)

// TestFactsInSlices gives facts as columns: they are sets, are united with
// others, and what does not fit is refused.
func TestFactsInSlices(t *testing.T) {
	ctx := context.Background()
	prog := compile(t, `
p(a, b) -> int(a), string(b).
f[a] = b -> int[16](a), uint(b).
q(a, b) <- p(a, b).
s[] = n <- agg<<n = total(a)>> f[a] = _.
`, driver.Options{})
	res, err := prog.Run(ctx, driver.NewFacts().
		Columns("p", []uint32{3, 1, 3}, []string{"z", "x", "z"}).
		Columns("f", []int8{-1, 7}, []int{5, 6}), driver.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := rows(res, "q"); len(got) != 2 || got[0][0] != int64(1) || got[1][1] != "z" {
		t.Errorf("q is %v", got)
	}
	if got := rows(res, "s"); len(got) != 1 || got[0][0] != int64(6) {
		t.Errorf("s is %v", got)
	}
	res, err = prog.Run(ctx, driver.NewFacts().Columns("p", []int{1, 2}, []string{"a", "b"}).
		Columns("p", []int{2, 4}, []string{"b", "d"}).Rows("p", []any{4, "d"}, []any{5, "e"}),
		driver.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := rows(res, "q"); len(got) != 4 || got[3][1] != "e" {
		t.Errorf("q is %v", got)
	}
	for want, facts := range map[string]*driver.Facts{
		"p has 2 arguments, not 1":            driver.NewFacts().Columns("p", []int{1}),
		"argument 2 (b) of p: []int does not": driver.NewFacts().Columns("p", []int{1}, []int{1}),
		"argument 1 (a) of f: row 2: 32768 is ": driver.NewFacts().Columns("f",
			[]uint16{1, 1 << 15}, []int{1, 2}),
		"f[1] has two values": driver.NewFacts().Columns("f", []int{1, 1},
			[]int{1, 2}),
		"the program has no predicate r": driver.NewFacts().Columns("r", []int{1}),
	} {
		if _, err := prog.Run(ctx, facts, driver.RunOptions{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("the error is %q, not %q", err, want)
		}
	}
}
