package frontend_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// FuzzCompile compiles arbitrary bytes: the front end never panics, the normal
// form prints, an accepted program passes core.Verify, a refused one says why,
// and all of it twice the same.
func FuzzCompile(f *testing.F) {
	for _, pattern := range []string{"../testdata/*/*/program.logic", "../testdata/*/*.logic"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	for _, code := range diag.Codes() {
		f.Add(code.Example)
	}
	for _, text := range mistakes {
		f.Add(text)
	}
	// A constraint that reads one predicate, on its right side.
	f.Add("animal(0)&A(A:0)->(0).0->animal@A[]")
	f.Add("0<-series<<A=rnd_uniform_real<0&0&0>[0]>>") // a series without a body
	f.Add("p(1). q[x] = s / n <- agg<<s = total(if x in {1, 2} then x else 0), n = count()>> p(x).")
	f.Add("p(#2026-01-01#). q(d + 1, d - #2020-01-01#) <- p(d), !(d in {#2026-01-01#}).")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		first := outcome(t, text)
		if second := outcome(t, text); first != second {
			t.Errorf("two compilations differ:\n%s\n%s", first, second)
		}
	})
}

// outcome renders all that a compilation gives.
func outcome(t *testing.T, text string) string {
	files := []*source.File{source.NewFile("program.logic", text)}
	program, trees, found := frontend.CompileTrees(files, frontend.Options{})
	var b renderBuffer
	if err := diag.Render(&b, found, diag.RenderOptions{Max: 100}); err != nil {
		t.Fatal(err)
	}
	b = append(b, frontend.NormalForm(trees)...)
	if program == nil {
		for _, d := range found {
			if d.Severity == diag.Error {
				return string(b)
			}
		}
		t.Fatalf("refused without an error")
	}
	if err := core.Verify(program); err != nil {
		t.Fatalf("core: %v\n%s", err, program)
	}
	return string(b) + program.String()
}

type renderBuffer []byte

func (b *renderBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}
