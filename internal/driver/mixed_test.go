package driver

import (
	"context"
	"fmt"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/internal/reference/randprog"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
	"github.com/redfoxdb/redfox/runtime/mixed"
)

// onMixed gives the test an emulated GPU, and the mixed engine thresholds with
// which the GPU takes what it holds, in segments of few rows, and at most so
// many of each table.
func onMixed(t *testing.T, segment, most int) {
	emulateGPU(t, emulated.Options{Seed: 9})
	process.Mixed = &mixed.Sizes{Segment: segment, Segments: 16, Runs: 5, Always: true,
		Most: most}
}

// sharedFacts loads what any of the queries of a benchmark reads.
func sharedFacts(t *testing.T, benchmark string, queries []*benchmarkQuery) *Database {
	t.Helper()
	var reads []string
	for _, q := range queries {
		preds, err := q.compile(t, Options{}).Reads()
		if err != nil {
			t.Fatal(err)
		}
		reads = append(reads, preds...)
	}
	db, err := queries[0].compile(t, Options{}).Load(context.Background(),
		NewFacts().Dir(filepath.Join("../../testdata", benchmark, "sf0.01")),
		LoadOptions{Predicates: reads})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// TestMixedBenchmarks runs the queries of both benchmarks on the mixed engine,
// over devices that hold none, some and all of the columns, and over one that
// takes half of the rows.
func TestMixedBenchmarks(t *testing.T) {
	onMixed(t, 256, 0)
	for _, name := range []string{"ssb", "tpch"} {
		queries := benchmarkQueries(t, name)
		queries = short.Part(t, queries, "queries")
		db := sharedFacts(t, name, queries)
		divided, whole := 0, 0
		for _, memory := range []int64{64 << 10, 3 << 19, 3 << 20, 256 << 20, 128 << 20} {
			partial := 0
			if process.Mixed.Most = 0; memory == 128<<20 {
				process.Mixed.Most = 8
			}
			for run := range 2 {
				for _, q := range queries {
					res, err := q.compile(t, Options{}).RunOn(context.Background(), db, RunOptions{
						Engine: EngineMixed, DeviceMemory: memory, Outputs: []string{"_"}})
					if err != nil {
						t.Fatalf("%s in %d bytes: %v", q.name, memory, err)
					}
					if err := suite.SameRows(res.Rows("_"), q.want); err != nil {
						t.Errorf("%s in %d bytes, run %d: %v", q.name, memory, run, err)
					}
					for _, s := range res.Stats.Segments {
						switch {
						case s.Of != "":
							divided++
						case s.Engine == EngineGPU:
							whole++
						}
					}
					c := res.Stats.Cache
					if c.Bytes > c.Budget || c.Budget != memory/2 {
						t.Errorf("%s: the cache has %d of %d bytes", q.name, c.Bytes, c.Budget)
					}
					for _, x := range c.Columns {
						if x.Rows < x.All {
							partial++
						}
					}
				}
			}
			t.Logf("%s in %d bytes: %d parts of rows, %d steps on the GPU, %d columns in part", name,
				memory, divided, whole, partial)
		}
		if divided == 0 || whole == 0 {
			t.Errorf("%s: %d parts, %d steps on the GPU", name, divided, whole)
		}
	}
}

// TestProgramsMixed runs the programs of testdata on the mixed engine, twice
// over the same facts.
func TestProgramsMixed(t *testing.T) {
	onMixed(t, 1, 1)
	dirs, err := filepath.Glob("../../testdata/programs/*/program.logic")
	if err != nil {
		t.Fatal(err)
	}
	divided := 0
	for i, file := range dirs {
		// Friends have relations beside a sum that are made of others.
		name := filepath.Base(filepath.Dir(file))
		if !short.Every() && i%4 > 0 && name != "cycles-in-a-network-of-friends" {
			continue
		}
		sources, err := ReadSources(file)
		if err != nil {
			t.Fatal(err)
		}
		prog, err := Compile(context.Background(), sources, Options{})
		if err != nil {
			t.Fatal(err)
		}
		facts := FactsIn(filepath.Join(filepath.Dir(file), "facts"))
		divided += runsByRows(t, name, EngineMixed, prog, facts)
	}
	t.Logf("%d parts of rows", divided)
	if divided == 0 {
		t.Error("no step was divided")
	}
}

// TestMixedRandomPrograms runs random programs on the mixed engine.
func TestMixedRandomPrograms(t *testing.T) {
	onMixed(t, 1, 1)
	randomByRows(t, EngineMixed, 6_600_360)
}

// randomByRows runs random programs from a seed on on an engine that divides
// some of their steps by rows.
func randomByRows(t *testing.T, engine string, first uint64) {
	t.Helper()
	count, divided := short.Count(t, 40, "random programs"), 0
	for seed := range count {
		random := randprog.New(first + seed)
		dir := t.TempDir()
		if err := random.Write(dir); err != nil {
			t.Fatal(err)
		}
		prog := compileText(t, random.Text(), Options{})
		divided += runsByRows(t, fmt.Sprintf("seed %d", seed), engine, prog,
			FactsIn(filepath.Join(dir, "facts")))
	}
	t.Logf("%d parts of rows", divided)
	if divided == 0 {
		t.Error("no step was divided")
	}
}

// TestStarMixed runs star programs on the mixed engine.
func TestStarMixed(t *testing.T) {
	onMixed(t, 1, 1)
	starOnEngine(t, EngineMixed, *starGPU, goruntime.NumCPU())
}

// TestMixedTransactions runs the folders of transactions in a session of the
// mixed engine.
func TestMixedTransactions(t *testing.T) {
	onMixed(t, 1, 1)
	dirs, err := filepath.Glob("../../testdata/transactions/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no folders: %v", err)
	}
	s, err := OpenSession(SessionOptions{Engine: EngineMixed})
	if err != nil {
		t.Fatal(err)
	}
	s.SetMixed(*process.Mixed)
	for _, dir := range short.Part(t, dirs, "folders") {
		runTransactions(t, s, dir)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// runsByRows runs a program on the go engine, and then on another one with code
// that is new and with code that is there. It returns the number of segments
// over rows of a table.
func runsByRows(t *testing.T, name, engine string, prog *Program, facts *Facts) (divided int) {
	t.Helper()
	ctx := context.Background()
	db, err := prog.Load(ctx, facts, LoadOptions{})
	if err != nil {
		return 0 // its facts are wrong
	}
	want, failure := prog.RunOn(ctx, db, RunOptions{Engine: EngineGo})
	for range 2 {
		got, err := prog.RunOn(ctx, db, RunOptions{Engine: engine})
		if fmt.Sprint(err) != fmt.Sprint(failure) {
			t.Errorf("%s: the error is %v, not %v", name, err, failure)
		}
		if err != nil || failure != nil {
			continue
		}
		if a, b := resultText(t, got), resultText(t, want); a != b {
			t.Errorf("%s: got\n%.2000s\nwant\n%.2000s", name, a, b)
		}
		for _, s := range got.Stats.Segments {
			if s.Of != "" {
				divided++
			}
		}
	}
	return divided
}

// TestMixedExplain holds what explain says of a plan on the mixed engine, and
// what a run says of its parts.
func TestMixedExplain(t *testing.T) {
	onMixed(t, 100, 2)
	ctx := context.Background()
	prog := compileText(t, `
paid[who, day] = much -> int(who), int(day), int(much).
city[who] = c -> int(who), string(c).
knows(x, y) -> int(x), int(y).
spent[c] = s <- agg<<s = total(m)>> city[who] = c, paid[who, _] = m.
mean[who] = m <- agg<<m = avg(y)>> paid[who, _] = x, y = int:float:convert[x].
reach(x, y) <- knows(x, y).
reach(x, z) <- reach(x, y), knows(y, z).
`, Options{})
	var paid, city, knows [][]any
	for i := range 1000 {
		paid = append(paid, []any{i % 90, i, i})
		if i < 90 {
			city = append(city, []any{i, fmt.Sprint("city ", i%7)})
			knows = append(knows, []any{i, i + 1})
		}
	}
	db, err := prog.Load(ctx, NewFacts().Rows("paid", paid...).Rows("city", city...).
		Rows("knows", knows...), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	opts := ExplainOptions{RunOptions: RunOptions{Engine: EngineMixed}}
	if err := prog.Explain(ctx, &out, db, opts); err != nil {
		t.Fatal(err)
	}
	_, said, _ := strings.Cut(out.String(), "== rows that a GPU and the host share\n")
	for _, want := range []string{"spent: by rows of paid\n",
		"mean: as a whole, as mean is no sum over the rows of paid\n",
		"reach: as a whole, as it has a loop\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("explain lacks %q:\n%s", want, said)
		}
	}
	want, err := prog.RunOn(ctx, db, RunOptions{Engine: EngineGo})
	if err != nil {
		t.Fatal(err)
	}
	res, err := prog.RunOn(ctx, db, RunOptions{Engine: EngineMixed})
	if err != nil {
		t.Fatal(err)
	}
	if got := resultText(t, res); got != resultText(t, want) {
		t.Errorf("got\n%s", got)
	}
	var ran []string
	for _, s := range res.Stats.Segments {
		if s.Of != "" {
			ran = append(ran, fmt.Sprintf("%s: rows %d to %d of %s for %s", s.Engine, s.From, s.Until,
				s.Of, strings.Join(s.Fills, ", ")))
		}
	}
	if got := strings.Join(ran, "; "); got !=
		"gpu: rows 0 to 200 of paid for spent; cpu: rows 200 to 1000 of paid for spent" {
		t.Errorf("parts of rows: %s", got)
	}
	if c := res.Stats.Cache; len(c.Columns) == 0 || c.Bytes == 0 {
		t.Errorf("the cache holds %+v", c)
	}
}
