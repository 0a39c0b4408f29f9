package native

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/segments"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/store"
)

// left runs a plan on the go engine up to a round of its first loop, and
// returns a request that goes on with the plan, and one with the bounds of its
// facts. The variables of done are complete. It returns nil if the loop takes
// fewer rounds, or computes strings.
func left(t *testing.T, plan *queryplan.Plan, db *store.Database,
	round int64) (rest, bounds *runtime.Request, done []*queryplan.Var) {
	t.Helper()
	cuts := segments.Cut(plan)
	_, err := portable.New().Run(context.Background(), &runtime.Request{Plan: plan, Facts: db,
		Round: func(at runtime.Round) bool {
			if at.Number < round {
				return false
			}
			seg, ok := cuts.Resume(at.Block, len(cuts.Pieces))
			if !ok {
				t.Fatal("the loop cannot be left")
			}
			var settled, parts []runtime.Part
			for _, v := range seg.Needs {
				settled = append(settled, runtime.Part{Var: v, Relation: segments.Source(v)})
			}
			for _, v := range seg.Resumes {
				parts = append(parts,
					runtime.Part{Var: v, Version: queryplan.Old, Relation: segments.OldSource(v)},
					runtime.Part{Var: v, Version: queryplan.Delta,
						Relation: segments.DeltaSource(v)})
			}
			if at.Copy(runtime.Bounds, parts) == nil {
				return false
			}
			done = cuts.Done(at.Block)
			complete := at.Copy(runtime.Tuples, settled)
			with := func(how runtime.Copying) *runtime.Request {
				facts := store.NewDatabase()
				for _, rel := range slices.Concat(db.Relations(), complete, at.Copy(how, parts)) {
					facts.Put(rel)
				}
				return &runtime.Request{Plan: seg.Plan, Facts: facts, Profile: true}
			}
			bounds = with(runtime.Bounds)
			rest = with(runtime.Take)
			return true
		}})
	if err != nil {
		t.Fatal(err)
	}
	return rest, bounds, done
}

// TestResumed goes on with decomposable loops of the go engine, decomposed and
// not, from each of their first rounds. The code is made for bounds alone.
func TestResumed(t *testing.T) {
	engines := []*engine{newEngine(t, 1024, false), newEngine(t, 32, false)}
	engines[0].sizes.values = 1
	rng := rand.New(rand.NewPCG(1, 2))
	facts := oracle.Facts{}
	strings := oracle.Facts{}
	for _, e := range randomEdges(rng, 70, 60, 1) {
		facts["edge"] = append(facts["edge"], oracle.Tuple{
			scalar.OfInt(scalar.IntType, e[0]), scalar.OfInt(scalar.IntType, e[1])})
		strings["edge"] = append(strings["edge"], oracle.Tuple{
			scalar.OfString(fmt.Sprint(e[0])), scalar.OfString(fmt.Sprint(e[1]))})
	}
	resumed := 0
	for _, p := range decomposed {
		data := facts
		if p.strings {
			data = strings
		}
		plan, db := enginetest.Stored(t, p.text, data)
		want, err := portable.New().Run(context.Background(),
			&runtime.Request{Plan: plan, Facts: db})
		if err != nil {
			t.Fatal(err)
		}
		for round := range int64(4) {
			rest, bounds, done := left(t, plan, db, round)
			if rest == nil {
				break
			}
			resumed++
			for i, e := range engines {
				if err := e.Compile(context.Background(), bounds, 1); err != nil {
					t.Fatal(err)
				}
				for threads := range 3 {
					name := fmt.Sprintf("%s from round %d on, engine %d, %d threads", p.name, round,
						i, threads+1)
					rest.Threads, rest.NoDecompose = threads+1, threads == 1
					got, err := e.Run(context.Background(), rest)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					for _, v := range done {
						if rel := want.Outputs[v.Name]; rel != nil {
							got.Outputs[v.Name] = rel
						}
					}
					if d := enginetest.Difference(got, want); d != "" {
						t.Fatalf("%s: %s", name, d)
					}
					if got.Compile > 0 && threads != 1 {
						t.Errorf("%s: the code for the bounds does not serve the tuples", name)
					}
				}
			}
		}
	}
	if resumed < 20 {
		t.Errorf("loops were resumed %d times", resumed)
	}
}
