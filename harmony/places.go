package harmony

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/frontend/source"
)

// served is the place of what a stage or a sink serves.
type served struct {
	work  any
	place source.Span
}

// Take appends renamed copies of another kernel's stages, without trivial ones.
// They keep their places.
func (k *Kernel) Take(from *Kernel, stages []Stage, ren Renaming) {
	for _, s := range stages {
		if n := ren.Stage(s); n != nil {
			k.Stages = append(k.Stages, n)
			k.inherit(n, from.PlaceOf(s))
		}
	}
}

// TakeSinks appends renamed copies of another kernel's sinks. They keep their
// places.
func (k *Kernel) TakeSinks(from *Kernel, sinks []Sink, ren Renaming) {
	for _, s := range sinks {
		n := ren.Sink(s)
		k.Sinks = append(k.Sinks, n)
		k.inherit(n, from.PlaceOf(s))
	}
}

// inherit gives a stage or a sink the place of what it is made of.
func (k *Kernel) inherit(work any, place source.Span) {
	if !place.IsValid() {
		return
	}
	k.places = append(k.places, served{work, place})
	if !slices.Contains(k.rules, place) {
		k.rules = append(k.rules, place)
	}
}

// PlaceOf returns the rule or constraint that a stage or a sink serves.
func (k *Kernel) PlaceOf(work any) source.Span {
	for _, s := range k.places {
		if s.work == work {
			return s.place
		}
	}
	return k.Span
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
