package queryplan

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestText runs testdata/text: "plan" parses, verifies and prints a plan, which
// has to come back unchanged; "tree" shows the form for people.
func TestText(t *testing.T) {
	datadriven.RunTest(t, "testdata/text", func(t *testing.T, d *datadriven.TestData) string {
		p, err := Parse("test.plan", d.Input)
		if err != nil {
			return err.Error() + "\n"
		}
		if err := Verify(p); err != nil {
			return "verify: " + err.Error() + "\n"
		}
		text := p.String()
		again, err := Parse("again.plan", text)
		if err != nil {
			t.Fatalf("the printed text does not parse: %v\n%s", err, text)
		}
		if !EqualPlan(p, again) || again.String() != text {
			t.Errorf("the plan changes when it is printed and parsed:\n%s\n%s", text, again)
		}
		if c := Clone(p); !EqualPlan(p, c) || c.String() != text {
			t.Errorf("the clone differs:\n%s\n%s", text, c)
		}
		if d.Cmd == "tree" {
			return p.Tree(func(x any) string {
				if s, ok := x.(*Scan); ok && d.HasArg("note") {
					return "(" + s.Var.Kind.String() + ")"
				}
				return ""
			})
		}
		return text
	})
}

// TestSyntaxErrors runs testdata/errors: each plan fails, in parsing or in
// verification.
func TestSyntaxErrors(t *testing.T) {
	datadriven.RunTest(t, "testdata/errors", func(t *testing.T, d *datadriven.TestData) string {
		p, err := Parse("test.plan", d.Input)
		if err == nil {
			err = Verify(p)
		}
		if err == nil {
			t.Fatalf("%s: no error", d.Pos)
		}
		return err.Error() + "\n"
	})
}

// FuzzParse holds that no text makes the parser or the verifier panic and that
// what parses is printed to text that parses to the same.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"testdata/text", "testdata/errors"} {
		datadriven.RunTestAny(f, file, func(_ testing.TB, d *datadriven.TestData) string {
			f.Add(d.Input)
			return d.Expected
		})
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse("fuzz.plan", text)
		if err != nil {
			if _, ok := err.(*SyntaxError); !ok || !strings.HasPrefix(err.Error(), "fuzz.plan:") {
				t.Fatalf("not a syntax error: %v", err)
			}
			return
		}
		valid := Verify(p) == nil
		printed := p.String()
		again, err := Parse("printed.plan", printed)
		if err != nil {
			t.Fatalf("%v\n%s", err, printed)
		}
		if !EqualPlan(p, again) {
			t.Fatalf("changed:\n%s\n%s", printed, again)
		}
		if (Verify(again) == nil) != valid {
			t.Fatalf("verification changed:\n%s", printed)
		}
		_ = p.Tree(nil)
	})
}
