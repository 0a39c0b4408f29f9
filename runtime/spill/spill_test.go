package spill

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/store"
)

// strict is the go engine with room for few rows of facts: it refuses a plan
// over more, unless all of its relations are whole and it has refused the plan
// before. So it is not to blame if a run cuts nothing. Each refusal makes more
// room, so that large programs end.
type strict struct {
	runtime.Engine
	rows    int
	facts   *store.Database
	refused map[string]bool
}

func (s *strict) Run(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	whole, rows := true, 0
	for _, rel := range req.Facts.Relations() {
		rows += rel.Rows()
		for _, c := range rel.Columns() {
			whole = whole && (c.OnDisk || c.Absent || s.given(c))
		}
	}
	text := req.Plan.String()
	if rows > s.rows && !(whole && s.refused[text]) {
		s.refused[text] = true
		s.rows += s.rows/8 + 1
		return nil, &runtime.MemoryError{What: "r", Want: 1, Held: req.Memory, Bound: req.Memory}
	}
	return s.Engine.Run(ctx, req)
}

// given reports whether a column is one of the facts.
func (s *strict) given(c *store.Column) bool {
	for _, rel := range s.facts.Relations() {
		for _, of := range rel.Columns() {
			if of == c {
				return true
			}
		}
	}
	return c.Len() == 0 || c.Width == 0
}

// spilling is the engine that runs requests by parts of so few rows.
type spilling struct {
	t       testing.TB
	rows    int
	profile *runtime.SpillProfile // sum of all runs
}

func (s *spilling) Name() string { return runtime.Go }

func (s *spilling) Run(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	own := *req
	own.Memory = 1 << 30
	given := 0
	for _, rel := range req.Facts.Relations() {
		given += rel.Rows()
	}
	inner := &strict{portable.New(), max(s.rows, given/16), req.Facts, map[string]bool{}}
	answer, err := Run(ctx, inner, &own, Options{Folder: s.t.TempDir()})
	if err == nil && s.profile != nil {
		s.profile.Boxes += answer.Spill.Boxes
		s.profile.Tries += answer.Spill.Tries
		for _, p := range answer.Spill.Pieces {
			if len(p.Ranges) > 0 {
				s.profile.Pieces = append(s.profile.Pieces, p)
			}
		}
	}
	return answer, err
}

// TestPrograms runs all whole programs by parts of few rows.
func TestPrograms(t *testing.T) {
	total := &runtime.SpillProfile{}
	enginetest.Programs(t, "../../testdata/programs",
		func(t *testing.T, plan *queryplan.Plan, db *store.Database) {
			want := enginetest.WantOf(runtime.Request{Plan: plan, Facts: db})
			for _, rows := range []int{2, 20} {
				e := &spilling{t, rows, total}
				want.Compare(t, strings.Repeat("r", rows), e, runtime.Request{Plan: plan, Facts: db})
			}
		})
	if total.Tries < 100 || total.Boxes < total.Tries || len(total.Pieces) < 10 {
		t.Errorf("%d boxes, %d tries, %d pieces by ranges", total.Boxes, total.Tries,
			len(total.Pieces))
	}
}

// TestRandomPrograms does so with random programs.
func TestRandomPrograms(t *testing.T) {
	total := &runtime.SpillProfile{}
	enginetest.RandomPrograms(t, 1, 150, func(t *testing.T, seed uint64, text string,
		plan *queryplan.Plan, db *store.Database) {
		e := &spilling{t, []int{1, 3, 8, 20}[seed%4], total}
		want := enginetest.WantOf(runtime.Request{Plan: plan, Facts: db})
		if err := want.Same(e, runtime.Request{Plan: plan, Facts: db}); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	})
	if len(total.Pieces) == 0 {
		t.Error("nothing is cut by ranges")
	}
}

// TestRounds holds that tuples of recursions which are run by parts come in the
// order of the rounds that found them.
func TestRounds(t *testing.T) {
	compared := 0
	enginetest.RandomPrograms(t, 7000, 150, func(t *testing.T, seed uint64, text string,
		plan *queryplan.Plan, db *store.Database) {
		req := &runtime.Request{Plan: plan, Facts: db, Rounds: true, NoDecompose: true}
		want, err := portable.New().Run(context.Background(), req)
		if err != nil {
			return // the other tests compare errors
		}
		got, err := (&spilling{t: t, rows: []int{1, 3, 8, 20}[seed%4]}).Run(context.Background(),
			req)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for name, rounds := range want.Rounds {
			if len(rounds) < 2 {
				continue // it may have been found in some other order
			}
			compared++
			has := roundsOf(t, got, name)
			if !slices.Equal(has, roundsOf(t, want, name)) {
				t.Fatalf("rounds of %s: %v, want %v, in\n%s", name, has, roundsOf(t, want, name), text)
			}
			for _, other := range slices.Sorted(maps.Keys(want.Rounds)) {
				if !slices.Equal(roundsBeside(got, name, other), roundsBeside(want, name, other)) &&
					len(want.Rounds[other]) > 1 {
					t.Fatalf("rounds of %s beside %s: %v, want %v, in\n%s", name, other,
						got.Rounds, want.Rounds, text)
				}
			}
		}
	})
	if !testing.Short() && compared < 30 {
		t.Errorf("%d recursions have several rounds", compared)
	}
}

// roundsOf returns the tuples of each round, sorted.
func roundsOf(t *testing.T, a *runtime.Answer, name string) (out []string) {
	t.Helper()
	rel, row := a.Outputs[name], 0
	for _, end := range a.Rounds[name] {
		var tuples []string
		for ; row < int(end.Rows); row++ {
			tuple := ""
			for _, c := range rel.Columns() {
				tuple += scalar.KeyLiteral(c.Value(row)) + " "
			}
			tuples = append(tuples, tuple)
		}
		slices.Sort(tuples)
		out = append(out, strings.Join(tuples, ", "))
	}
	if row != rel.Rows() {
		t.Fatalf("%d of %d tuples of %s have rounds", row, rel.Rows(), name)
	}
	return out
}

// roundsBeside returns, for each round of a relation, how many tuples another
// one had before.
func roundsBeside(a *runtime.Answer, name, other string) (out []int64) {
	for _, end := range a.Rounds[name] {
		out = append(out, a.Rounds[other].Before(end.Round))
	}
	return out
}
