package parse_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/source"
)

// TestData runs the files in testdata/golden. Their directives are
//
//	parse    the tree, and the diagnostics if there are any
//	errors   the diagnostics
//	format   the canonical text, after a check that it parses to the same tree
//	         and is canonical itself
func TestData(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			file, diags := parseText(d.Input)
			switch d.Cmd {
			case "parse":
				return ast.Dump(file) + rendered(t, diags)
			case "errors":
				return rendered(t, diags)
			case "format":
				if len(diags) > 0 {
					return rendered(t, diags)
				}
				return checkFormat(t, file)
			}
			d.Fatalf(t, "unknown directive %s", d.Cmd)
			return ""
		})
	})
}

func parseText(text string) (*ast.File, []*diag.Diagnostic) {
	var diags diag.List
	f := parse.File(source.NewFile("program.logic", text), &diags)
	return f, diags.All()
}

func rendered(t *testing.T, diags []*diag.Diagnostic) string {
	var b bytes.Buffer
	if err := diag.Render(&b, diags, diag.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// checkFormat formats a file that was parsed without errors and checks what
// Format promises.
func checkFormat(t *testing.T, file *ast.File) string {
	once := ast.Format(file)
	again, diags := parseText(once)
	if len(diags) > 0 {
		t.Fatalf("formatted text does not parse:\n%s\n%s", once, rendered(t, diags))
	}
	if got, want := shape(again), shape(file); got != want {
		t.Fatalf("formatted text parses to another tree:\n%s\ngot\n%s\nwant\n%s", once, got, want)
	}
	if twice := ast.Format(again); twice != once {
		t.Fatalf("formatting again changes the text:\n%s\nto\n%s", once, twice)
	}
	return once
}

var place = regexp.MustCompile(`(?m)^( *\S+) \d+:\d+`)

// shape is the tree without positions.
func shape(f *ast.File) string {
	return place.ReplaceAllString(strings.ReplaceAll(ast.Dump(f), `\r\n`, `\n`), "$1")
}
