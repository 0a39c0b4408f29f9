package emit

import (
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/target"
)

// TestTarget refuses tiles of shapes that the primitives do not have. With one
// or two rows a thread they would read and write chunks of rows that no array
// has room for.
func TestTarget(t *testing.T) {
	p, err := harmony.Parse("p.harmony",
		"relation a(x: int) input \"a\"\nrelation b(x: int) derived output\nblock b0:\n  run k\n    rows a\n    v0: int = load x\n    insert b(v0)\n  halt\n")
	if err != nil {
		t.Fatal(err)
	}
	gpu := func(threads, items int) target.Target {
		t := target.GPU(90)
		t.Threads, t.Items = threads, items
		return t
	}
	cpu := func(threads, items int) target.Target {
		return target.Target{Name: "cpu", Threads: threads, Items: items}
	}
	for _, c := range []struct {
		target target.Target
		want   string // "" if there is code
	}{
		{target.CPU(), ""}, {target.GPU(90), ""}, {gpu(32, abi.Chunk), ""}, {gpu(1024, 16), ""},
		{cpu(1, 32), ""},
		{gpu(256, 1), "at least 4, not 1"}, {gpu(256, 2), "at least 4, not 2"},
		{gpu(256, 6), "at least 4, not 6"}, {gpu(256, 12), "at least 4, not 12"},
		{gpu(96, 4), "not 96"}, {gpu(16, 4), "not 16"}, {gpu(2048, 4), "not 2048"},
		{cpu(1, 48), "not 1 of 48"}, {cpu(1, 0), "not 1 of 0"}, {cpu(2, 32), "not 2 of 32"},
	} {
		_, err := Program(p, Options{Target: c.target})
		if c.want == "" && err != nil || c.want != "" &&
			(err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d threads of %d: %v, want %q", c.target.Threads, c.target.Items, err, c.want)
		}
	}
}
