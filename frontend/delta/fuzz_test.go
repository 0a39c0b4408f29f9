package delta_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// FuzzTransactions compiles a program, a transaction that is executed, one that
// is installed, and one more. Each gives a valid program or errors with places.
func FuzzTransactions(f *testing.F) {
	paths, err := filepath.Glob("../../testdata/programs/*/program.logic")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), "+p(1). -q(x, _) <- p@prev(x). _(x) <- +p(x).", "^f[x] = y <- -q(x, y).")
	}
	f.Add("p(x) -> int(x). q(x) <- p(x).", "+p(1).", "+r(x) <- +p(x), q@prev(x), !p@start(x).")
	f.Add("e(x) -> . e(x), e:id(x:s) -> string(s). lang:pulse(`p). p(x) <- +e(x).",
		"+e(x), +e:id(x:\"a\").", "-e(x) <- p@final(x) ; +p(x).")
	f.Add("f[x] = y -> int(x), int(y). f[1] = 2.", "^f[x] += y <- f[x] = y.",
		"-f[1]. -f[x] = _ <- f(x; y).")
	f.Add("e(x), e:id(x:s) -> string(s). lc -> e(x)", "+p(1).", "^f[x] = y <- -q(x, y).")
	f.Add("s[a] = v <- series<< v = runtotal[a](x) >>.", "+p(1).", "^f[x] = y <- -q(x, y).")
	f.Add("e(x) -> . c[n] = x -> int(n), e(x). lang:constructor(`c). q(n) -> int(n). "+
		"s(x) -> e(x). e(x), c[n] = x <- q(n). +s(x) <- +e(x), !c@prev[_] = x.",
		"+q(1). -s(x) <- c[2] = x.", "d[x] = y -> e(x), e(y). lang:constructor(`d). +d[x] = y <- +s(x).")
	f.Add("animal(0), a(a:0) -> . (0) -> animal().", "+a(0).", "a(0).")
	f.Fuzz(func(t *testing.T, program, exec, add string) {
		if len(program)+len(exec)+len(add) > 4000 {
			return
		}
		var w frontend.Workspace
		for i, step := range []struct {
			text string
			kind frontend.Kind
		}{{program, frontend.Whole}, {exec, frontend.Execution}, {add, frontend.Addition},
			{exec, frontend.Execution}, {"", frontend.Reading}} {
			files := []*source.File{source.NewFile("step.logic", step.text)}
			compiled, found := frontend.CompileStep(&w, files, step.kind, frontend.Options{})
			if compiled.Program == nil {
				hasPlace := func(d *diag.Diagnostic) bool {
					return d.Severity == diag.Error && d.Span.IsValid()
				}
				if !slices.ContainsFunc(found, hasPlace) {
					t.Fatalf("step %d has no program and no error with a place: %v", i, found)
				}
				if i == 0 {
					return
				}
				continue
			}
			if err := core.Verify(compiled.Program); err != nil {
				t.Fatalf("step %d: %v\n%s", i, err, compiled.Program)
			}
			if step.kind != frontend.Reading {
				compiled.Commit(&w, slices.Concat(compiled.Changed, compiled.Kept))
			}
		}
	})
}
