package main

import (
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
)

// TestPrintReordered wants a line for each round of a loop.
func TestPrintReordered(t *testing.T) {
	of := func(rule string, round int64) driver.Reordering {
		return driver.Reordering{Block: "b1", Round: round, Rule: rule, Place: "p.logic:3",
			Grown: "q", Rows: 5000, Expected: 12}
	}
	var b strings.Builder
	printReordered(&b, []driver.Reordering{of("a", 2), of("b", 2), of("c", 2), of("d", 2),
		of("a", 7)})
	want := "joins    in another order from round 2 of b1 on: a (p.logic:3), b (p.logic:3), " +
		"c (p.logic:3) and 1 more; q has 5,000 tuples, not 12\n" +
		"joins    in another order from round 7 of b1 on: a (p.logic:3); q has 5,000 tuples, not 12\n"
	if b.String() != want {
		t.Errorf("printed\n%s\nnot\n%s", b.String(), want)
	}
}
