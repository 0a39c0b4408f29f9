package main

import (
	"context"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"
)

// TestInTurns runs commands in turns, and refuses one that counts differently.
func TestInTurns(t *testing.T) {
	c := config{repeat: 2}
	one := system{name: "one", command: []string{"echo", "1 2"}}
	two := system{name: "two", command: []string{"printf", "1\t2"}, peer: true}
	tuples, costs, err := c.inTurns(context.Background(), []system{one, two}, t.TempDir())
	if err != nil || tuples != "1 2" || len(costs) != 2 || costs[1].peak == 0 {
		t.Errorf("got %q, %v, %v", tuples, costs, err)
	}
	two.command[1] = "3"
	_, _, err = c.inTurns(context.Background(), []system{one, two}, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "two counts 3, one counts 1 2") {
		t.Errorf("got %v", err)
	}
}

// TestBesides holds that ratios are to the best peer in each respect, and to
// the go engine where there is none.
func TestBesides(t *testing.T) {
	systems := []system{{name: "go"}, {name: "a", peer: true}, {name: "b", peer: true}}
	costs := []spent{{4, 1, 10e6}, {2, 4, 20e6}, {8, 2, 5e6}}
	ratios := func(r table.Row) string {
		return strings.Join([]string{r[4].(string), r[6].(string), r[8].(string)}, " ")
	}
	rows := besides("w", "7", systems, costs)
	for i, want := range []string{"2.00 0.50 2.00", "1.00 2.00 4.00", "4.00 1.00 1.00"} {
		if got := ratios(rows[i]); got != want {
			t.Errorf("%s: %s, want %s", systems[i].name, got, want)
		}
	}
	if got := ratios(besides("w", "7", systems[:1], costs)[0]); got != "1.00 1.00 1.00" {
		t.Errorf("alone: %s", got)
	}
}
