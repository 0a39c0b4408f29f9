package driver_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
)

// cachedProgram compares a column with a constant and counts.
const cachedProgram = `sales(id, v) -> int(id), int(v).
count[] = n <- agg<<n = count()>> sales(_, v), v > 10.
`

// ptxOf compiles a program to PTX for facts, nil for all.
func ptxOf(t *testing.T, text, target string, rows [][]any, options driver.Options) string {
	t.Helper()
	ctx := context.Background()
	prog, err := driver.Compile(ctx, []driver.Source{{Name: "sales.logic", Text: text}}, options)
	if err != nil {
		t.Fatal(err)
	}
	var db *driver.Database
	if rows != nil {
		if db, err = prog.Load(ctx, driver.NewFacts().Rows("sales", rows...),
			driver.LoadOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := prog.Emit(&out, driver.StagePTX,
		driver.EmitOptions{Facts: db, Target: target}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// entries counts the files in a folder.
func entries(t *testing.T, dir string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// TestCodeCache changes one after the other what PTX depends on, and wants from
// a cache that has the code of all what comes without a cache.
func TestCodeCache(t *testing.T) {
	if _, _, err := driver.ChooseEngine("cpu"); err != nil {
		t.Skip(err)
	}
	narrow := [][]any{{1, 5}, {2, 20}}
	type input struct {
		text, target string
		rows         [][]any
		options      driver.Options
	}
	base := input{text: cachedProgram, target: "gpu:sm_80"}
	inputs := []input{base}
	change := func(f func(*input)) {
		i := base
		f(&i)
		inputs = append(inputs, i)
	}
	change(func(i *input) { i.target = "gpu:sm_90" })
	change(func(i *input) { i.text = cachedProgram + "// a comment\n" })
	change(func(i *input) { i.text = strings.Replace(cachedProgram, "10", "11", 1) })
	change(func(i *input) { i.options.NoFuse = true })
	change(func(i *input) { i.rows = narrow })
	change(func(i *input) { i.rows = [][]any{{1, 5}, {2, 30}} })
	change(func(i *input) { i.rows = [][]any{{1, 5}, {2, 1 << 40}} })
	change(func(i *input) { i.rows = narrow; i.target = "gpu:sm_90" })
	change(func(i *input) { i.rows = narrow; i.options.NoFuse = true })
	t.Setenv("REDFOX_CACHE", "")
	var want []string
	for _, i := range inputs {
		want = append(want, ptxOf(t, i.text, i.target, i.rows, i.options))
	}
	dir := filepath.Join(t.TempDir(), "cache")
	t.Setenv("REDFOX_CACHE", dir)
	filled := 0
	for round := range 3 {
		for n, i := range inputs {
			if got := ptxOf(t, i.text, i.target, i.rows, i.options); got != want[n] {
				t.Errorf("round %d: input %d gets from the cache\n%s\nwant\n%s", round, n, got,
					want[n])
			}
		}
		if n := entries(t, dir); round == 0 {
			filled = n
		} else if n != filled {
			t.Errorf("round %d finds %d entries and leaves %d", round, filled, n)
		}
	}
	// Another process has nothing to add but a note of libLLVM, which this one
	// found before it had a cache.
	for round, more := range []int{1, 0} {
		child(t, "ptx")
		n := entries(t, dir)
		if n > filled+more {
			t.Errorf("process %d finds %d entries and leaves %d", round+2, filled, n)
		}
		filled = n
	}
	// A damaged entry is compiled again.
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.WriteFile(f, []byte("damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if got := ptxOf(t, base.text, base.target, base.rows, base.options); got != want[0] {
			t.Errorf("a damaged cache gives\n%s\nwant\n%s", got, want[0])
		}
	}
}

// TestEngineCache runs a program on the cpu engine in several processes, the
// first of which leaves its code to the others. Facts with other bounds are
// asked for once more, and get the same objects if that makes no other code.
func TestEngineCache(t *testing.T) {
	if _, _, err := driver.ChooseEngine("cpu"); err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(t.TempDir(), "cache")
	t.Setenv("REDFOX_CACHE", dir)
	child(t, "20")
	filled := entries(t, dir)
	for _, c := range []struct {
		value string
		more  int
	}{{"20", 0}, {"21", 1}, {"21", 1}, {"20", 1}} {
		if child(t, c.value); entries(t, dir) != filled+c.more {
			t.Errorf("the first process leaves %d entries; after one for %s there are %d", filled,
				c.value, entries(t, dir))
		}
	}
}

// child runs TestCacheChild in a process of its own, with what it is to do.
func child(t *testing.T, what string) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestCacheChild$")
	c.Env = append(os.Environ(), "REDFOX_TEST_CHILD="+what)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestCacheChild compiles the program to PTX, or runs it over a value.
func TestCacheChild(t *testing.T) {
	what := os.Getenv("REDFOX_TEST_CHILD")
	value, err := strconv.Atoi(what)
	switch {
	case what == "":
		t.Skip("TestCodeCache and TestEngineCache run it")
	case err != nil:
		ptxOf(t, cachedProgram, "gpu:sm_80", nil, driver.Options{})
		return
	}
	res, err := compile(t, cachedProgram, driver.Options{}).Run(context.Background(),
		driver.NewFacts().Rows("sales", []any{1, 5}, []any{2, value}),
		driver.RunOptions{Engine: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	for row := range res.Rows("count") {
		if got := fmt.Sprint(row); got != "[1]" {
			t.Errorf("the count is %s", got)
		}
	}
}

// TestEmitTrace wants all phases of a compilation in its trace, of one whose
// code is there none that makes code, and none of one for facts of the same
// content.
func TestEmitTrace(t *testing.T) {
	if _, _, err := driver.ChooseEngine("cpu"); err != nil {
		t.Skip(err)
	}
	t.Setenv("REDFOX_CACHE", filepath.Join(t.TempDir(), "cache"))
	front := []string{driver.TracePlan, driver.TraceKernels, driver.TraceFacts}
	back := []string{driver.TraceCode, driver.TraceRead, driver.TraceOptimise, driver.TraceBackEnd}
	prog := compile(t, cachedProgram, driver.Options{})
	load := func(rows ...[]any) *driver.Database {
		db, err := prog.Load(context.Background(), driver.NewFacts().Rows("sales", rows...),
			driver.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	few, others := load([]any{1, 5}, []any{2, 20}), load([]any{1, 5}, []any{2, 30})
	for _, compilation := range []struct {
		facts *driver.Database
		spans []string
	}{
		{nil, slices.Concat(front, back)}, {nil, nil},
		{few, slices.Concat(front, back)}, {few, nil},
		{load([]any{1, 5}, []any{2, 20}), nil},
		{others, slices.Concat(front, back[:1])}, {others, nil}, // whose IR is the same
	} {
		want := compilation.spans
		prog := compile(t, cachedProgram, driver.Options{})
		var trace driver.Tracer
		if err := prog.Emit(io.Discard, driver.StagePTX,
			driver.EmitOptions{Facts: compilation.facts, Target: "gpu:sm_90",
				Trace: trace.Add}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range trace.Spans() {
			if s.Duration < 0 ||
				(s.Track == driver.HostTrack) != slices.Contains(append(front, driver.TraceCode),
					s.Name) {
				t.Errorf("there is %+v", s)
			}
			if !slices.Contains(got, s.Name) {
				got = append(got, s.Name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("the spans are %q, want %q", got, want)
		}
	}
}
