package driver

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSeveralFiles unites the files of a predicate, on all engines and under a
// bound on memory, and names both files where they disagree about a key.
func TestSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	first := path("first.tsv", "a\t1\nb\t2\n")
	second := path("second.csv", "b,2\nc,3\n")
	third := path("third.csv", "c,4\n")
	ctx := context.Background()
	onEngines(t, func(t *testing.T, engine string) {
		prog := compileText(t, `f[x] = y -> string(x), int(y).
out(x, y) <- f[x] = y.
`, Options{})
		opts := RunOptions{Engine: engine, Memory: 64 << 20}
		db, err := prog.LoadFor(ctx, NewFacts().File("f", first).File("f", second), opts)
		if err != nil {
			t.Fatal(err)
		}
		res, err := prog.RunOn(ctx, db, opts)
		if err != nil {
			t.Fatal(err)
		}
		if got := resultText(t, res); !strings.Contains(got, "out:\na\t1\nb\t2\nc\t3\n") {
			t.Errorf("got %q", got)
		}
		_, err = prog.LoadFor(ctx, NewFacts().File("f", second).File("f", third), opts)
		want := third + `: error: f["c"] has two values: 4 here and 3 in ` + second
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	})
	prog := compileText(t, "f[x] = y -> string(x), int(y).\nout(x, y) <- f[x] = y.\n", Options{})
	_, err := prog.LoadFor(ctx, NewFacts().File("f", first).File("f", second),
		RunOptions{Memory: 8})
	if !IsOutOfMemory(err) {
		t.Errorf("error %v under 8 bytes", err)
	}
}
