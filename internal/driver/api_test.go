package driver_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/scalar"
)

const reach = `
edge(x, y) -> string(x), string(y).
reach(x, y) <- edge(x, y).
reach(x, z) <- reach(x, y), edge(y, z).
_(y) <- reach("ann", y).
`

func compile(t *testing.T, text string, opts driver.Options) *driver.Program {
	t.Helper()
	prog, err := driver.Compile(context.Background(), []driver.Source{driver.Text("p.logic", text)},
		opts)
	if err != nil {
		t.Fatal(err)
	}
	return prog
}

func rows(res *driver.Result, pred string) [][]any { return slices.Collect(res.Rows(pred)) }

// TestWrongCalls holds the wording of mistakes that callers make.
func TestWrongCalls(t *testing.T) {
	ctx := context.Background()
	prog := compile(t, "edge(x, y) -> int(x), int(y).\nreach(x, y) <- edge(x, y).\n",
		driver.Options{})
	run := func(f *driver.Facts, o driver.RunOptions) error {
		_, err := prog.Run(ctx, f, o)
		return err
	}
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"unknown predicate",
			run(driver.NewFacts().Rows("edges", []any{1, 2}), driver.RunOptions{}),
			"the program has no predicate edges; did you mean edge?"},
		{"derived predicate",
			run(driver.NewFacts().Rows("reach", []any{1, 2}), driver.RunOptions{}),
			"reach is derived by rules, so it cannot be given facts; give the facts to a predicate of their own and add a rule that copies it"},
		{"short row", run(driver.NewFacts().Rows("edge", []any{1}), driver.RunOptions{}),
			"error: row 1 of the facts for edge: it has 1 values, edge has 2 arguments [RF1004]"},
		{"wrong type", run(driver.NewFacts().Rows("edge", []any{1, true}), driver.RunOptions{}),
			"error: row 1 of the facts for edge: argument 2 (y): a Go bool does not convert to int [RF1004]"},
		{"unknown engine", run(driver.NewFacts(), driver.RunOptions{Engine: "gpus"}),
			`no engine is called "gpus"; did you mean gpu?`},
		{"unknown output", run(driver.NewFacts(), driver.RunOptions{Outputs: []string{"raech"}}),
			"the program has no predicate raech; did you mean reach?"},
		{"missing file", run(driver.NewFacts().File("edge", "no/such.tsv"), driver.RunOptions{}),
			"no/such.tsv: no such file or directory"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%s:\ngot:  %v\nwant: %s", c.name, c.err, c.want)
		}
	}
	_, err := driver.Compile(ctx, nil, driver.Options{Disable: []string{"PushFilter"}})
	if err == nil || !strings.Contains(err.Error(), "did you mean PushFilters?") {
		t.Errorf("unknown pass: %v", err)
	}
	var env *driver.EnvironmentError
	if !errors.As(err, &env) {
		t.Errorf("unknown pass: %T", err)
	}
	_, err = driver.ParsePlan(driver.Text("x.plan", "var (\n"), driver.Options{})
	if err == nil || !strings.Contains(err.Error(), "x.plan:1:") {
		t.Errorf("broken plan: %v", err)
	}
	_, err = driver.ParseHarmony(driver.Text("x.harmony", "block b0:\n  run k0\n    rows r\n"))
	if err == nil || !strings.Contains(err.Error(), "x.harmony:3:10: there is no variable r") {
		t.Errorf("broken kernel graph: %v", err)
	}
}

