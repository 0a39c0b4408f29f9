package parse_test

import (
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
)

// TestNestingIsLimited checks both sides of each limit.
func TestNestingIsLimited(t *testing.T) {
	nested := func(open, inside, closing string) func(int) string {
		return func(n int) string {
			return "p(x) <- " + strings.Repeat(open, n) + inside + strings.Repeat(closing, n) +
				".\n"
		}
	}
	for _, test := range []struct {
		name    string
		program func(n int) string
		limit   int
	}{
		{"parentheses", nested("(", "q(x)", ")"), 199},
		{"negations", nested("!", "q(x)", ""), 199},
		{"arguments", nested("f[", "x", "]"), 200},
		{"signs", nested("x = 1 - (", "x", ")"), 200},
		{"minus signs", nested("-", "x", ""), 200},
		{"attributes", nested("q(x) { ", "r[] = 1", " }"), 199},
		{"clause literals", nested("q(`{ r(x) <- ", "s(x)", ". })"), 99},
		{"powers", nested("2 ^ ", "x", ""), 200},
		{"sums", nested("x + ", "x", ""), 1000},
		{"products", nested("x / ", "x", ""), 1000},
	} {
		t.Run(test.name, func(t *testing.T) {
			file, diags := parseText(test.program(test.limit))
			if len(diags) > 0 {
				t.Fatalf("%d are refused:\n%s", test.limit, rendered(t, diags))
			}
			checkFormat(t, file)
			_, diags = parseText(test.program(test.limit + 1))
			if len(diags) != 1 || diags[0].Code != diag.NestingTooDeep {
				t.Errorf("%d get\n%s", test.limit+1, rendered(t, diags))
			}
		})
	}
}

// TestLongInputs parses text that is long in one way, which must neither
// exhaust the stack nor take time that grows with the square of the length.
func TestLongInputs(t *testing.T) {
	const n = 20_000
	for _, part := range []string{
		"(", ")", "[", "{", "}", "`{", "`{.", "{.", "!", "-", "+", "x^", "1+", "a,", "a;", "p(",
		"f[",
		"x=", "p(x) <- ", "<- ",
		"seq<<", "agg<<", "series<< x >>", "\"\n", "\"\"\"", "# \n", "#1", "/*", "//", "`", "x\n",
		"f(\nx\n", ".", "..", "p(1).", "p(x)\n", "\x00", "\xff ",
		"a:", ":", "'", "x /* c */ ", "// c\n", "x{", "@", "+p", "\\", "\"a\" ", "not ", "?", "é",
		"1e",
		"q(`{a(1).}) ",
	} {
		file, diags := parseText(strings.Repeat(part, n/len(part)))
		rendered(t, diags[:min(len(diags), 3)])
		if len(diags) == 0 {
			ast.Format(file)
		}
	}
	for _, program := range []string{
		"p(" + strings.Repeat("x, ", n) + "x).",
		"p(x) <- " + strings.Repeat("q(x), ", n) + "q(x).",
		"p(x) <- " + strings.Repeat("q(x); ", n) + "q(x).",
		"p(x) <- " + strings.Repeat("x < ", n) + "x.",
		"p(x) <- q(x) " + strings.Repeat("/* c */ /* d */\n", n) + ".",
		"g(`{" + strings.Repeat("p(1). // c\n", n) + "}).",
	} {
		file, diags := parseText(program)
		if len(diags) > 0 {
			t.Fatal(rendered(t, diags))
		}
		ast.Format(file)
	}
}
