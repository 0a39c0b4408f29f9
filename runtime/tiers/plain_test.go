package tiers

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable"
)

// Plans over edges. The rows of a test are too few for the optimiser to choose
// a multijoin.
const (
	triangles = `
var edge(x: int, y: int) input "edge"
var three(x: int, y: int, z: int) derived output
block b0:
  insert three
    multijoin x, y, z
      scan edge(x, y)
      scan edge(y, z)
      scan edge(x, z)
  merge three
  halt
`
	behindLoop = `
var edge(x: int, y: int) input "edge"
var path(x: int, y: int) derived output
var three(x: int, y: int, z: int) derived output
block b0:
  insert path
    scan edge(x, y)
  merge path
  branch delta path -> b1 else b2
block b1:
  insert path
    project x, z
      join y
        scan delta path(x, y)
        scan edge(y, z)
  merge path
  branch delta path -> b1 else b2
block b2:
  insert three
    multijoin x, y, z
      scan edge(x, y)
      scan edge(y, z)
      scan edge(x, z)
  merge three
  halt
`
	withinLoop = `
var edge(x: int, y: int) input "edge"
var path(x: int, y: int) derived output
block b0:
  insert path
    scan edge(x, y)
  merge path
  branch delta path -> b1 else b2
block b1:
  insert path
    project x, z
      multijoin x, y, z
        scan delta path(x, y)
        scan edge(y, z)
        scan edge(x, z)
  merge path
  branch delta path -> b1 else b2
block b2:
  halt
`
)

// folded iterates: each round adds up the values of the neighbours.
const folded = `
var edge(x: int, y: int) input "edge"
var value(x: int; n: int) temp unique
var round(n: int) derived
var last(x: int; n: int) derived output
block b0:
  assign value
    project y as x, n
      aggregate [y] n: int = count()
        scan edge(_, y)
  insert round
    values (n: int)
      (0)
  merge round
  jump b1
block b1:
  assign value
    project y as x, n
      aggregate [y] n: int = total(m)
        map m = add(was, 1)
          join x
            scan value(x, was)
            scan edge(x, y)
  insert round
    project n
      filter lt(n, 5)
        map n = add(before, 1)
          scan delta round(before)
  merge round
  branch delta round -> b1 else b2
block b2:
  insert last
    scan value(x, n)
  merge last
  halt
`

// tallied iterates: each round counts the labels of the neighbours, and takes
// the least of them.
const tallied = `
var edge(x: int, y: int) input "edge"
var value(x: int; n: int) temp unique
var votes(y: int, l: int; n: int) temp unique
var round(n: int) derived
var last(x: int; n: int) derived output
block b0:
  assign value
    project y as x, n
      aggregate [y] n: int = count()
        scan edge(_, y)
  insert round
    values (n: int)
      (0)
  merge round
  jump b1
block b1:
  assign votes
    aggregate [y, l] n: int = count()
      join x
        scan value(x, l)
        scan edge(x, y)
  assign value
    project y as x, n
      aggregate [y] n: int = min(m)
        map m = add(l, n)
          scan votes(y, l, n)
  insert round
    project n
      filter lt(n, 5)
        map n = add(before, 1)
          scan delta round(before)
  merge round
  branch delta round -> b1 else b2
block b2:
  insert last
    scan value(x, n)
  merge last
  halt
`

// TestMultiJoinsAreForTries wants the multijoin of a small plan on the plain
// engine, and the plan's loops as native code unless they fold. Without tiers,
// or if the multijoin is part of a loop, native code runs the whole plan.
func TestMultiJoinsAreForTries(t *testing.T) {
	facts := enginetest.Line(40)
	facts["edge"] = append(facts["edge"], oracle.Tuple{scalar.OfInt(scalar.IntType, 1),
		scalar.OfInt(scalar.IntType, 3)})
	_, db := enginetest.Stored(t, "edge(x, y) -> int(x), int(y).", facts)
	for _, c := range []struct {
		name, plan     string
		often, noTiers bool
		engines        []string // of the segments; none if native code runs all
	}{
		{name: "a multijoin", plan: triangles, engines: []string{runtime.Go}},
		{name: "a multijoin that runs often", plan: triangles, often: true,
			engines: []string{runtime.Go}},
		{name: "a multijoin behind a loop", plan: behindLoop,
			engines: []string{runtime.CPU, runtime.Go}},
		{name: "no tiers", plan: triangles, noTiers: true},
		{name: "a multijoin in a loop", plan: withinLoop},
		{name: "a loop that folds", plan: folded, engines: []string{runtime.Go}},
		{name: "a loop that tallies", plan: tallied, engines: []string{runtime.Go}},
		{name: "a loop that counts by both sides", plan: strings.Replace(tallied,
			`
    aggregate [y, l] n: int = count()
      join x
        scan value(x, l)
        scan edge(x, y)`, `
    aggregate [y, h] n: int = count()
      map h = add(y, 1)
        join x
          scan value(x, l)
          scan edge(x, y)`, 1)},
		{name: "a loop with groups of its facts", plan: strings.Replace(tallied,
			"          scan votes(y, l, n)",
			"          join y\n            scan votes(y, l, n)\n            scan edge(_, y)", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, err := queryplan.Parse(c.name, c.plan)
			if err != nil {
				t.Fatal(err)
			}
			req := runtime.Request{Plan: plan, Facts: db, Threads: 1, Often: c.often,
				NoTiers: c.noTiers}
			e := New(portable.New(), named{portable.New()}, DefaultSizes)
			enginetest.Compare(t, c.plan, e, req)
			answer, err := e.Run(context.Background(), &req)
			if err != nil {
				t.Fatal(err)
			}
			var engines []string
			for _, s := range answer.Segments {
				engines = append(engines, s.Engine)
			}
			if !slices.Equal(engines, c.engines) {
				t.Errorf("engines %v, not %v", engines, c.engines)
			}
			if three := answer.Outputs["three"]; three != nil && three.Rows() != 1 {
				t.Errorf("%d triangles", three.Rows())
			}
		})
	}
}
