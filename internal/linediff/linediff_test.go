package linediff

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDiff applies each diff's lines and expects the second text.
func TestDiff(t *testing.T) {
	if Diff("a\n", "a\n") != "" {
		t.Error("equal texts differ")
	}
	if got, want := Diff("a\nb\nc\nd\ne\nf\n",
		"a\nb\nc\nx\ne\nf\n"), "...\n  b\n  c\n- d\n+ x\n  e\n  f\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		a, b := randomLines(rng), randomLines(rng)
		var old, edited []string
		for _, e := range editScript(a, b) {
			if e.op != '+' {
				old = append(old, e.line)
			}
			if e.op != '-' {
				edited = append(edited, e.line)
			}
		}
		if !slices.Equal(old, a) || !slices.Equal(edited, b) {
			t.Fatalf("the script from %q to %q gives %q and %q", a, b, old, edited)
		}
	}
}

func randomLines(rng *rand.Rand) []string {
	var out []string
	for range rng.IntN(12) {
		out = append(out, string(rune('a'+rng.IntN(4))))
	}
	return out
}
