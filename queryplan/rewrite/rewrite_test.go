package rewrite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/reference/testprograms"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/build"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

// TestRewrite runs the files of testdata. The directives are
//
//	catalog   sets the catalogue for what follows in the file. Lines are
//	          "table T(col* lo..hi distinct, ...) rows N", with a
//	          star at key columns, "days:" before ranges of dates and "numbers" in place
//	          of the distinct values of a column that counts the rows, "ascends" behind those
//	          of one that comes in order, "relation P T(0, 1, 3)", and
//	          "relation P(lo..hi distinct, ...) rows N" for one with a table of
//	          its own.
//	logiql    compiles the program below, or file=F of the root testdata, and goes
//	          on as rewrite does.
//	rewrite   runs passes over the plan text below and prints the plan. With
//	          expect=P only P runs and has to change the plan, with
//	          expect-not=P it has to leave it, with only=(P, Q) these run, and
//	          with disable=(P, Q) all others; steps prints each change as a diff,
//	          choices what passes decided by estimates.
//
// Each plan is run before and after by package planref on random facts, and
// both have to agree.
func TestRewrite(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no test files", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var cat *stats.Catalog
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
				switch d.Cmd {
				case "catalog":
					cat = parseCatalog(t, d)
					return ""
				case "rewrite":
					p, err := queryplan.Parse("test.plan", d.Input)
					if err == nil {
						err = queryplan.Verify(p)
					}
					if err != nil {
						t.Fatalf("%s: %v", d.Pos, err)
					}
					return rewriteTest(t, d, p, cat)
				case "logiql":
					return rewriteTest(t, d, compile(t, d), cat)
				}
				t.Fatalf("%s: no directive %s", d.Pos, d.Cmd)
				return ""
			})
		})
	}
}

// compile returns the plan of a LogiQL program.
func compile(t *testing.T, d *datadriven.TestData) *queryplan.Plan {
	text := d.Input
	if d.HasArg("file") {
		var name string
		d.ScanArgs(t, "file", &name)
		var err error
		text, err = testprograms.Text(filepath.Join("../../testdata", name))
		if err != nil {
			t.Fatal(err)
		}
	}
	prog, found := frontend.Compile([]*source.File{source.NewFile("test.logic", text)},
		frontend.Options{})
	if prog == nil {
		t.Fatalf("%s: %s", d.Pos, found[0].Message)
	}
	p, err := build.Build(prog)
	if err != nil {
		t.Fatalf("%s: %v", d.Pos, err)
	}
	for _, v := range p.Vars {
		// A run that only prints the answer does the same.
		v.Output = v.Output && strings.HasPrefix(v.Name, "_")
	}
	return p
}

func rewriteTest(
	t *testing.T, d *datadriven.TestData, p *queryplan.Plan, cat *stats.Catalog,
) string {
	var only, disable []string
	var change, steps, choices bool
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "expect", "expect-not":
			only, change = arg.Vals, arg.Key == "expect"
		case "only":
			only, change = arg.Vals, true
		case "disable":
			disable, change = arg.Vals, true
		case "file":
		case "steps":
			steps = true
		case "choices":
			choices = true
		default:
			t.Fatalf("%s: no argument %s", d.Pos, arg.Key)
		}
	}
	if only != nil {
		for _, pass := range Passes() {
			if !slices.Contains(only, pass.Name) {
				disable = append(disable, pass.Name)
			}
		}
	}
	before := p.String()
	out, trace, err := Run(p, cat, Options{Disable: disable, KeepSteps: true, Verify: true})
	if err != nil {
		t.Fatalf("%s: %v", d.Pos, err)
	}
	if p.String() != before {
		t.Errorf("%s: the given plan was changed", d.Pos)
	}
	if changed := out.String() != before; only != nil && changed != change {
		t.Errorf("%s: changed: %v, want %v", d.Pos, changed, change)
	}
	compareRuns(t, d.Pos, p, out, cat)
	var b strings.Builder
	for _, c := range trace.Choices {
		if choices {
			b.WriteString(c.String() + "\n")
		}
	}
	if !steps {
		return b.String() + out.String()
	}
	for _, s := range trace.Steps {
		diff := s.Diff()
		if diff == "" {
			diff = "(unchanged)\n"
		}
		b.WriteString(s.Pass + "\n" + diff)
	}
	return b.String()
}

// compareRuns runs two plans over the same random facts, several times.
func compareRuns(t *testing.T, pos string, before, after *queryplan.Plan, cat *stats.Catalog) {
	t.Helper()
	for seed := range uint64(8) {
		if why := disagreement(seed, before, after, cat); why != "" {
			t.Errorf("%s: %s", pos, why)
			return
		}
	}
}

