package diag

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/source"
)

// at returns the span of the nth occurrence, from 0, of part in f.
func at(f *source.File, part string, nth int) source.Span {
	start := 0
	for ; nth >= 0; nth-- {
		n := strings.Index(f.Text[start:], part)
		if n < 0 {
			panic("no " + part)
		}
		start += n
		if nth > 0 {
			start += len(part)
		}
	}
	return source.Span{File: f, Start: start, End: start + len(part)}
}

func TestRender(t *testing.T) {
	reach := source.NewFile("reach/program.logic",
		"p(1).\nout(x, z) <- edge(x, y), !edge(y, z).\n\n\n\nq(2).\nr(3).\ns(4).")
	wide := source.NewFile("wide.logic", "\tp(\"日本語\", e\u0301, \u202ex\x1b[2J).\n")
	long := source.NewFile("long.logic",
		strings.Repeat("a", 300)+", bad, "+strings.Repeat("b", 300))
	broken := source.NewFile("broken.logic", "p(x) <-\n    q(x),\n    r(x),\n    s(x).\n")
	code := &Code{ID: "RF0101", Name: "UnboundVariable"}
	for _, test := range []struct {
		name string
		d    *Diagnostic
		want string
	}{
		{
			"headline, place, note and help",
			&Diagnostic{Severity: Error, Code: code,
				Message: "variable z is not bound by a positive atom",
				Span:    at(reach, "z", 1),
				Notes:   []string{"z occurs only in the head and under negation"},
				Helps:   []string{"bind it first, for example with node(z)"}},
			`reach/program.logic:2:35: error: variable z is not bound by a positive atom [RF0101]

  2 │ out(x, z) <- edge(x, y), !edge(y, z).
    │                                   ^
  note: z occurs only in the head and under negation
  help: bind it first, for example with node(z)
`,
		},
		{
			"labels before, behind and on the line, with gaps",
			&Diagnostic{Severity: Warning, Code: code, Message: "many places",
				Span: at(reach, "q(2)", 0),
				At:   "here",
				Labels: []Label{{at(reach, "s(4)", 0), "two on"}, {at(reach, "x", 0), "far before"},
					{at(reach, "2", 0), "inside"}}},
			`reach/program.logic:6:1: warning: many places [RF0101]

  2 │ out(x, z) <- edge(x, y), !edge(y, z).
    │     - far before
    ·
  6 │ q(2).
    │ ^^^^ here
    │   - inside
  7 │ r(3).
  8 │ s(4).
    │ ---- two on
`,
		},
		{
			"tabs, wide, combining and dangerous characters",
			&Diagnostic{Severity: Error, Message: "bad \x1b[31m thing", Span: at(wide, "x", 0),
				Labels: []Label{{at(wide, "日本", 0), "two wide"},
					{at(wide, "e\u0301", 0), "narrow"}}},
			"wide.logic:1:16: error: bad \uFFFD[31m thing\n\n" +
				"  1 │     p(\"日本語\", e\u0301, \uFFFDx\uFFFD[2J).\n" +
				"    │                     ^\n" +
				"    │        ---- two wide\n" +
				"    │                 - narrow\n",
		},
		{
			"a place over several lines",
			&Diagnostic{Severity: Error, Message: "rule never fires",
				Span: source.Span{File: broken, Start: 0, End: len(broken.Text) - 1},
				At:   "this rule"},
			`broken.logic:1:1: error: rule never fires

  1 │ p(x) <-
    │ ^^^^^^^
    ·
  4 │     s(x).
    │     ^^^^^ this rule
`,
		},
		{
			"two files",
			&Diagnostic{Severity: Error, Message: "declared twice", Span: at(reach, "p(1)", 0),
				Labels: []Label{{at(broken, "q", 0), "also here"}}},
			`reach/program.logic:1:1: error: declared twice

  1 │ p(1).
    │ ^^^^

  broken.logic:2:5:
  2 │     q(x),
    │     - also here
`,
		},
		{
			"the end of the file, and no place at all",
			&Diagnostic{Severity: Note, Message: "end",
				Span: source.Span{File: reach, Start: len(reach.Text), End: len(reach.Text)}},
			"reach/program.logic:8:6: note: end\n\n  8 │ s(4).\n    │      ^\n",
		},
		{
			"no place",
			&Diagnostic{Severity: Error, Message: "nothing to run",
				Labels: []Label{{Message: "from outside"}}, Helps: []string{"first\nsecond"}},
			"error: nothing to run\n  note: from outside\n  help: first\n        second\n",
		},
		{
			"a long line is cut",
			&Diagnostic{Severity: Error, Message: "bad", Span: at(long, "bad", 0)},
			"long.logic:1:303: error: bad\n\n  1 │ …" + strings.Repeat("a", 38) + ", bad, " +
				strings.Repeat("b", 113) + "…\n    │ " + strings.Repeat(" ", 41) + "^^^\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Render(&b, []*Diagnostic{test.d}, RenderOptions{}); err != nil {
				t.Fatal(err)
			}
			if b.String() != test.want {
				t.Errorf("got\n%s\nwant\n%s", b.String(), test.want)
			}
		})
	}
}

func TestRenderMaxAndColor(t *testing.T) {
	f := source.NewFile("f", "p(1).\n")
	ds := []*Diagnostic{{Severity: Error, Message: "a", Span: at(f, "p", 0)},
		{Severity: Error, Message: "b"}, {Severity: Error, Message: "c"}}
	var b bytes.Buffer
	if err := Render(&b, ds, RenderOptions{Max: 1}); err != nil {
		t.Fatal(err)
	}
	if want := "f:1:1: error: a\n\n  1 │ p(1).\n    │ ^\n\n... and 2 more\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	b.Reset()
	if err := Render(&b, ds[1:2], RenderOptions{Color: true}); err != nil {
		t.Fatal(err)
	}
	if want := "\x1b[1;31merror:\x1b[0m \x1b[1mb\x1b[0m\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestJSON(t *testing.T) {
	f := source.NewFile("f.logic", "p(\"é\") <- q(<x>).\nr(1).\n")
	ds := []*Diagnostic{{
		Severity: Warning, Code: &Code{ID: "RF0999", Name: "Test"}, Message: "a < b",
		Span:   at(f, "q", 0),
		At:     "here",
		Labels: []Label{{at(f, "r(1)", 0), "there"}}, Notes: []string{"n"},
		Fixes: []Fix{{at(f, "q", 0), "<="}},
	}}
	var b bytes.Buffer
	if err := JSON(&b, ds); err != nil {
		t.Fatal(err)
	}
	const want = `[
  {
    "severity": "warning",
    "code": "RF0999",
    "name": "Test",
    "message": "a < b",
    "file": "f.logic",
    "line": 1,
    "column": 11,
    "end_line": 1,
    "end_column": 12,
    "at": "here",
    "labels": [
      {
        "file": "f.logic",
        "line": 2,
        "column": 1,
        "end_line": 2,
        "end_column": 5,
        "message": "there"
      }
    ],
    "notes": [
      "n"
    ],
    "helps": [],
    "fixes": [
      {
        "file": "f.logic",
        "line": 1,
        "column": 11,
        "end_line": 1,
        "end_column": 12,
        "text": "<="
      }
    ]
  }
]
`
	if b.String() != want {
		t.Errorf("got %s", b.String())
	}
	b.Reset()
	var none []any
	if err := JSON(&b, nil); err != nil || json.Unmarshal(b.Bytes(), &none) != nil || none == nil {
		t.Errorf("no diagnostics give %q", b.String())
	}
}