// TestHarmonyText emits the kernel graph of a program, twice alike, and checks
// it.
func TestHarmonyText(t *testing.T) {
	prog := compile(t, "n(1). n(7).\n_(x) <- n(x), x > 3.\n", driver.Options{})
	var text, again strings.Builder
	for _, w := range []*strings.Builder{&text, &again} {
		if err := prog.Emit(w, driver.StageHarmony, driver.EmitOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if text.String() != again.String() {
		t.Errorf("two texts:\n%s\n%s", &text, &again)
	}
	if _, err := driver.ParseHarmony(driver.Text("p.harmony", text.String())); err != nil {
		t.Errorf("%v\n%s", err, &text)
	}
}

// TestHarmonyForGPU compiles a kernel graph with a function that GPUs do not
// have.
func TestHarmonyForGPU(t *testing.T) {
	graph, err := driver.ParseHarmony(driver.Text("p.harmony", `relation r(s: string) input "r"
relation d(s: string) derived output
block b0:
  run k0
    rows r
    v0: string = load s
    v1: string = map add(v0, v0)
    insert d(v1)
  merge d
  halt
`))
	if err != nil {
		t.Fatal(err)
	}
	for target, host := range map[string]bool{"cpu": false, "gpu:sm_90": true} {
		for _, stage := range []driver.Stage{driver.StageHarmony, driver.StageLLVM} {
			var text strings.Builder
			if err := graph.Emit(&text, stage, driver.EmitOptions{Target: target}); err != nil {
				t.Fatalf("%s for %s: %v", stage, target, err)
			}
			if stage == driver.StageHarmony &&
				strings.Contains(text.String(), "run k0 on host") != host {
				t.Errorf("for %s:\n%s", target, &text)
			}
		}
	}
}

// cents returns n hundredths.
func cents(n int64) driver.Decimal {
	return driver.Decimal{Unscaled: scalar.Int128Of(n), Scale: 2}
}

// TestGoValues sends each type through a run and back.
func TestGoValues(t *testing.T) {
	prog := compile(t, `
p(a, b, c, d, e, f, g) -> int[8](a), uint(b), float(c), decimal[18,2](d), string(e), boolean(f), datetime(g).
q(a, b, c, d, e, f, g) <- p(a, b, c, d, e, f, g).
`, driver.Options{})
	day := time.Date(1998, 9, 2, 12, 30, 0, 0, time.UTC)
	res, err := prog.Run(context.Background(), driver.NewFacts().Rows("p",
		[]any{int8(-5), uint64(math.MaxUint64), 1.5, cents(1999),
			"größe", true, day},
		[]any{"-128", "0", "1e3", "-0.50", "", false, "1970-01-01"},
	), driver.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]any{
		{int64(-128), uint64(0), 1000.0, cents(-50), "", false,
			time.Unix(0, 0).UTC()},
		{int64(-5), uint64(math.MaxUint64), 1.5, cents(1999), "größe",
			true, day},
	}
	if got := rows(res, "q"); !slices.EqualFunc(got, want, func(a, b []any) bool {
		return slices.Equal(a, b)
	}) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := prog.Run(context.Background(),
		driver.NewFacts().Rows("p", []any{200, 1, 1, 1, "", true, day}),
		driver.RunOptions{}); err == nil {
		t.Error("200 was taken for an int[8]")
	}
}

// TestGoValuesOf38Digits sends decimals of 38 digits through a run as rows,
// columns and records, and back.
func TestGoValuesOf38Digits(t *testing.T) {
	ctx := context.Background()
	prog := compile(t, `
p[a] = b -> decimal[38,2](a), int(b).
q[b] = a -> int(b), decimal[38,3](a).
q[b] = a <- p[a] = b.
`, driver.Options{})
	want := [][]any{
		{int64(1), driver.Decimal{Unscaled: scalar.Int128{Hi: -1, Lo: 1<<64 - 250}, Scale: 3}},
		{int64(2), driver.Decimal{Unscaled: scalar.Int128{Hi: 10}, Scale: 3}},
		{int64(3), driver.Decimal{Unscaled: scalar.Int128{Lo: 7000}, Scale: 3}},
	}
	if cols := prog.Predicates(); len(cols) != 2 ||
		cols[0].Columns[0].Type.String() != "decimal[38,2]" || cols[0].Keys != 1 {
		t.Errorf("the predicates are %v", cols)
	}
	facts := driver.NewFacts().Rows("p",
		[]any{driver.Decimal{Unscaled: scalar.Int128{Hi: -1, Lo: 1<<64 - 25}, Scale: 2}, 1},
		[]any{"184467440737095516.16", 2},
		[]any{driver.Decimal{Unscaled: scalar.Int128Of(70), Scale: 1}, 3})
	res, err := prog.Run(ctx, facts, driver.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	equal := func(a, b []any) bool { return slices.Equal(a, b) }
	if got := rows(res, "q"); !slices.EqualFunc(got, want, equal) {
		t.Errorf("got %v, want %v", got, want)
	}
	if text := want[1][1].(driver.Decimal).String(); text != "184467440737095516.160" {
		t.Errorf("the text is %s", text)
	}
	if cols := res.Columns("q"); len(cols) != 2 || cols[1].Name != "a" ||
		cols[1].Type.String() != "decimal[38,3]" {
		t.Errorf("the columns are %v", cols)
	}
	rec, err := res.Arrow("q")
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	again := compile(t, "r[b] = a -> int(b), decimal[38,3](a).\nq[b] = a <- r[b] = a.\n",
		driver.Options{})
	for _, facts := range []*driver.Facts{
		driver.NewFacts().Arrow("r", rec),
		driver.NewFacts().Rows("r", want...),
	} {
		res, err := again.Run(ctx, facts, driver.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := rows(res, "q"); !slices.EqualFunc(got, want, equal) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	res, err = again.Run(ctx,
		driver.NewFacts().Columns("r", []int{1, 2}, []int64{-5, math.MaxInt64}),
		driver.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := rows(res, "q"); len(got) != 2 ||
		got[1][1].(driver.Decimal).String() != "9223372036854775807.000" {
		t.Errorf("got %v", got)
	}
	for text, facts := range map[string]*driver.Facts{
		"argument 2 (a): expected decimal[38,3], found \"x\"": driver.NewFacts().Rows("r",
			[]any{1, "x"}),
		"it has 3 values, r has 2 arguments": driver.NewFacts().Rows("r",
			[]any{1, 2, 3}),
		"r has 2 arguments, not 3": driver.NewFacts().Columns("r",
			[]int{1}, []int{1}, []int{1}),
		"argument 2 (a) of r: []float64 does not fill a deci": driver.NewFacts().Columns("r",
			[]int{1}, []float64{1}),
		"r[1] has two values: 2.000 here and 1.000 in row 1": driver.NewFacts().Columns("r",
			[]int{1, 1}, []int{1, 2}),
	} {
		if _, err := again.Run(ctx, facts, driver.RunOptions{}); err == nil ||
			!strings.Contains(err.Error(), text) {
			t.Errorf("the error is %v, not %s", err, text)
		}
	}
}

// TestFactsAreUnited joins rows, records, a file and facts of the program.
func TestFactsAreUnited(t *testing.T) {
	file := filepath.Join(t.TempDir(), "n.tsv")
	if err := os.WriteFile(file, []byte("3\n1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	prog := compile(t, "n(x) -> int(x).\nn(4).\nm(x) <- n(x).\n", driver.Options{})
	res, err := prog.Run(context.Background(),
		driver.NewFacts().File("n", file).Rows("n", []any{1}, []any{2}), driver.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := rows(res, "m"); len(got) != 4 || got[0][0] != int64(1) || got[3][0] != int64(4) {
		t.Errorf("got %v", got)
	}
}

// TestOutputsChooseWhatIsComputed asks for parts of a program, facts included.
func TestOutputsChooseWhatIsComputed(t *testing.T) {
	prog := compile(t, `
n(1). n(2).
a(x) <- n(x).
b(x + 1) <- a(x).
_(x) <- b(x), x > 2.
`, driver.Options{})
	res, err := prog.Run(context.Background(), driver.NewFacts(),
		driver.RunOptions{Outputs: []string{"b", "n"}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(res.Predicates(), []string{"n", "b"}) || res.Len("b") != 2 ||
		res.Len("n") != 2 || res.Has("_") {
		t.Errorf("got %v with %d and %d tuples", res.Predicates(), res.Len("b"), res.Len("n"))
	}
}

// TestProgramServesManyRuns runs one program and one database from many
// goroutines.
func TestProgramServesManyRuns(t *testing.T) {
	ctx := context.Background()
	prog := compile(t, reach, driver.Options{})
	db, err := prog.Load(ctx,
		driver.NewFacts().Rows("edge", []any{"ann", "bob"}, []any{"bob", "cid"}),
		driver.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			res, err := prog.RunOn(ctx, db, driver.RunOptions{})
			if err != nil || res.Len("reach") != 3 || res.Len("_") != 2 {
				t.Errorf("%v, %v", res, err)
			}
		})
	}
	group.Wait()
}

// TestMemoryBound refuses a run that would pass its bound, and names what grew.
func TestMemoryBound(t *testing.T) {
	prog := compile(t,
		"n(0).\nn(x + 1) <- n(x), x < 3000000.\npair(x, y) <- n(x), n(y), x < 3000, y < 3000.\n",
		driver.Options{})
	_, err := prog.Run(context.Background(), driver.NewFacts(), driver.RunOptions{Memory: 16 << 20})
	var env *driver.EnvironmentError
	if !errors.As(err, &env) || !strings.Contains(err.Error(), "--memory") ||
		!strings.Contains(err.Error(), "n") {
		t.Errorf("got %v", err)
	}
}

// TestLimitAndOrder presents a result by lang:output.
func TestLimitAndOrder(t *testing.T) {
	prog := compile(t, "p(1, \"b\"). p(2, \"a\"). p(3, \"b\"). p(4, \"c\").\nq(x, s) <- p(x, s).\n"+
		"lang:output:orderBy[`q] = \"s desc, x desc\".\nlang:output:limit[`q] = 3.\n",
		driver.Options{})
	res, err := prog.Run(context.Background(), driver.NewFacts(), driver.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for row := range res.Rows("q") {
		got = append(got, row[0].(int64))
	}
	if !slices.Equal(got, []int64{4, 3, 1}) || res.Len("q") != 3 {
		t.Errorf("got %v", got)
	}
}

// TestViolationsAreDiagnostics returns violated constraints as values.
func TestViolationsAreDiagnostics(t *testing.T) {
	prog := compile(t, "age[p] = n -> string(p), int(n).\nage[p] = n -> n >= 0.\n",
		driver.Options{})
	_, err := prog.Run(context.Background(),
		driver.NewFacts().Rows("age", []any{"ann", -1}, []any{"bob", 5}), driver.RunOptions{})
	var wrong *driver.ProgramError
	if !errors.As(err, &wrong) || len(wrong.Diagnostics) != 1 {
		t.Fatalf("got %v", err)
	}
	d := wrong.Diagnostics[0]
	if d.Code.Name != "ConstraintViolated" ||
		!slices.Equal(d.Notes, []string{`p = "ann", n = -1`}) {
		t.Errorf("got %s with notes %q", d.Code.Name, d.Notes)
	}
}

// TestFilePredicates imports a file that the program names, beside the program,
// and exports another to a folder.
func TestFilePredicates(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sales.csv"),
		[]byte("item|price\npen|1.50\nink|12.25\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	program := "_in(offset; item, price) -> int(offset), string(item), decimal[18,2](price).\n" +
		"lang:physical:filePath[`_in] = \"sales.csv\".\n" +
		"lang:physical:delimiter[`_in] = \"|\".\n" +
		"lang:physical:hasColumnNames[`_in] = true.\n" +
		"dear(item, price) <- _in(_; item, price), price > 10d.\n" +
		"out(item, price) <- dear(item, price).\n" +
		"lang:physical:filePath[`out] = \"dear.tsv\".\n" +
		"lang:physical:fileMode[`out] = \"export\".\n" +
		"lang:physical:hasColumnNames[`out] = true.\n" +
		"lang:physical:columnNames[`out] = \"what,how much\".\n"
	ctx := context.Background()
	prog, err := driver.Compile(ctx,
		[]driver.Source{driver.Text(filepath.Join(dir, "p.logic"), program)}, driver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := prog.Run(ctx, driver.NewFacts().Allow(dir), driver.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if named := prog.Exports(); len(named) != 1 || named[0].Pred != "out" ||
		named[0].Path != "dear.tsv" {
		t.Fatalf("got %v", named)
	}
	results := filepath.Join(dir, "results")
	exports, err := prog.ResolveExports(driver.ExportOptions{Dir: results})
	if err != nil || len(exports) != 1 || exports[0].Path != filepath.Join(results, "dear.tsv") {
		t.Fatalf("got %v, %v", exports, err)
	}
	if err := prog.WriteExport(res, exports[0]); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(exports[0].Path)
	if want := "what\thow much\nink\t12.25\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// TestClosedByDefault runs a program that names files, with facts and options
// that allow none.
func TestClosedByDefault(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("n.tsv", []byte("7\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	prog := compile(t,
		"n(x) -> int(x).\nlang:physical:filePath[`n] = \"n.tsv\".\nout(x) <- n(x).\n"+
			"lang:physical:filePath[`out] = \"n.tsv\".\n", driver.Options{})
	ctx := context.Background()
	refused := func(err error, want string) {
		t.Helper()
		var wrong *driver.ProgramError
		if !errors.As(err, &wrong) || wrong.Diagnostics[0].Code.Name != "PathNotAllowed" ||
			wrong.Diagnostics[0].Message != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	_, err := prog.Run(ctx, driver.NewFacts(), driver.RunOptions{})
	refused(err, "the program may not read n.tsv")
	res, err := prog.Run(ctx, driver.NewFacts().File("n", "n.tsv"), driver.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	refused(prog.WriteExport(res, prog.Exports()[0]), "the program may not write n.tsv")
	_, err = prog.ResolveExports(driver.ExportOptions{Dir: "results", Allow: []string{"results"}})
	if err != nil {
		t.Error(err)
	}
	_, err = prog.ResolveExports(driver.ExportOptions{Allow: []string{"results"}})
	refused(err, "the program may not write n.tsv")
}

// TestFactsOfHelpersAreLoaded asks for a helper that no output depends on.
func TestFactsOfHelpersAreLoaded(t *testing.T) {
	const text = `
edge(x, y) -> int(x), int(y).
other(x) -> int(x).
_start(x) <- edge(x, _).
out(x) <- other(x).
`
	prog, err := driver.Compile(context.Background(),
		[]driver.Source{driver.Text("program.logic", text)}, driver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, facts := range map[string]string{"edge.tsv": "1\t2\n", "other.tsv": "3\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(facts), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	res, err := prog.Run(context.Background(), driver.NewFacts().Dir(dir),
		driver.RunOptions{Outputs: []string{"_start"}})
	if err != nil {
		t.Fatal(err)
	}
	if n := res.Len("_start"); n != 1 {
		t.Errorf("_start has %d tuples, not 1", n)
	}
}
