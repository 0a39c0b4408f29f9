package sema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/sema/infer"
	"github.com/redfoxdb/redfox/frontend/source"
)

// TestTypesOfChainsTakeLinearSteps types chains of predicates without
// declarations that mix ints and decimals, one four times as long as the other.
func TestTypesOfChainsTakeLinearSteps(t *testing.T) {
	types := []string{"int", "decimal[18,2]"}
	for name, link := range map[string]func(i int) string{
		"a sum in each": func(i int) string {
			return fmt.Sprintf("p%d(x + 0.5) <- p%d(x). p%d(x) <- p%d(x).\n", i, i-1, i, i-1)
		},
		"declared types": func(i int) string {
			return fmt.Sprintf("e%d(x) -> %s(x). p%d(x) <- p%d(x). p%d(x) <- e%d(x).\n", i,
				types[i%2], i, i-1, i, i)
		},
		"in both directions": func(i int) string {
			text := fmt.Sprintf("p%d(x) <- p%d(x). p%d(x) <- p%d(x).\n", i, i-1, i-1, i)
			if i%50 == 0 {
				text += fmt.Sprintf("e%d(x) -> %s(x). p%d(x) <- e%d(x).\n", i,
					types[i/50%2], i, i)
			}
			return text
		},
	} {
		t.Run(name, func(t *testing.T) {
			short, long := stepsOf(t, 200, link), stepsOf(t, 800, link)
			if short == 0 || long > 6*short {
				t.Errorf("%d steps for 200 predicates, and %d for 800", short, long)
			}
		})
	}
}

func stepsOf(t *testing.T, n int, link func(i int) string) int {
	t.Helper()
	var text strings.Builder
	text.WriteString("p0(1).\n")
	for i := range n {
		text.WriteString(link(i + 1))
	}
	diags := &diag.List{}
	file := parse.File(source.NewFile("chain.logic", text.String()), diags)
	c := normalise([]*ast.File{file}, Options{}, diags)
	preds, clauses := c.inferred()
	infer.Solve(&c.types, preds, clauses, c.Reporter)
	if diags.HasErrors() {
		t.Fatalf("%v", diags.All()[0].Message)
	}
	return c.types.Steps()
}
