package redfox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/suite"
	emulator "github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// tpchQuery is a query of testdata/tpch, what DuckDB answers at scale factor 0.01, and
// the facts of that.
type tpchQuery struct {
	name    string
	sources []Source
	want    *suite.Answer
	db      *Database
}

// tpchQueries reads the queries over functional predicates, one for each column, and
// those over wide ones.
func tpchQueries(t *testing.T) []*tpchQuery {
	t.Helper()
	var out []*tpchQuery
	for _, dir := range []string{"testdata/tpch", "testdata/tpch/wide"} {
		files, err := filepath.Glob(filepath.Join(dir, "q*.logic"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no queries in %s: %v", dir, err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".logic")
			q := &tpchQuery{name: name, want: readAnswer(t, filepath.Join("testdata/tpch/sf0.01", name+".tsv"))}
			if dir != "testdata/tpch" {
				q.name = filepath.Base(dir) + "/" + name
			}
			q.sources, err = ReadSources(filepath.Join(dir, "schema.logic"), file)
			if err != nil {
				t.Fatal(err)
			}
			q.db, err = q.compile(t, Options{}).Load(context.Background(), NewFacts().Dir("testdata/tpch/sf0.01"), LoadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, q)
		}
	}
	return out
}

// readAnswer reads what bench/small_data.py writes.
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

func (q *tpchQuery) compile(t *testing.T, opts Options) *Program {
	t.Helper()
	prog, err := Compile(context.Background(), q.sources, opts)
	if err != nil {
		t.Fatalf("%s, %+v: %v", q.name, opts, err)
	}
	return prog
}

// check runs the query and compares the answer with DuckDB's.
func (q *tpchQuery) check(t *testing.T, opts Options, run RunOptions) {
	t.Helper()
	run.Outputs = []string{"_"}
	res, err := q.compile(t, opts).RunOn(context.Background(), q.db, run)
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

// TestTPCH runs the queries of TPC-H over a hundredth of its smallest data. Each runs
// on the go engine as it is, without each pass of the optimiser and without all of
// them, and on the cpu engine with kernels fused and apart.
func TestTPCH(t *testing.T) {
	passes := optionalPasses()
	_, _, noCPU := ChooseEngine("cpu")
	for i, q := range tpchQueries(t) {
		t.Run(q.name, func(t *testing.T) {
			t.Parallel()
			q.check(t, Options{}, RunOptions{Engine: "go"})
			q.check(t, Options{}, RunOptions{Engine: "go", Threads: 1})
			for _, pass := range passes {
				q.check(t, Options{Disable: []string{pass}}, RunOptions{Engine: "go"})
			}
			q.check(t, Options{Disable: passes}, RunOptions{Engine: "go"})
			if noCPU != nil {
				t.Skip(noCPU)
			}
			q.check(t, Options{}, RunOptions{Engine: "cpu"})
			q.check(t, Options{NoFuse: true}, RunOptions{Engine: "cpu", Threads: 3})
			q.check(t, Options{Disable: passes[i%len(passes) : i%len(passes)+1]}, RunOptions{Engine: "cpu"})
		})
	}
}

// TestTPCHOnGPU runs the queries of TPC-H on an emulated GPU: each with kernels fused,
// and some with kernels apart or without a pass of the optimiser.
func TestTPCHOnGPU(t *testing.T) {
	emulateGPU(t, emulator.Options{Seed: 7})
	passes := optionalPasses()
	for i, q := range tpchQueries(t) {
		t.Run(q.name, func(t *testing.T) {
			q.check(t, Options{}, RunOptions{Engine: "gpu"})
			if os.Getenv("CI") != "" || i%5 == 0 {
				q.check(t, Options{NoFuse: true}, RunOptions{Engine: "gpu", Resident: true})
			}
			if os.Getenv("CI") != "" || i%5 == 3 {
				q.check(t, Options{Disable: passes[i%len(passes) : i%len(passes)+1]}, RunOptions{Engine: "gpu"})
			}
		})
	}
}
