package driver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/internal/linediff"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// benchmarkQuery is a query of testdata/tpch or testdata/ssb, what DuckDB
// answers at scale factor 0.01, and the facts of that.
type benchmarkQuery struct {
	name    string
	sources []Source
	want    *suite.Answer
	db      *Database
}

// benchmarkQueries reads the queries of a benchmark, by the folder of testdata
// that has its data, and those over other predicates in folders below it.
func benchmarkQueries(t *testing.T, benchmark string, variants ...string) []*benchmarkQuery {
	t.Helper()
	root := filepath.Join("../../testdata", benchmark)
	data := filepath.Join(root, "sf0.01")
	var out []*benchmarkQuery
	for _, variant := range append([]string{""}, variants...) {
		dir := filepath.Join(root, variant)
		files, err := filepath.Glob(filepath.Join(dir, "q*.logic"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no queries in %s: %v", dir, err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".logic")
			q := &benchmarkQuery{name: filepath.Join(variant, name),
				want: readAnswer(t, filepath.Join(data, name+".tsv"))}
			q.sources, err = ReadSources(filepath.Join(dir, "schema.logic"), file)
			if err != nil {
				t.Fatal(err)
			}
			q.db, err = q.compile(t, Options{}).Load(context.Background(), NewFacts().Dir(data),
				LoadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, q)
		}
	}
	return out
}

// readAnswer reads an answer as redfox writes TSV.
func readAnswer(t *testing.T, file string) *suite.Answer {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	unescape := strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")
	var out suite.Answer
	for line := range strings.Lines(string(text)) {
		var row []string
		for _, field := range strings.Split(strings.TrimSuffix(line, "\n"), "\t") {
			row = append(row, unescape.Replace(field))
		}
		out.Rows = append(out.Rows, row)
	}
	return &out
}

func (q *benchmarkQuery) compile(t *testing.T, opts Options) *Program {
	t.Helper()
	prog, err := Compile(context.Background(), q.sources, opts)
	if err != nil {
		t.Fatalf("%s, %+v: %v", q.name, opts, err)
	}
	return prog
}

// check runs the query and compares the answer with DuckDB's.
func (q *benchmarkQuery) check(t *testing.T, opts Options, run RunOptions) {
	t.Helper()
	q.checkIn(t, nil, opts, run)
}

// checkIn does so in a session, unless that is nil.
func (q *benchmarkQuery) checkIn(t *testing.T, s *Session, opts Options, run RunOptions) {
	t.Helper()
	run.Outputs = []string{"_"}
	prog, ctx := q.compile(t, opts), context.Background()
	var res *Result
	var err error
	if s == nil {
		res, err = prog.RunOn(ctx, q.db, run)
	} else {
		res, err = s.Run(ctx, prog, q.db, run)
	}
	if err == nil && res.Stats.Engine != run.Engine {
		err = fmt.Errorf("it ran on %s", res.Stats.Engine)
	}
	if err == nil {
		err = suite.SameRows(res.Rows("_"), q.want)
	}
	if err != nil {
		t.Errorf("%s, engine %s, %+v: %v", q.name, run.Engine, opts, err)
	}
}

// optionalPasses lists the passes that a query can be compiled without.
func optionalPasses() []string {
	var out []string
	for _, p := range Passes() {
		if !p.Required {
			out = append(out, p.Name)
		}
	}
	return out
}

// runQueries runs queries on the go engine as they are, without each pass of
// the optimiser, and without all of them, and on the cpu engine: as users run
// them, with kernels apart, and without a pass.
func runQueries(t *testing.T, all []*benchmarkQuery) {
	passes := optionalPasses()
	quick := QuickSession(t)
	if testing.Short() {
		t.Log("left out: -short: most queries without a pass of the optimiser and on the cpu engine")
	}
	for i, q := range all {
		t.Run(q.name, func(t *testing.T) {
			t.Parallel()
			q.check(t, Options{}, RunOptions{Engine: "go"})
			q.check(t, Options{}, RunOptions{Engine: "go", Threads: 1})
			for j, pass := range passes {
				if !testing.Short() || (i+j)%8 == 0 {
					q.check(t, Options{Disable: []string{pass}}, RunOptions{Engine: "go"})
				}
			}
			q.check(t, Options{Disable: passes}, RunOptions{Engine: "go"})
			if testing.Short() && i%8 > 0 {
				return
			}
			if quick == nil {
				t.Skip("there is no cpu engine")
			}
			q.check(t, Options{}, RunOptions{Engine: "cpu"})
			q.checkIn(t, quick, Options{NoFuse: true}, RunOptions{Engine: "cpu", Threads: 3})
			q.checkIn(t, quick, Options{Disable: passes[i%len(passes):][:1]},
				RunOptions{Engine: "cpu"})
		})
	}
}

// runQueriesOnGPU runs queries on an emulated GPU with kernels fused, with
// kernels apart, and without a pass of the optimiser.
func runQueriesOnGPU(t *testing.T, all []*benchmarkQuery) {
	passes := optionalPasses()
	for i, q := range all {
		if testing.Short() && i%8 > 0 {
			continue
		}
		t.Run(q.name, func(t *testing.T) {
			q.check(t, Options{}, RunOptions{Engine: "gpu"})
			q.check(t, Options{NoFuse: true}, RunOptions{Engine: "gpu", Resident: true})
			q.check(t, Options{Disable: passes[i%len(passes):][:1]}, RunOptions{Engine: "gpu"})
		})
	}
	if testing.Short() {
		t.Log("left out: -short: seven of eight queries on an emulated GPU")
	}
}

// TestTPCH runs the queries of TPC-H over a hundredth of its smallest data.
func TestTPCH(t *testing.T) { runQueries(t, benchmarkQueries(t, "tpch", "wide", "exists", "in_place")) }

// TestSSB runs those of the Star Schema Benchmark over as small a part.
func TestSSB(t *testing.T) { runQueries(t, benchmarkQueries(t, "ssb")) }

// TestTPCHOnGPU runs the queries of TPC-H on an emulated GPU.
func TestTPCHOnGPU(t *testing.T) {
	emulateGPU(t, emulated.Options{Seed: 7})
	runQueriesOnGPU(t, benchmarkQueries(t, "tpch", "wide", "exists", "in_place"))
}

// TestSSBOnGPU runs those of the Star Schema Benchmark on one.
func TestSSBOnGPU(t *testing.T) {
	emulateGPU(t, emulated.Options{Seed: 13})
	runQueriesOnGPU(t, benchmarkQueries(t, "ssb"))
}

// TestPlansOfSharedFacts plans the queries of each benchmark over the facts of
// all of them and over their own: but for where columns lie, plans and
// estimates have to be equal.
func TestPlansOfSharedFacts(t *testing.T) {
	for _, benchmark := range []string{"tpch", "ssb"} {
		all := benchmarkQueries(t, benchmark)
		var reads []string
		for _, q := range all {
			names, err := q.compile(t, Options{}).Reads()
			if err != nil {
				t.Fatal(err)
			}
			reads = append(reads, names...)
		}
		data := filepath.Join("../../testdata", benchmark, "sf0.01")
		shared, err := all[0].compile(t, Options{}).Load(context.Background(), NewFacts().Dir(data),
			LoadOptions{Predicates: reads})
		if err != nil {
			t.Fatal(err)
		}
		places := regexp.MustCompile(` stored \[[0-9, ]*\]`)
		for _, q := range short.Part(t, all, "queries") {
			prog := q.compile(t, Options{})
			explain := func(db *Database) string {
				plan, err := prog.optimise(prog.wantedByDefault(), db)
				if err != nil {
					t.Fatal(err)
				}
				return places.ReplaceAllString(plan.Tree(estimates(plan, db)), "")
			}
			if own, together := explain(q.db), explain(shared); own != together {
				t.Errorf("%s %s: the plan depends on what else is loaded:\n%s", benchmark, q.name,
					linediff.Diff(own, together))
			}
		}
	}
}
