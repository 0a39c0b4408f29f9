package parts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/queryplan"
)

// TestParts runs testdata: the input is a plan. "plan" prints the ways of the
// plan, and what each of its leaves is called; "tree" those of its first
// command; "rows" the plans of two parts of rows and of their merge; "explain"
// what is said to people. Plans of jobs are valid.
func TestParts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p, err := queryplan.Parse("test.plan", d.Input)
			if err == nil {
				err = queryplan.Verify(p)
			}
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			before := p.String()
			var out string
			switch d.Cmd {
			case "explain":
				out = Explain(p)
			case "rows":
				out = rowsShown(t, d, p)
			case "plan":
				out = shown(t, d, OfPlan(p))
			case "tree":
				c := p.Blocks[0].Cmds[0]
				out = shown(t, d,
					OfTree(queryplan.CommandVar(c), queryplan.CommandNode(c), source.Span{}))
			}
			if p.String() != before {
				d.Fatalf(t, "the plan has changed")
			}
			return out
		})
	})
}

// rowsShown prints how a plan is divided by the rows of its first table, or why
// it is not.
func rowsShown(t *testing.T, d *datadriven.TestData, p *queryplan.Plan) string {
	r, why := ByRows(p, 2, func(v *queryplan.Var) Stored {
		return Stored{Table: v.Source, Derived: strings.HasPrefix(v.Source, " ")}
	})
	if r == nil {
		return why + "\n"
	}
	for _, half := range []*queryplan.Plan{r.Part, r.Merge} {
		if err := queryplan.Verify(half); err != nil {
			d.Fatalf(t, "%v\n%s", err, half)
		}
	}
	return fmt.Sprintf("by %s\n%s--\n%s", r.Of.Name, r.Part, r.Merge)
}

// shown prints a job, whose plan must be valid and can be read again.
func shown(t *testing.T, d *datadriven.TestData, j *Job) string {
	if err := queryplan.Verify(j.Plan); err != nil {
		d.Fatalf(t, "%v\n%s", err, j.Plan)
	}
	text := j.Plan.String()
	again, err := queryplan.Parse("again.plan", text)
	if err != nil || again.String() != text {
		d.Fatalf(t, "%v\n%s", err, text)
	}
	if len(j.Ways) == 0 {
		return "no way\n" + text
	}
	return j.String() + text
}
