package frontend_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

var (
	// advisedDeclaration is a help with a clause that the program lacks.
	advisedDeclaration = regexp.MustCompile(`\bdeclare it\b.*?(?:: |, for example )(.+\.)$`)
	// advisedCondition is a help with a condition that the body lacks.
	advisedCondition = regexp.MustCompile(`(?:bind it first|add a bound to the body), for example ` +
		`(?:with )?(.+)$|bind \w+ in every alternative, for example with (.+?), or write`)
)

// TestHelpsAreAccepted follows the helps of diagnostics literally that name a
// declaration or a condition: the program with it has not that diagnostic.
func TestHelpsAreAccepted(t *testing.T) {
	var programs []string
	for _, pattern := range []string{"../testdata/refused/*/program.logic",
		"../testdata/programs/*/program.logic"} {
		paths, err := filepath.Glob(pattern)
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
	}
	for _, c := range diag.Codes() {
		programs = append(programs, c.Example)
	}
	programs = append(programs, mistakes...)
	programs = append(programs,
		"p(x) <- q(x), r(x, y), x < y.",
		"p(0). p(x + 2) <- p(x).",
		"p(0). p(x - 2) <- p(x).",
		"p(0d). p(x + 0.5) <- p(x).",
		"p(#2020-01-01#). p(y) <- p(x), y = datetime:add[x, 1, \"days\"].",
		"p(\"a\"). p(x + x) <- p(x).",
		"e(1, 2). p(x, y) <- !e(x, y).",
		"e(1, 2). p(x, y) <- e(x, _), y > x.",
		"e(1, \"a\"). n(\"a\"). p(x) <- !e(_, x).",
		"e[1] = 2. p(x) <- x > 1.",
	)
	declared, bound := 0, 0
	for _, text := range programs {
		files := []*source.File{source.NewFile("p.logic", text)}
		analysis := frontend.Read(files)
		analysis.Check(frontend.Options{})
		for _, d := range analysis.Found {
			for _, help := range d.Helps {
				mended := ""
				if m := advisedDeclaration.FindStringSubmatch(help); m != nil {
					declared++
					mended = withDeclaration(text, analysis, m[1])
				} else if m := advisedCondition.FindStringSubmatch(help); m != nil &&
					!strings.HasPrefix(m[1]+m[2], "an atom") {
					bound++
					mended = withCondition(text, analysis, d, m[1]+m[2])
				}
				if mended == "" {
					continue
				}
				_, after := frontend.Compile([]*source.File{source.NewFile("p.logic", mended)},
					frontend.Options{})
				for _, x := range after {
					if x.Code == d.Code && x.Message == d.Message && x.Span.Start == d.Span.Start {
						t.Errorf("%q does not help against: %s\n%s", help, d.Message, mended)
					}
				}
			}
		}
	}
	if declared < 20 || bound < 25 {
		t.Errorf("only %d declarations and %d conditions were followed", declared, bound)
	}
}

// withDeclaration returns a program with a declaration, in place of the one of
// the same predicate.
func withDeclaration(text string, a *frontend.Analysis, declaration string) string {
	name := regexp.MustCompile(`^[\pL\d_:$]+`).FindString(declaration)
	for _, c := range a.Trees[0].Clauses {
		is := c.Arrow == ast.Constraint &&
			regexp.MustCompile(`^`+regexp.QuoteMeta(name)+`[(\[]`).MatchString(c.Left.Pos().Text())
		if is {
			return text[:c.Span.Start] + declaration + text[c.Span.End:]
		}
	}
	return text + "\n" + declaration
}

// withCondition returns a program in which the body of the clause with a
// diagnostic, or the left side of a constraint, has one condition more.
func withCondition(
	text string, a *frontend.Analysis, d *diag.Diagnostic, condition string,
) string {
	for _, c := range a.Trees[0].Clauses {
		if d.Span.Start < c.Span.Start || c.Span.End < d.Span.End || c.Right == nil {
			continue
		}
		at := c.Right.Pos()
		if c.Arrow == ast.Constraint {
			at = c.Left.Pos()
		}
		return text[:at.Start] + "(" + text[at.Start:at.End] + "), " + condition + text[at.End:]
	}
	return ""
}
