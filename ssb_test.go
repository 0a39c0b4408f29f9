package redfox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	emulator "github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// ssbQuery is a query of the Star Schema Benchmark, facts of scale factor 0.01, and what
// DuckDB answers, as redfox writes TSV.
type ssbQuery struct {
	name    string
	sources []Source
	db      *Database
	want    string
}

func ssbQueries(t *testing.T) []*ssbQuery {
	t.Helper()
	files, err := filepath.Glob("testdata/ssb/q*.logic")
	if err != nil || len(files) != 13 {
		t.Fatalf("%d queries: %v", len(files), err)
	}
	var out []*ssbQuery
	for _, file := range files {
		q := &ssbQuery{name: strings.TrimSuffix(filepath.Base(file), ".logic")}
		if q.sources, err = ReadSources("testdata/ssb/schema.logic", file); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join("testdata/ssb/sf0.01", q.name+".tsv"))
		if err != nil || len(text) == 0 {
			t.Fatalf("%s: no answer: %v", q.name, err)
		}
		q.want = string(text)
		q.db, err = q.compile(t, Options{}).Load(context.Background(), NewFacts().Dir("testdata/ssb/sf0.01"), LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, q)
	}
	return out
}

func (q *ssbQuery) compile(t *testing.T, opts Options) *Program {
	t.Helper()
	prog, err := Compile(context.Background(), q.sources, opts)
	if err != nil {
		t.Fatalf("%s, %+v: %v", q.name, opts, err)
	}
	return prog
}

// check runs the query and compares the answer with DuckDB's, to the byte.
func (q *ssbQuery) check(t *testing.T, opts Options, run RunOptions) {
	t.Helper()
	run.Outputs = []string{"_"}
	res, err := q.compile(t, opts).RunOn(context.Background(), q.db, run)
	if err == nil && res.Stats.Engine != run.Engine {
		err = fmt.Errorf("it ran on %s", res.Stats.Engine)
	}
	var got bytes.Buffer
	if err == nil {
		err = res.Write(&got, "_", TSV, WriteOptions{})
	}
	if err == nil && got.String() != q.want {
		err = fmt.Errorf("the answer is\n%s\nand DuckDB's\n%s", got.String(), q.want)
	}
	if err != nil {
		t.Errorf("%s, engine %s, %+v: %v", q.name, run.Engine, opts, err)
	}
}

// TestSSB runs the queries of the Star Schema Benchmark on the go engine as they are,
// without each pass of the optimiser and without all of them, and on the cpu engine with
// kernels fused and apart.
func TestSSB(t *testing.T) {
	var passes []string
	for _, p := range Passes() {
		if !p.Required {
			passes = append(passes, p.Name)
		}
	}
	_, _, noCPU := ChooseEngine("cpu")
	for i, q := range ssbQueries(t) {
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
			q.check(t, Options{Disable: passes[i%len(passes):][:1]}, RunOptions{Engine: "cpu"})
		})
	}
}

// TestSSBOnGPU runs them on an emulated GPU, some with kernels apart as well.
func TestSSBOnGPU(t *testing.T) {
	emulateGPU(t, emulator.Options{Seed: 13})
	for i, q := range ssbQueries(t) {
		t.Run(q.name, func(t *testing.T) {
			q.check(t, Options{}, RunOptions{Engine: "gpu"})
			if os.Getenv("CI") != "" || i%4 == 1 {
				q.check(t, Options{NoFuse: true}, RunOptions{Engine: "gpu", Resident: true})
			}
		})
	}
}
