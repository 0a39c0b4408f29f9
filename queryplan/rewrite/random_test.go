package rewrite

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/linediff"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/reference/randprog"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/build"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var (
	firstSeed = flag.Uint64("seed", 1, "first seed of the random programs")
	seedCount = flag.Uint64("seeds", 60, "number of random programs")
)

// TestRandomPrograms rewrites random programs with random statistics, by all
// passes and with each left out, and runs the plans before and after over
// random facts: they have to agree, and a second compilation has to give the
// same text.
func TestRandomPrograms(t *testing.T) {
	for seed, n := *firstSeed, short.Count(t, *seedCount,
		"random programs"); seed < *firstSeed+n; seed++ {
		rng := rand.New(rand.NewPCG(seed, 7))
		p := randomPlan(t, seed, rng)
		cat := randomCatalog(rng, p)
		if seed%2 == 0 {
			withoutThresholds(func() { rewritePlan(t, seed, rng, p, cat) })
		} else {
			rewritePlan(t, seed, rng, p, cat)
		}
	}
}

// TestRandomPositions rewrites random programs that find their derived tuples
// by positions.
func TestRandomPositions(t *testing.T) {
	for seed := *firstSeed; seed < *firstSeed+*seedCount/3; seed++ {
		rng := rand.New(rand.NewPCG(seed, 8))
		p := planref.ThroughPositions(randomPlan(t, seed, rng))
		cat := randomCatalog(rng, p)
		withoutThresholds(func() { rewritePlan(t, seed, rng, p, cat) })
	}
}

func rewritePlan(t *testing.T, seed uint64, rng *rand.Rand, p *queryplan.Plan, cat *stats.Catalog) {
	t.Helper()
	variants := [][]string{nil, {passes[rng.IntN(len(passes))].Name},
		{passes[rng.IntN(len(passes))].Name}}
	for _, disable := range variants {
		out, _, err := Run(p, cat, Options{Disable: disable, Verify: true, KeepSteps: true})
		if err != nil {
			var failed *PassError
			errors.As(err, &failed)
			t.Fatalf("seed %d, without %v: %v\n%s\n%s", seed, disable, err, failed.Plan,
				failed.Stack)
		}
		again, _, err := Run(p, cat, Options{Disable: disable})
		if err != nil || again.String() != out.String() {
			t.Fatalf("seed %d, without %v: a second run differs: %v\n%s", seed, disable, err,
				linediff.Diff(out.String(), again.String()))
		}
		if why := disagreement(rng.Uint64(), p, out, cat); why != "" {
			t.Fatalf("seed %d, without %v: %s\n%s\nbecame\n%s%v", seed, disable, why, p, out,
				describe(cat))
		}
	}
}

// randomPlan builds a random program and makes some of its outputs
// intermediate.
func randomPlan(t *testing.T, seed uint64, rng *rand.Rand) *queryplan.Plan {
	text := randprog.New(seed).Text()
	prog, found := frontend.Compile([]*source.File{source.NewFile("random.logic", text)},
		frontend.Options{})
	if prog == nil {
		t.Fatalf("seed %d: %s\n%s", seed, found[0].Message, text)
	}
	p, err := build.Build(prog)
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, text)
	}
	planref.HideNumbers(prog, p)
	for _, v := range p.Vars {
		if v.Output && rng.IntN(2) == 0 {
			v.Output, v.OrderBy = false, nil
		}
	}
	return p
}

