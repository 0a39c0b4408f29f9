package frontend_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// mistakes have fixes that neither the refused programs nor the examples of the
// codes have.
var mistakes = []string{
	"edge(1, 2). reach(x, y) <- edge(x, y), not edgee(y, x).",
	"p(x) -> strng(x). p(\"a\").",
	"p(x) -> number(x). p(1).",
	"s(\"a\"). r(x) <- s(y), x = string:uper[y].",
	"s(\"a\"). r(x) <- s(x), x in (\"a\", \"b\").",
	"s(\"a\"). r(x) <- s(x), x != ‘b’.",
	"s(1). n[] = c <- agg<<c = cuont()>> s(_).",
	"s(1). f[x] = 2 <- s(x). r(y) <- s(x), y = f(x) + 1.",
	"s(1). f[x] = 2 <- s(x). r(x) <- s(x), f[x].",
	"s(\"a\"). r(x) <- s(x), string:like[x, \"a%\"].",
	"s(1). r(x) <- s(x), x == 1, x <> 2.",
	"s(1)\nr(x) <- s(x).",
	"p(x) -> string(x). p(1).",
	"p(x) -> datetime(x). p(\"2020-01-01\").",
	"f[] = 1. g[] = 0.5f. h(x) <- x = int:mod[g[], f[]].",
	"s(1). lang:output:limt[`s] = 3.",
	"edge(1, 2). lang:output:limit[`edgee] = 3.",
	"likes(ann, \"bob\").",
	"n(-5). m(x) <- n(y), x = abs[y].",
}

// TestFixes follows each fix of a diagnostic alone: the diagnostic is gone
// then.
func TestFixes(t *testing.T) {
	programs := mistakes
	paths, err := filepath.Glob("../testdata/refused/*/program.logic")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, string(text))
	}
	for _, c := range diag.Codes() {
		programs = append(programs, c.Example)
	}
	codes := map[string]bool{}
	followed := 0
	for i, text := range programs {
		_, found := frontend.Compile([]*source.File{source.NewFile("p.logic", text)}, frontend.Options{})
		has := false
		for _, d := range found {
			for _, fix := range d.Fixes {
				has = true
				followed++
				codes[d.Code.ID] = true
				mended := text[:fix.Span.Start] + fix.Text + text[fix.Span.End:]
				_, after := frontend.Compile([]*source.File{source.NewFile("p.logic", mended)},
					frontend.Options{})
				for _, x := range after {
					if x.Code == d.Code && x.Span.Start == d.Span.Start && x.Message == d.Message {
						t.Errorf("%s\n%s does not help against: %s", text, fix.Title(), d.Message)
					}
				}
			}
		}
		if i < len(mistakes) && !has {
			t.Errorf("%s\nhas no fix", text)
		}
	}
	if followed < 50 || len(codes) < 12 {
		t.Errorf("only %d fixes of %d codes", followed, len(codes))
	}
}
