package tables

import "testing"

// TestAffordable has a table grow by a few rows at a time beside the memory
// that is left: it gets more than these rows, until hardly any memory is left.
func TestAffordable(t *testing.T) {
	const memory, slack = 1_000_000, 10
	rows, steps := int64(1000), 0
	for ; rows+slack <= memory-rows; steps++ {
		more := affordable(rows+slack, 2*rows, memory-rows)
		if more < rows+slack || more > memory-rows {
			t.Fatalf("%d rows become %d in a memory for %d", rows, more, memory)
		}
		rows = more
	}
	if steps > 14 {
		t.Errorf("%d steps lead to %d rows", steps, rows)
	}
}
