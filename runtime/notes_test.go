package runtime

import (
	"strings"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/queryplan"
)

// TestNotesMarkTheHotSpot marks the costliest command, and none if no command
// took time.
func TestNotesMarkTheHotSpot(t *testing.T) {
	first, second := &queryplan.Merge{}, &queryplan.Merge{}
	plan := &queryplan.Plan{Blocks: []*queryplan.Block{
		{Name: "b0", Cmds: []queryplan.Command{first, second}}}}
	profile := []CommandProfile{{Block: "b0", Command: 0, Time: time.Millisecond},
		{Block: "b0", Command: 1, Time: 3 * time.Millisecond, Rows: 2}}
	notes := Notes(plan, profile)
	want := "3ms, 2 tuples, 0 new  ◄ hot spot, 75% of the commands' time"
	if got := notes(second); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := notes(first); got != "1ms" {
		t.Errorf("got %q", got)
	}
	for i := range profile {
		profile[i].Time = 0
	}
	if notes = Notes(plan, profile); strings.Contains(notes(first)+notes(second), "hot") {
		t.Errorf("got %q and %q", notes(first), notes(second))
	}
}

// TestTotal adds the parts of a run.
func TestTotal(t *testing.T) {
	got := Total("cpu", time.Millisecond, 2*time.Second, 3*time.Microsecond)
	if want := "engine cpu, total 2.001003s: plan 1ms, compile 2s, run 3µs\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
