package parts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/irtext"
	"github.com/redfoxdb/redfox/queryplan/segments"
)

// Explain describes, for people, how the pieces of a plan are evaluated that do
// not fit the memory.
func Explain(p *queryplan.Plan) string {
	var b strings.Builder
	cuts := segments.Cut(p)
	for i, piece := range cuts.Pieces {
		var fills []string
		for _, c := range piece.Commands {
			v := queryplan.CommandVar(c)
			if _, clears := c.(*queryplan.Clear); v == nil || clears {
				continue
			}
			if name := irtext.QuoteName(v.Name); !slices.Contains(fills, name) {
				fills = append(fills, name)
			}
		}
		if len(fills) == 0 {
			continue
		}
		name := strings.Join(fills, ", ")
		if ways := OfPlan(cuts.Segment(i, i+1).Plan).Ways; len(ways) > 0 {
			fmt.Fprintf(&b, "%s: by parts of the values of %s\n", name, namesOf(ways))
			continue
		}
		rounds := ""
		if len(piece.Loops) > 0 {
			rounds = "round by round, "
		}
		fmt.Fprintf(&b, "%s: %scommand by command\n", name, rounds)
		for _, c := range piece.Commands {
			n := queryplan.CommandNode(c)
			if n == nil {
				continue
			}
			about := queryplan.CommandVar(c)
			if about == nil {
				about = &queryplan.Var{Name: "a constraint", Cols: n.Columns()}
			}
			by := "in steps"
			if ways := OfTree(about, n, source.Span{}).Ways; len(ways) > 0 {
				by = "by parts of the values of " + namesOf(ways)
			}
			fmt.Fprintf(&b, "  %s: %s\n", irtext.QuoteName(about.Name), by)
		}
	}
	return b.String()
}

// ExplainRows describes, for people, which pieces of a plan can be divided by
// the rows of a table, and why others cannot. What every part computes for
// itself is said to be each.
func ExplainRows(p *queryplan.Plan, stored func(*queryplan.Var) Stored, each string) string {
	var b strings.Builder
	cuts := segments.Cut(p)
	all, _ := ByRows(p, 2, stored)
	for i, piece := range cuts.Pieces {
		r, why := all, ""
		if r == nil {
			r, why = ByRows(cuts.Segment(i, i+1).Plan, 2, stored)
		}
		seen := map[*queryplan.Var]bool{}
		for _, c := range piece.Commands {
			c, ok := c.(*queryplan.Insert)
			if !ok || seen[c.Var] {
				continue
			}
			seen[c.Var] = true
			how := "as a whole, as " + why
			switch {
			case r == nil:
			case slices.Contains(r.Both, c.Var.Name):
				how = each
			default:
				how = "by rows of " + irtext.QuoteName(r.Of.Name)
			}
			fmt.Fprintf(&b, "%s: %s\n", irtext.QuoteName(c.Var.Name), how)
		}
	}
	return b.String()
}

// namesOf lists the columns of ways, each once.
func namesOf(ways []*Way) string {
	var out []string
	for _, name := range list.Map(ways, func(w *Way) string { return irtext.QuoteColumn(w.Name) }) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}