// randomCatalog puts inputs into tables, those with equal keys together at
// times, and leaves a few out.
func randomCatalog(rng *rand.Rand, p *queryplan.Plan) *stats.Catalog {
	if rng.IntN(4) == 0 {
		return nil
	}
	cat := &stats.Catalog{Relations: map[string]*stats.Relation{},
		Tables: map[string]*stats.Table{}}
	sharing := map[string]string{} // key types to table
	for _, v := range p.Vars {
		if v.Kind != queryplan.Input || rng.IntN(20) == 0 {
			continue
		}
		keyTypes := ""
		for _, c := range v.Cols[:v.Keys] {
			keyTypes += c.Type.String() + " "
		}
		name := sharing[keyTypes]
		table := cat.Tables[name]
		var rel []int
		if table == nil || v.Keys == len(v.Cols) || rng.IntN(3) == 0 {
			name = fmt.Sprintf("table%d", len(cat.Tables))
			table = &stats.Table{Name: name, Rows: (1 + rng.Int64N(1000)) * (1 + 999*rng.Int64N(2))}
			for i := range v.Keys {
				table.Columns = append(table.Columns, randomColumn(rng, v.Cols[i].Name))
				table.Key = append(table.Key, i)
			}
			if v.Keys == 1 && v.Keys < len(v.Cols) && v.Cols[0].Type == scalar.IntType &&
				rng.IntN(2) == 0 {
				// The key counts the rows.
				table.Rows = 4 + rng.Int64N(8)
				table.Columns[0] = stats.Column{Name: v.Cols[0].Name, Max: table.Rows - 1,
					Distinct:  table.Rows,
					Ascending: true}
			}
			cat.Tables[name] = table
			if v.Keys < len(v.Cols) {
				sharing[keyTypes] = name
			}
		}
		for i, c := range v.Cols {
			if i >= v.Keys {
				table.Columns = append(table.Columns,
					randomColumn(rng, fmt.Sprintf("%s%d", c.Name, len(table.Columns))))
				rel = append(rel, len(table.Columns)-1)
			} else {
				rel = append(rel, i)
			}
		}
		cat.Relations[v.Source] = &stats.Relation{Name: v.Source, Rows: table.Rows, Table: name,
			Cols: rel}
	}
	return cat
}

func randomColumn(rng *rand.Rand, name string) stats.Column {
	c := stats.Column{Name: name, Max: 2 + rng.Int64N(4)}
	c.Distinct = c.Max + 1
	return c
}

func describe(cat *stats.Catalog) string {
	if cat == nil {
		return "no catalogue\n"
	}
	var b strings.Builder
	for _, r := range cat.Relations {
		fmt.Fprintf(&b, "%s = %s%v\n", r.Name, r.Table, r.Cols)
	}
	return b.String()
}

// disagreement runs two plans over the same random facts and says in what they
// differ. Where a check fails there is no answer, and the reason is all that
// counts.
func disagreement(seed uint64, before, after *queryplan.Plan, cat *stats.Catalog) string {
	for i := range uint64(3) {
		facts := randomFacts(rand.New(rand.NewPCG(seed, i)), before, cat)
		if why, _ := disagreementOver(facts, before, after); why != "" {
			return why
		}
	}
	return ""
}

// disagreementOver is disagreement over given facts. Rows is the number of
// tuples that the first plan puts out or refuses.
func disagreementOver(
	facts map[string]planref.Rows, before, after *queryplan.Plan,
) (why string, rows int) {
	want, wantErr := planref.Run(before, facts)
	got, gotErr := planref.RunProving(after, facts)
	if wantErr == nil {
		for _, tuples := range want.Outputs {
			rows += len(tuples)
		}
		for _, tuples := range want.Violations {
			rows += len(tuples)
		}
	}
	if wantErr == nil && gotErr == nil && len(want.Violations) > 0 {
		want.Outputs, got.Outputs = nil, nil
	}
	switch {
	case wantErr == nil && gotErr != nil && len(want.Violations) > 0:
	case (wantErr == nil) != (gotErr == nil):
		why = fmt.Sprintf("error %v, was %v", gotErr, wantErr)
	case wantErr == nil && fmt.Sprint(want) != fmt.Sprint(got):
		why = fmt.Sprintf("the result is\n%v\nand was\n%v\n", got, want)
	}
	return why, rows
}

// rewriteRandom runs the passes over the text of a plan that came of a seed,
// wants the same results with them, and counts the times that each one changed
// something.
func rewriteRandom(
	t *testing.T, seed uint64, text string, disable []string, changed map[string]int,
) {
	t.Helper()
	p, err := queryplan.Parse("test.plan", text)
	if err == nil {
		err = queryplan.Verify(p)
	}
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, text)
	}
	out, trace, err := Run(p, nil, Options{Disable: disable, Verify: true, KeepSteps: true})
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, text)
	}
	for _, s := range trace.Steps {
		if s.Before != s.After {
			changed[s.Pass]++
		}
	}
	if why := disagreement(seed, p, out, nil); why != "" {
		t.Fatalf("seed %d: %s\n%s\nbecame\n%s", seed, why, text, out)
	}
}