// randomFacts returns rows for the plan's inputs and for the stored tables that
// the catalogue says they are columns of. Values keep the catalogue's ranges,
// and inputs that it lacks have no rows.
func randomFacts(rng *rand.Rand, p *queryplan.Plan, cat *stats.Catalog) map[string]planref.Rows {
	facts := map[string]planref.Rows{}
	typesOf := map[string][]scalar.Type{}
	for _, v := range p.Vars {
		if v.Kind != queryplan.Input {
			continue
		}
		if rel := cat.Relation(v.Source); rel != nil {
			if typesOf[rel.Table] == nil {
				typesOf[rel.Table] = make([]scalar.Type, len(cat.Tables[rel.Table].Columns))
			}
			for i, c := range rel.Cols {
				typesOf[rel.Table][c] = v.Cols[i].Type
			}
			continue
		}
		if cat != nil {
			facts[v.Source] = planref.Rows{}
			continue
		}
		types := make([]scalar.Type, len(v.Cols))
		for i, c := range v.Cols {
			types[i] = c.Type
		}
		keys := make([]int, v.Keys)
		for i := range keys {
			keys[i] = i
		}
		facts[v.Source] = randomRows(rng, rng.IntN(30), types, keys, nil)
	}
	if cat == nil {
		return facts
	}
	for _, v := range p.Vars {
		rel := cat.Relation(v.Source)
		if v.Kind != queryplan.Input || rel == nil {
			continue
		}
		table := cat.Tables[rel.Table]
		if facts[rel.Table] == nil {
			key := table.Key
			if key == nil {
				key = rel.Cols[:v.Keys]
			}
			facts[rel.Table] = randomRows(rng, int(min(table.Rows, rng.Int64N(30))),
				typesOf[rel.Table], key,
				table.Columns)
			if at := numbering(table); at >= 0 {
				facts[rel.Table] = numberedRows(rng, at, typesOf[rel.Table], table)
			}
		}
		rows := make(planref.Rows, len(facts[rel.Table]))
		for i, row := range facts[rel.Table] {
			for _, c := range rel.Cols {
				rows[i] = append(rows[i], row[c])
			}
		}
		facts[v.Source] = rows
	}
	return facts
}

// randomRows makes at most n rows that are unique in the key columns.
func randomRows(
	rng *rand.Rand, n int, types []scalar.Type, key []int, cols []stats.Column,
) planref.Rows {
	rows := planref.Rows{}
	seen := map[string]bool{}
	for range n {
		row := make([]scalar.Value, len(types))
		for i, t := range types {
			lo, hi := int64(0), int64(5)
			if cols != nil {
				lo, hi = cols[i].Min, cols[i].Max
			}
			// At most 20 values, over the whole range.
			step := max(1, (hi-lo)/20)
			row[i] = randomValue(t, lo+step*rng.Int64N((hi-lo)/step+1))
		}
		text := ""
		for _, k := range key {
			text += scalar.Literal(row[k]) + ","
		}
		if !seen[text] {
			seen[text] = true
			rows = append(rows, row)
		}
	}
	return rows
}

// numbering returns the column that counts the rows of a table, -1 if none
// does.
func numbering(t *stats.Table) int {
	for i := range t.Columns {
		if t.Numbers(i) {
			return i
		}
	}
	return -1
}

// numberedRows makes all rows of a table with a column that counts them.
func numberedRows(rng *rand.Rand, at int, types []scalar.Type, t *stats.Table) planref.Rows {
	var out planref.Rows
	for i := range t.Rows {
		row := randomRows(rng, 1, types, nil, t.Columns)[0]
		row[at] = randomValue(types[at], t.Columns[at].Min+i)
		out = append(out, row)
	}
	return out
}

func randomValue(t scalar.Type, word int64) scalar.Value {
	switch t.Kind {
	case scalar.Boolean:
		return scalar.OfBool(word&1 == 1)
	case scalar.Int, scalar.Uint:
		return scalar.OfInt(t, word)
	case scalar.Float:
		return scalar.OfFloat(t, float64(word)/2)
	case scalar.Decimal:
		return scalar.OfBits(t, uint64(word))
	case scalar.Datetime:
		return scalar.OfDatetime(word)
	case scalar.String:
		return scalar.OfString(string(rune('a' + word%26)))
	}
	return scalar.OfInt(scalar.IntType, word)
}

