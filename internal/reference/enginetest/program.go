package enginetest

import (
	"fmt"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"os"
	"path/filepath"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/reference/randprog"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/build"
	"github.com/redfoxdb/redfox/queryplan/rewrite"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/facts"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/read"
)

// PlanOf compiles a program to an optimised plan.
func PlanOf(t testing.TB, text string) (*core.Program, *queryplan.Plan) {
	t.Helper()
	prog, plan := built(t, text)
	plan, _, err := rewrite.Run(plan, nil, rewrite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return prog, plan
}

// StoredFor is Stored with a plan for the facts.
func StoredFor(t testing.TB, text string, given oracle.Facts) (*queryplan.Plan,
	*store.Database) {
	t.Helper()
	prog, plan := built(t, text)
	db, err := Database(prog, given)
	if err == nil {
		plan, _, err = rewrite.Run(plan, facts.Catalog(db), rewrite.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return plan, db
}

// built compiles a program to a plan that is not optimised.
func built(t testing.TB, text string) (*core.Program, *queryplan.Plan) {
	t.Helper()
	prog, found := frontend.Compile([]*source.File{source.NewFile("test.logic", text)},
		frontend.Options{})
	if prog == nil {
		t.Fatalf("%s\n%s", found[0].Message, text)
	}
	plan, err := build.Build(prog)
	if err != nil {
		t.Fatal(err)
	}
	planref.HideNumbers(prog, plan)
	return prog, plan
}

// Orders returns what chooses orders of joins again for plans over facts.
func Orders(db *store.Database) func(*queryplan.Plan) runtime.Orders {
	return func(p *queryplan.Plan) runtime.Orders { return rewrite.NewOrders(p, facts.Catalog(db)) }
}

// Database stores facts. The error says that they are refused.
func Database(prog *core.Program, facts oracle.Facts) (*store.Database, error) {
	db := store.NewDatabase()
	for _, p := range prog.Preds {
		tuples, ok := facts[p.Name]
		if !ok {
			continue
		}
		s := store.Schema{Name: p.Name}
		slices := make([]any, len(p.Args))
		for i, arg := range p.Args {
			for _, c := range (queryplan.Column{Name: arg.Name, Type: arg.Type}).Words() {
				s.Args = append(s.Args, store.Field{Name: arg.Name, Type: c.Type})
			}
			if i < p.Keys {
				s.Keys = len(s.Args)
			}
			column := make([]scalar.Value, len(tuples))
			for k, tuple := range tuples {
				column[k] = tuple[i]
			}
			slices[i] = column
		}
		rel, err := read.FromSlices(s, slices...)
		if err != nil {
			return nil, err
		}
		db.Put(rel)
	}
	return db, nil
}

// Stored compiles a program and stores its facts.
func Stored(t testing.TB, text string, facts oracle.Facts) (*queryplan.Plan, *store.Database) {
	t.Helper()
	prog, plan := PlanOf(t, text)
	db, err := Database(prog, facts)
	if err != nil {
		t.Fatal(err)
	}
	return plan, db
}

// Programs calls f, in a test of its own, with the plan and the facts of every
// whole program in a directory of such. Those whose facts are refused are left
// out.
func Programs(t *testing.T, dir string,
	f func(t *testing.T, plan *queryplan.Plan, db *store.Database)) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatal("no programs", err)
	}
	for _, dir := range dirs[:short.Count(t, uint64(len(dirs)), "whole programs")] {
		text, err := os.ReadFile(filepath.Join(dir, "program.logic"))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			withFacts(t, string(text), filepath.Join(dir, "facts"), f)
		})
	}
}

// RandomPrograms calls f, in a test of its own, with a random program of each
// seed. In every second plan what is equal is one operator or expression.
func RandomPrograms(t *testing.T, first, count uint64,
	f func(t *testing.T, seed uint64, text string, plan *queryplan.Plan, db *store.Database)) {
	t.Helper()
	count = short.Count(t, count, "random programs")
	for seed := first; seed < first+count; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := randprog.New(seed)
			dir := t.TempDir()
			if err := random.Write(dir); err != nil {
				t.Fatal(err)
			}
			withFacts(t, random.Text(), filepath.Join(dir, "facts"),
				func(t *testing.T, plan *queryplan.Plan, db *store.Database) {
					if seed%2 == 1 {
						plan = Together(plan)
					}
					f(t, seed, random.Text(), plan, db)
				})
		})
	}
}

func withFacts(t *testing.T, text, dir string,
	f func(t *testing.T, plan *queryplan.Plan, db *store.Database)) {
	prog, plan := PlanOf(t, text)
	facts, err := oracle.ReadFacts(dir, prog)
	if err != nil {
		t.Fatal(err)
	}
	db, err := Database(prog, facts)
	if err != nil {
		return // no engine gets them
	}
	f(t, plan, db)
}
