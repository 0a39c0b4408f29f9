package harmony

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/frontend/source"
)

// served is the place of the rule that a stage or a sink serves, and the kernel
// that lowering has put it in.
type served struct {
	place  source.Span
	origin *Kernel
}

// Take appends renamed copies of another kernel's stages, without trivial ones.
// They keep their places.
func (k *Kernel) Take(from *Kernel, stages []Stage, ren Renaming) {
	for _, s := range stages {
		if n := ren.Stage(s); n != nil {
			k.Stages = append(k.Stages, n)
			k.inherit(n, from, s)
		}
	}
}

// TakeSinks appends renamed copies of another kernel's sinks. They keep their
// places.
func (k *Kernel) TakeSinks(from *Kernel, sinks []Sink, ren Renaming) {
	for _, s := range sinks {
		n := ren.Sink(s)
		k.Sinks = append(k.Sinks, n)
		k.inherit(n, from, s)
	}
}

// inherit gives a stage or a sink the place and the origin of the one that it
// is a copy of.
func (k *Kernel) inherit(work any, from *Kernel, of any) {
	place := from.PlaceOf(of)
	if k.places == nil {
		k.places = map[any]served{}
	}
	k.places[work] = served{place, from.OriginOf(of)}
	if place.IsValid() && !slices.Contains(k.rules, place) {
		k.rules = append(k.rules, place)
	}
}

// PlaceOf returns the rule or constraint that a stage or a sink serves.
func (k *Kernel) PlaceOf(work any) source.Span {
	if s := k.places[work]; s.place.IsValid() {
		return s.place
	}
	return k.Span
}

// OriginOf returns the kernel, as lowering has made it, to which a stage or a
// sink belonged before kernels were fused.
func (k *Kernel) OriginOf(work any) *Kernel {
	if s, ok := k.places[work]; ok {
		return s.origin
	}
	return k
}

// Rules returns the rules and constraints that the kernel serves, as file:line,
// in the order of its work and without repeats.
func (k *Kernel) Rules() []string {
	places := k.rules
	if len(places) == 0 && k.Span.IsValid() {
		places = []source.Span{k.Span}
	}
	var out []string
	for _, place := range places {
		at := place.Position()
		if text := fmt.Sprintf("%s:%d", at.File, at.Line); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