// parseCatalog reads the lines of a catalog directive.
func parseCatalog(t *testing.T, d *datadriven.TestData) *stats.Catalog {
	if strings.TrimSpace(d.Input) == "" {
		return nil
	}
	cat := &stats.Catalog{Relations: map[string]*stats.Relation{},
		Tables: map[string]*stats.Table{}}
	fail := func(line string) { t.Fatalf("%s: cannot read %q", d.Pos, line) }
	for line := range strings.Lines(d.Input) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		head, tail, ok := strings.Cut(rest, ")")
		name, args, ok2 := strings.Cut(head, "(")
		if !ok || !ok2 {
			fail(line)
		}
		words := strings.Fields(tail)
		rows := int64(0)
		if len(words) >= 2 && words[0] == "rows" {
			rows, _ = strconv.ParseInt(words[1], 10, 64)
		}
		if relation, table, ok := strings.Cut(name, " "); ok {
			r := &stats.Relation{Name: relation, Table: table, Rows: cat.Tables[table].Rows}
			for _, a := range strings.Split(args, ",") {
				n, err := strconv.Atoi(strings.TrimSpace(a))
				if err != nil {
					fail(line)
				}
				r.Cols = append(r.Cols, n)
			}
			cat.Relations[relation] = r
			continue
		}
		table := &stats.Table{Name: name, Rows: rows}
		for i, a := range strings.Split(args, ",") {
			f := strings.Fields(a)
			var c stats.Column
			if kind == "table" {
				if c.Name = strings.TrimSuffix(f[0], "*"); c.Name != f[0] {
					table.Key = append(table.Key, i)
				}
				f = f[1:]
			}
			bounds, days := strings.CutPrefix(f[0], "days:")
			if _, err := fmt.Sscanf(bounds, "%d..%d", &c.Min, &c.Max); err != nil {
				fail(line)
			}
			if days {
				const micros = 86_400_000_000
				c.Min, c.Max = c.Min*micros, c.Max*micros
			}
			switch c.Distinct = min(rows, c.Max-c.Min+1); {
			case len(f) > 1 && f[1] == "numbers":
				c.Ascending = true
			case len(f) > 1:
				var err error
				if c.Distinct, err = strconv.ParseInt(f[1], 10, 64); err != nil {
					fail(line)
				}
				c.Ascending = len(f) > 2 && f[2] == "ascends"
			}
			table.Columns = append(table.Columns, c)
		}
		cat.Tables[name] = table
		if kind == "relation" {
			r := &stats.Relation{Name: name, Table: name, Rows: rows}
			for i := range table.Columns {
				r.Cols = append(r.Cols, i)
			}
			cat.Relations[name] = r
		}
	}
	return cat
}

// TestSequence holds the order of the passes against its reasons, and checks
// that a broken order would be noticed.
func TestSequence(t *testing.T) {
	if err := checkSequence(); err != nil {
		t.Error(err)
	}
	for _, o := range ordering {
		if o.Reason == "" || lookup(o.First) == nil || lookup(o.Then) == nil {
			t.Errorf("ordering of %q before %q: names and a reason are wanted", o.First, o.Then)
		}
	}
	for _, p := range Passes() {
		if p.Reason == "" || p.Unless == "" || p.Before == "" || p.After == "" || p.Source == "" {
			t.Errorf("pass %s is not fully described", p.Name)
		}
	}
}

// TestBrokenPass puts a pass that crashes and one that breaks the plan in the
// table: the error has to name the pass and show what it was given.
func TestBrokenPass(t *testing.T) {
	p, err := queryplan.Parse("test.plan",
		"var a(x: int) input \"a\"\nvar out(x: int) derived output\nblock b0:\n  insert out\n    scan a(x)\n  merge out\n  halt\n")
	if err != nil {
		t.Fatal(err)
	}
	good := pushFilters.run
	defer func() { pushFilters.run = good }()
	for name, run := range map[string]func(*program) error{
		"crashes": func(*program) error { panic("no") },
		"breaks":  func(p *program) error { p.Blocks[0].Term = nil; return nil },
	} {
		pushFilters.run = run
		for _, keep := range []bool{false, true} {
			_, _, err := Run(p, nil, Options{Verify: true, KeepSteps: keep})
			var failed *PassError
			if !errors.As(err, &failed) || failed.Pass != "PushFilters" ||
				!strings.Contains(failed.Plan, "scan a(x)") {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
}

// TestEveryPassIsTested looks for each pass among the expectations of testdata.
func TestEveryPassIsTested(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	for _, p := range Passes() {
		if !strings.Contains(all.String(), "expect="+p.Name+"\n") {
			t.Errorf("no test expects %s", p.Name)
		}
	}
}

func TestUnknownPass(t *testing.T) {
	p := &queryplan.Plan{Blocks: []*queryplan.Block{{Name: "b0", Term: &queryplan.Halt{}}}}
	if _, _, err := Run(p, nil, Options{Disable: []string{"PushFilter"}}); err == nil ||
		!strings.Contains(err.Error(), "PushFilters") {
		t.Errorf("got %v, want the list of passes", err)
	}
}
