package portable

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable/work"
	"github.com/redfoxdb/redfox/runtime/store"
)

// configurations are the sizes and thread counts with which every test plan
// runs: tiny vectors and sets reach the parallel and sharded paths with little
// data.
var configurations = []struct {
	name    string
	opts    work.Sizes
	threads int
}{
	{"default", work.DefaultSizes, 2},
	{"serial", work.Sizes{Vector: 16, SerialRows: 1 << 30, SmallSet: work.DefaultSizes.SmallSet,
		Groups: work.DefaultSizes.Groups}, 1},
	{"tiny", work.Sizes{Vector: 3, SerialRows: 1, SmallSet: 4, Groups: 4}, 2},
	{"one row", work.Sizes{Vector: 1, SerialRows: 1, SmallSet: 0, Groups: 1}, 7},
	{"hashed", work.Sizes{Vector: 5, SerialRows: 1, SmallSet: 2, NoBitmaps: true, Groups: 8}, 3},
}

// database makes stored relations of rows. Those that only one table reads get
// a table of that name.
func database(p *queryplan.Plan, facts map[string]planref.Rows) *store.Database {
	db := store.NewDatabase()
	for _, v := range p.Vars {
		rows := facts[v.Source]
		if v.Kind != queryplan.Input && v.Kind != queryplan.Table || len(rows) == 0 ||
			db.Relation(v.Source) != nil {
			continue
		}
		table := &store.Table{Name: v.Source, Rows: len(rows)}
		rel := &store.Relation{Name: v.Source, Table: table, Keys: v.Keys}
		for i := range rows[0] {
			b := store.NewBuilder(rows[0][i].Type, nil)
			for _, r := range rows {
				b.AppendValue(r[i])
			}
			table.Names = append(table.Names, fmt.Sprint("c", i))
			table.Columns = append(table.Columns, b.Finish())
			rel.Cols = append(rel.Cols, i)
		}
		db.Put(rel)
	}
	return db
}

// tuples returns the sorted rows of a relation as text.
func tuples(rel *store.Relation) []string {
	out := make([]string, rel.Rows())
	for i := range out {
		var s []string
		for c := range rel.Cols {
			s = append(s, scalar.Literal(rel.Column(c).Value(i)))
		}
		out[i] = strings.Join(s, ", ")
	}
	slices.Sort(out)
	return out
}

func textOf(rows planref.Rows) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		var s []string
		for _, v := range r {
			s = append(s, scalar.Literal(v))
		}
		out[i] = strings.Join(s, ", ")
	}
	slices.Sort(out)
	return out
}

// unlimited returns the plan without limits of outputs, which the engine leaves
// to its caller.
func unlimited(p *queryplan.Plan) *queryplan.Plan {
	q := queryplan.Clone(p)
	for _, v := range q.Vars {
		v.Limit = -1
	}
	return q
}

// agree runs a plan with every configuration and reports where the engine
// differs from the reference.
func agree(p *queryplan.Plan, facts map[string]planref.Rows) error {
	p = unlimited(p)
	want, wantErr := planref.Run(p, facts)
	if errors.Is(wantErr, planref.ErrRounds) {
		return nil
	}
	db := database(p, facts)
	for _, c := range configurations {
		e := &engine{opts: c.opts}
		got, err := e.Run(context.Background(),
			&runtime.Request{Plan: p, Facts: db, Threads: c.threads, MaxViolations: 1000})
		if err := compareRuns(got, err, want, wantErr); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		// Once more with orders of joins that are chosen before every round.
		e.opts.Grown, e.opts.Counted = 0, 0
		got, err = e.Run(context.Background(),
			&runtime.Request{Plan: p, Facts: db, Threads: c.threads, MaxViolations: 1000,
				Orders: func(p *queryplan.Plan) runtime.Orders {
					return rewrite.NewOrders(p, nil)
				}})
		if err := compareRuns(got, err, want, wantErr); err != nil {
			return fmt.Errorf("%s, with other orders: %w", c.name, err)
		}
	}
	return nil
}

func compareRuns(got *runtime.Answer, err error, want *planref.Answer, wantErr error) error {
	var key *runtime.KeyError
	var overflow *runtime.OverflowError
	switch {
	case errors.Is(wantErr, planref.ErrKey):
		if !errors.As(err, &key) {
			return fmt.Errorf("got %v, want %v", err, wantErr)
		}
		return nil
	case errors.Is(wantErr, planref.ErrOverflow):
		// A build side that no row probes is not computed: its overflow then
		// goes unnoticed.
		if err != nil && !errors.As(err, &overflow) {
			return fmt.Errorf("got %v, want %v", err, wantErr)
		}
		return nil
	case wantErr != nil:
		return fmt.Errorf("the reference failed: %w", wantErr)
	case err != nil:
		var bug *work.InternalError
		if errors.As(err, &bug) {
			return fmt.Errorf("%w\n%s", err, bug.Stack)
		}
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(want.Outputs)) {
		g, w := tuples(got.Outputs[name]), textOf(want.Outputs[name])
		// A Temp is a bag; the reference presents it as a set.
		g = slices.Compact(g)
		if !slices.Equal(g, w) {
			return fmt.Errorf("%s has %d tuples, want %d: %s", name, len(g), len(w),
				firstDifference(g, w))
		}
	}
	violations := map[string]planref.Rows{}
	for _, v := range got.Violations {
		text := v.Check.Text
		violations[text] = append(violations[text], v.Tuples...)
		if int(v.Count) != len(v.Tuples) {
			return fmt.Errorf("%d violations of %s, but %d tuples", v.Count, text, len(v.Tuples))
		}
	}
	for _, text := range slices.Sorted(maps.Keys(want.Violations)) {
		g, w := textOf(violations[text]), textOf(want.Violations[text])
		if !slices.Equal(slices.Compact(g), w) {
			return fmt.Errorf("violations of %s: %s", text, firstDifference(g, w))
		}
	}
	return nil
}

func firstDifference(got, want []string) string {
	s := ""
	for _, g := range got {
		if !slices.Contains(want, g) {
			s += fmt.Sprintf("(%s) should not be there; ", g)
			break
		}
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			return s + fmt.Sprintf("(%s) is missing", w)
		}
	}
	return s
}

func parse(t testing.TB, text string) *queryplan.Plan {
	t.Helper()
	p, err := queryplan.Parse("test.plan", text)
	if err == nil {
		err = queryplan.Verify(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ints(rows ...[]int64) planref.Rows {
	out := make(planref.Rows, len(rows))
	for i, r := range rows {
		for _, v := range r {
			out[i] = append(out[i], scalar.OfInt(scalar.IntType, v))
		}
	}
	return out
}

const closure = `
var edge(x: int, y: int) input "edge"
var tc(x: int, z: int) derived output
block b0:
  insert tc
    scan edge(x, z)
  merge tc
  branch delta tc -> b1 else b2
block b1:
  insert tc
    project x, z
      join y
        scan delta tc(x, y)
        project x as y, z
          scan edge(x, z)
  merge tc
  branch delta tc -> b1 else b2
block b2:
  halt
`

func TestTransitiveClosure(t *testing.T) {
	var edges [][]int64
	for i := range int64(60) {
		edges = append(edges, []int64{i, i * 7 % 61}, []int64{i, (i*i + 3) % 61})
	}
	if err := agree(parse(t, closure),
		map[string]planref.Rows{"edge": ints(edges...)}); err != nil {
		t.Fatal(err)
	}
	if err := agree(parse(t, closure), nil); err != nil {
		t.Fatal(err)
	}
}
