package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/internal/driver"
	tests "github.com/redfoxdb/redfox/internal/short"
)

// benched runs redfox bench in the root of the tree and returns what it leaves,
// standard output without what differs from run to run and machine to machine.
func benched(t *testing.T, args ...string) outcome {
	t.Helper()
	o := finish(t, redfoxProcess(t, "../..", append([]string{"bench"}, args...)...))
	for _, mask := range []struct{ pattern, with string }{
		{`\d[\d.]* (s|ms|µs)\b`, "T"},
		{`\d+ %`, "P"},
		{`(?m)^redfox .*$`, "MACHINE"},
		{`[─]+`, "─"},
		{` +`, " "},
	} {
		o.stdout = regexp.MustCompile(mask.pattern).ReplaceAllString(o.stdout, mask.with)
	}
	return o
}

const smallTPCH = "testdata/tpch/sf0.01"

func TestBenchTable(t *testing.T) {
	dir := t.TempDir()
	o := benched(t, "tpch", "--data", smallTPCH, "--engine", "go", "--threads", "2", "--queries",
		"q01,6", "--runs", "3", "--out", dir)
	const want = `┌─┐
│ TPC-H, scale factor 0.01, engine go, 2 threads │
├─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─┤
│ query │ rows │ load │ cold │ compile │ cached │ hot │ from │ to │ MB │ floor │
├─┼─┼─┼─┼─┼─┼─┼─┼─┼─┼─┤
│ q01 │ 4 │ T │ T │ T │ │ T │ T │ T │ 0.6619 │ P │
│ q06 │ 1 │ T │ T │ T │ │ T │ T │ T │ 0.4814 │ P │
├─┼─┼─┼─┼─┼─┼─┼─┼─┼─┼─┤
│ sum │ │ │ │ │ │ T │ │ │ │ │
│ mean │ │ │ │ │ │ T │ │ │ │ │
└─┴─┴─┴─┴─┴─┴─┴─┴─┴─┴─┘
MACHINE
`
	if o.code != 0 || o.stdout != want || o.stderr != "" {
		t.Errorf("got\n%v\nwant\n%s", o, want)
	}
	if files := list(t,
		dir); files != "tpch-sf0.01-go.json\ntpch-sf0.01-go.md\ntpch-sf0.01-go.svg\n" {
		t.Errorf("there are files:\n%s", files)
	}
	r := readReport(t, filepath.Join(dir, "tpch-sf0.01-go.json"))
	if r.Suite != "tpch" || r.Scale != 0.01 || r.Engine != "go" || r.Threads != 2 ||
		r.Rows["lineitem"] != 60175 || r.Bandwidth <= 0 ||
		r.Sum <= 0 || r.Mean <= 0 || r.SharedFacts || r.Machine.Cores == 0 || r.Redfox == "" ||
		r.Date == "" {
		t.Errorf("the report is %+v", r)
	}
	for _, m := range r.Queries {
		if m.Engine != "go" || len(m.Hot.Runs) != 3 || m.Hot.Median < m.Hot.Least ||
			m.Hot.Median > m.Hot.Most || m.Cold <= 0 || m.Load <= 0 ||
			m.Bytes <= 0 || m.Floor <= 0 || m.PeakHost <= 0 || m.Compile.Cold.FrontEnd <= 0 ||
			m.Compile.Cold.Plan <= 0 || m.Checked != "" || m.Failure != "" {
			t.Errorf("%s: %+v", m.Query, m)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "tpch-sf0.01-go.md"))
	if err != nil || !strings.Contains(string(page), "\n| q01 | 4 | ") ||
		strings.Contains(string(page), "│") {
		t.Errorf("the page is %s, %v", page, err)
	}
	chart, err := os.ReadFile(filepath.Join(dir, "tpch-sf0.01-go.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(string(chart))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func readReport(t *testing.T, file string) *measure.Report {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r measure.Report
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// TestBenchNative measures a query on the cpu engine, which compiles, over
// facts that are shared.
func TestBenchNative(t *testing.T) {
	dir := t.TempDir()
	o := finish(t,
		withLLVM(t,
			redfoxProcess(t, "../..", "bench", "tpch", "--data", smallTPCH, "--engine", "cpu",
				"--queries", "q06", "--runs", "2", "--shared-facts", "--out", dir)))
	if o.code != 0 || o.stderr != "" {
		t.Fatalf("%v", o)
	}
	r := readReport(t, filepath.Join(dir, "tpch-sf0.01-cpu.json"))
	m := r.Queries[0]
	if r.Load <= 0 || m.Load != 0 || m.Engine != "cpu" || m.Compile.Cold.Code <= 0 ||
		len(m.Kernels) == 0 || m.Kernels[0].Rows == 0 {
		t.Errorf("%+v\n%+v", r, m)
	}
	// The first compilation has left its code on disk.
	if m.Compile.Cached.Total() <= 0 || m.Compile.Cached.Code > m.Compile.Cold.Code {
		t.Errorf("compiled in %+v, with a cache in %+v", m.Compile.Cold, m.Compile.Cached)
	}
}

// withDuckDB names a Python that has the module duckdb, or skips the test.
func withDuckDB(t *testing.T) string {
	t.Helper()
	var none *driver.EnvironmentError
	for _, python := range []string{os.Getenv("REDFOX_PYTHON"), "../../bench/data/venv/bin/python",
		"python3"} {
		if python == "" {
			continue
		}
		d, err := suite.StartDuckDB(t.Context(), python, 1)
		if err == nil {
			err = d.Close()
		} else if errors.As(err, &none) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if python, err = filepath.Abs(python); err != nil || filepath.Base(python) == "python3" {
			return "python3"
		}
		return python
	}
	t.Skip(none)
	return ""
}

// TestBenchAgainstDuckDB compares answers: those of the suite's own queries are
// equal, and of a query that asks for something else the place of the
// difference is told.
func TestBenchAgainstDuckDB(t *testing.T) {
	tests.Skip(t, "DuckDB runs nothing")
	python := withDuckDB(t)
	o := benched(t, "ssb", "--data", "testdata/ssb/sf0.01", "--engine", "go", "--queries",
		"q11,q31", "--runs", "2", "--against", "duckdb", "--python", python)
	if o.code != 0 || o.stderr != "" ||
		!strings.Contains(o.stdout, "\n2 answers equal to DuckDB's\n") ||
		!strings.Contains(o.stdout, "│ DuckDB │ ratio │") {
		t.Errorf("%v", o)
	}
	o = benched(t, "ssb", "--data", "testdata/ssb/sf0.01", "--engine", "go", "--queries", "q11",
		"--runs", "2", "--against", "duckdb-files", "--python", python)
	if o.code != 0 || !strings.Contains(o.stdout, "\n1 answer equal to DuckDB's\n") ||
		!strings.Contains(o.stdout, "a run of each query, from the files") {
		t.Errorf("%v", o)
	}
	dir := t.TempDir()
	write(t, dir, "schema.logic",
		"nation:name[n_nationkey] = n_name -> int(n_nationkey), string(n_name).\n")
	const answer = "_(k, n) <- nation:name[k] = n.\n\nlang:output:orderBy[`_] = \"k\".\n"
	for name, text := range map[string]string{"q01.logic": answer, "q02.logic": answer,
		"q03.logic": answer} {
		write(t, dir, name, text)
	}
	if err := os.Mkdir(filepath.Join(dir, "sql"), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "sql/q01.sql", "select n_nationkey, n_name from nation order by 1;\n")
	write(t, dir, "sql/q02.sql",
		"select n_nationkey, if(n_nationkey = 3, 'Canada', n_name) as name from nation order by 1;\n")
	o = benched(t, "tpch", "--data", smallTPCH, "--engine", "go", "--queries-from", dir,
		"--queries", "q01,q02", "--runs", "1", "--against", "duckdb", "--python", python)
	if o.code != exitProgram ||
		o.stderr != "redfox: error: q02: wrong answer: row 4, column 2 (name): CANADA, and the peer has Canada\n" ||
		!strings.Contains(o.stdout, "│ q02 │ failed │") ||
		!strings.Contains(o.stdout, "\n1 answer equal to DuckDB's\n") {
		t.Errorf("%v", o)
	}
	o = benched(t, "tpch", "--data", smallTPCH, "--queries-from", dir, "--against", "duckdb",
		"--python", python)
	if o.code != exitEnvironment || !strings.Contains(o.stderr, "there is no SQL for q03") {
		t.Errorf("without SQL: %v", o)
	}
}

// TestBenchAgainstPublished puts published figures beside a report of their
// scale factor: those of each query, and sums where there is nothing else.
func TestBenchAgainstPublished(t *testing.T) {
	s, _ := suite.Find("tpch")
	all, err := s.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	con := &console{out: bufio.NewWriter(&out)}
	b := &bench{con: con, Runner: measure.Runner{Suite: s, All: all, Queries: all,
		Against: []string{measure.Published}, Report: measure.Report{Suite: "tpch",
			Scale: 100, Engine: "gpu", Threads: 16, Bandwidth: 4.8e12}}}
	for _, q := range all {
		m := &measure.Measurement{Query: q.Name, Hot: measure.Times{Median: 0.01}, Bytes: 1e9}
		if err := b.AddPublished(m); err != nil {
			t.Fatal(err)
		}
		b.Report.Queries = append(b.Report.Queries, m)
	}
	b.Report.Finish()
	b.print()
	con.out.Flush()
	text := regexp.MustCompile(` +`).ReplaceAllString(out.String(), " ")
	for _, want := range []string{
		"│ query │ rows │ load │ cold │ compile │ cached │ hot │ from │ to │ MB │ floor │ Sirius, GH200 │ ratio │ Sirius 2026-09 │ ratio │ TQP++, H100 │ ratio │",
		"│ 87 ms │ 8.70 │ 89.4 ms │ 8.94 │ │ │\n",
		"│ sum │ │ │ │ │ │ 220 ms │ │ │ │ │ 1.43 s │ 6.49 │ 948 ms │ 4.31 │ 700 ms │ 3.18 │\n",
		"\nTQP++, H100: TQP++, abstract", "│ 2 % │",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
	b.Queries = all[:3]
	b.Report.Peers = nil
	if err := b.AddPublished(b.Report.Queries[0]); err != nil || b.Report.Peers[2].Sum != 0 {
		t.Errorf("of three queries: %v, %+v", err, b.Report.Peers)
	}
}

// TestBenchPasses leaves out one pass after the other.
func TestBenchPasses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	o := benched(t, "tpch", "--data", smallTPCH, "--engine", "go", "--queries", "q01,q06", "--runs",
		"1", "--each-pass-off", "--out", dir)
	if o.code != 0 || o.stderr != "" {
		t.Fatalf("%v", o)
	}
	text, err := os.ReadFile(filepath.Join(dir, "tpch-sf0.01-go-passes.md"))
	if err != nil {
		t.Fatal(err)
	}
	table, rest, _ := strings.Cut(string(text), "\n\n")
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if len(lines) < 5 || !strings.HasPrefix(rest, "No plan of these queries changes without ") ||
		!strings.HasPrefix(lines[0], "| left out | queries that change | sum |") {
		t.Errorf("the table is\n%s", text)
	}
	changed := 0
	for _, line := range lines[2:] {
		if cells := strings.Split(line, " | "); len(cells) < 6 {
			t.Errorf("cells of %s", line)
		} else if cells[1] != "0" {
			changed++
		}
	}
	if changed < 3 || !strings.Contains(string(text), "| MergeAggregates | 1 |") {
		t.Errorf("%d passes change something:\n%s", changed, text)
	}
}

// TestBenchPassOff leaves out one step and an unknown one.
func TestBenchPassOff(t *testing.T) {
	o := benched(t, "tpch", "--data", smallTPCH, "--engine", "go", "--queries", "q06", "--runs", "1",
		"--pass-off", "JoinByBits")
	if o.code != 0 || !strings.Contains(o.stdout, "| query | with JoinByBits | without | ratio |\n") ||
		!strings.Contains(o.stdout, "\n| q06 | ") {
		t.Errorf("%v", o)
	}
	o = benched(t, "tpch", "--data", smallTPCH, "--engine", "go", "--queries", "q06", "--pass-off",
		"PackColumn")
	if o.code == 0 || !strings.Contains(o.stderr, "PackColumns") {
		t.Errorf("%v", o)
	}
}

// TestBenchStopped holds that what was measured before a stop is reported, and
// in files.
func TestBenchStopped(t *testing.T) {
	s, _ := suite.Find("tpch")
	const declared = "nation:name[n_nationkey] = n_name -> int(n_nationkey), string(n_name).\n"
	query := func(name, text string) suite.Query {
		return suite.Query{Name: name,
			Program: []suite.File{{Name: name + ".logic", Text: declared + text}}}
	}
	all := []suite.Query{query("q01", "_(n) <- nation:name[_] = n.\n"),
		query("q02",
			"n(x) <- nation:name[x] = _.\nn(y) <- n(x), x < 2000000000, y = x + 1.\n_(x) <- n(x).\n"), query("q03", "_(n) <- nation:name[_] = n.\n")}
	var out bytes.Buffer
	con := &console{out: bufio.NewWriter(&out), err: io.Discard}
	ctx, cancel := context.WithCancelCause(t.Context())
	dir := t.TempDir()
	b := &bench{con: con, out: dir, progress: newProgress(con),
		Runner: measure.Runner{Suite: s, All: all, Queries: all, Runs: 1,
			Dir: filepath.FromSlash("../../" + smallTPCH),
			Run: driver.RunOptions{Engine: "go", Threads: 1, Outputs: []string{"_"},
				Progress: func(p driver.RunProgress) {
					if p.Iteration > 10 {
						cancel(errInterrupted)
					}
				}}}}
	if err := b.do(ctx); !errors.Is(err, errInterrupted) {
		t.Fatal(err)
	}
	con.out.Flush()
	if text := out.String(); !strings.Contains(text, "│ q01   │     25 │") ||
		!strings.Contains(text, "│ q02   │ failed │") || strings.Contains(text, "q03") {
		t.Errorf("printed\n%s", text)
	}
	r := readReport(t, filepath.Join(dir, "tpch-sf0-go.json"))
	if len(r.Queries) != 2 || r.Queries[0].Hot.Median <= 0 ||
		r.Queries[1].Failure != "interrupted" || r.Sum != 0 {
		t.Errorf("%+v", r)
	}
}

// TestBenchMistakes holds what is said of command lines and machines that
// cannot be.
func TestBenchMistakes(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	for _, tt := range []struct {
		line string
		want []string
	}{
		{"", []string{"no suite is named", "redfox bench list"}},
		{"tpcd", []string{`there is no suite "tpcd"; did you mean tpch?`}},
		{"tpch ssb", []string{"bench takes one suite"}},
		{"tpch --queries q23", []string{"tpch has no query q23"}},
		{"tpch --runs 0", []string{"--runs 0 is less than 1"}},
		{"tpch --sf 0", []string{"--sf 0 is not more than 0"}},
		{"tpch --sf 3 --queries q06",
			[]string{"tpch/sf3 lacks lineitem.parquet; make the data with: tpchgen-cli parquet -s 3 --output-dir tpch/sf3"}},
		{"ssb --data " + none,
			[]string{"none lacks customer.parquet, date.parquet,",
				"redfox bench ssb --sf 1 --data"}},
		{"tpch --generate --data " + none,
			[]string{"redfox does not make the data of TPC-H; make them with: tpchgen-cli"}},
		{"tpch --data " + smallTPCH + " --sf 1 --queries q06 --runs 1",
			[]string{"has 60175 rows of lineitem; at scale factor 1 there are 6001215"}},
		{"tpch --data " + smallTPCH + " --queries q06 --runs 1 --against published",
			[]string{"no published figures here for TPC-H at scale factor 0.01; there are some for 10, 100"}},
		{"tpch --data " + smallTPCH + " --against postgres",
			[]string{"--against postgres is not known"}},
		{"tpch --data " + smallTPCH + " --against duckdb --python " + none,
			[]string{"the peer needs Python with the module duckdb", "pip install duckdb"}},
		{"tpch --data " + smallTPCH + " --engine cpu", []string{"engine cpu is not available"}},
		{"tpch --data " + smallTPCH + " --engine gpu", []string{"engine gpu is not available"}},
		{"tpch --data " + smallTPCH + " --engine tpu", []string{`no engine is called "tpu"`}},
		{"tpch --data " + smallTPCH + " --against duckdb,duckdb-files",
			[]string{"--against names DuckDB twice"}},
		{"tpch --data " + smallTPCH + " --each-pass-off --against duckdb",
			[]string{"--each-pass-off, --pass-off and --fresh compare redfox with itself"}},
		{"tpch --queries-from " + filepath.Dir(none), []string{"has no queries"}},
	} {
		o := benched(t, strings.Fields(tt.line)...)
		if o.code != exitEnvironment || o.stdout != "" {
			t.Errorf("bench %s: %v", tt.line, o)
		}
		for _, want := range tt.want {
			if !strings.Contains(o.stderr, want) {
				t.Errorf("bench %s: %q is not in %q", tt.line, want, o.stderr)
			}
		}
	}
}

// TestBenchList holds that the binary has the queries.
func TestBenchList(t *testing.T) {
	o := finish(t, redfoxProcess(t, t.TempDir(), "bench", "list"))
	for _, want := range []string{"tpch  TPC-H\n    q01 q02 ", " q22\n",
		"ssb  Star Schema Benchmark\n    q11 q12 ", " q43\n"} {
		if o.code != 0 || !strings.Contains(o.stdout, want) {
			t.Errorf("%q is not in %v", want, o)
		}
	}
}

// TestBenchGenerates makes the data of the Star Schema Benchmark where there
// are none.
func TestBenchGenerates(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ssb")
	o := benched(t, "ssb", "--sf", "0.002", "--data", dir, "--generate", "--engine", "go",
		"--queries", "q11", "--runs", "1")
	if o.code != 0 || !strings.Contains(o.stdout, "scale factor 0.002") {
		t.Errorf("%v", o)
	}
	if files := list(t, dir); !strings.Contains(files, "lineorder.parquet\n") {
		t.Errorf("there are files:\n%s", files)
	}
}
