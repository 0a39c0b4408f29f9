package sema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/sema"
	"github.com/redfoxdb/redfox/frontend/source"
)

// largeProgram has about the given number of lines, in groups of ten that use
// what earlier groups derive, half of it undeclared.
func largeProgram(lines int) string {
	var b strings.Builder
	for i := range lines / 10 {
		prev := max(i-1, 0)
		fmt.Fprintf(&b, "edge%d(x, y) -> int(x), int(y).\n", i)
		fmt.Fprintf(&b, "edge%d(%d, %d).\n", i, i, i+1)
		fmt.Fprintf(&b, "name%d[x] = s -> int(x), string(s).\n", i)
		fmt.Fprintf(&b, "path%d(x, y) <- edge%d(x, y).\n", i, i)
		fmt.Fprintf(&b, "path%d(x, z) <- path%d(x, y), edge%d(y, z), x != z.\n", i, i, i)
		fmt.Fprintf(&b, "step%d(x, y + 1) <- path%d(x, y), !edge%d(x, y), step%d(_, y), y < 100.\n",
			i, i,
			prev, prev)
		fmt.Fprintf(&b, "step%d(0, %d).\n", i, i)
		fmt.Fprintf(&b, "label%d[x] = name%d[x] + \"-\" + name%d[x + 1] <- path%d(x, _).\n", i, i,
			prev,
			i)
		fmt.Fprintf(&b, "count%d[x] = n <- agg<<n = count()>> step%d(x, _).\n", i, i)
		fmt.Fprintf(&b,
			"big%d(s), small%d(x) <- label%d[x] = s, 1 <= count%d[x] < 10 ; count%d[x] = 20, s = \"none\".\n", i, i, i, i, i)
	}
	return b.String()
}

// BenchmarkCheck measures semantic analysis alone, at sizes that show whether
// it is linear.
func BenchmarkCheck(b *testing.B) {
	for _, lines := range []int{1250, 5000, 20000} {
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			file := source.NewFile("large.logic", largeProgram(lines))
			var list diag.List
			tree := parse.File(file, &list)
			for b.Loop() {
				found := list
				if sema.Check([]*ast.File{tree}, sema.Options{}, &found) == nil {
					b.Fatalf("refused: %s", found.All()[0].Message)
				}
			}
		})
	}
}
