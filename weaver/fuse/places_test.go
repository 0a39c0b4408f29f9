package fuse

import (
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/weaver/target"
)

// TestPlaces wants a fused kernel to know the rules that it serves, in the
// order of its work, and each stage and sink to know its own. The places of
// kernels that are read from text are their lines.
func TestPlaces(t *testing.T) {
	p, err := harmony.Parse("graph", `relation a(x: int) input "a"
relation t(x: int) temp
relation r(x: int) derived output
block b0:
  run k0
    rows a
    v0: int = load x
    v1: int = map add(v0, 1)
    store t(v1)
  run k1
    rows t
    v0: int = load x
    v1: boolean = map gt(v0, 5)
    filter v1
    insert r(v0)
  merge r
  halt
`)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	fused, _, err := Fuse(p, Options{Budget: target.CPU().Budget})
	if err != nil {
		t.Fatal(err)
	}
	kernels := fused.Kernels()
	if len(kernels) != 1 {
		t.Fatalf("%d kernels are left", len(kernels))
	}
	k := kernels[0]
	if got, want := k.Rules(), []string{"graph:5", "graph:10"}; !slices.Equal(got, want) {
		t.Errorf("%s serves %q, want %q", k.Name, got, want)
	}
	for i, s := range k.Stages {
		want := 5
		if i > 1 {
			want = 10
		}
		if got := k.PlaceOf(s).Position().Line; got != want {
			t.Errorf("stage %d is of line %d, want %d", i, got, want)
		}
	}
	if got := k.PlaceOf(k.Sinks[0]).Position().Line; got != 10 {
		t.Errorf("the sink is of line %d, want 10", got)
	}
	copied := harmony.Clone(fused).Kernels()[0]
	if !slices.Equal(copied.Rules(), k.Rules()) ||
		copied.PlaceOf(copied.Stages[0]) != k.PlaceOf(k.Stages[0]) {
		t.Errorf("a copy serves %q", copied.Rules())
	}
}
