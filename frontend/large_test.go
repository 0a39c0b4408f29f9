package frontend_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// largeProgram makes a program of n files with about 144 lines each. All files
// have private predicates of the same names; each second one is a block that
// uses what another one exports.
func largeProgram(n int) []*source.File {
	var out []*source.File
	for i := range n {
		var b strings.Builder
		if i%2 == 1 {
			fmt.Fprintf(&b, "block(`m%d) {\n  alias_all(`m%d),\n  export(`{ out%d(x, y) -> int(x), "+
				"int(y). }),\n  clauses(`{\n", i, (i+2)%n, i)
		}
		b.WriteString("_e(x, y) -> int(x), int(y).\n")
		for k := range 35 {
			fmt.Fprintf(&b, `// part %[2]d
_p%[2]d(x, z) <- _e(x, y), _e(y, z), x < %[2]d.
_q%[2]d[x] = n <- agg<<n = count()>> _p%[2]d(x, _).
r%[1]d_%[2]d(x, n) <- _q%[2]d[x] = n, n > 1 ; _p%[2]d(x, n), !_e(n, x).
`, i, k)
		}
		if i%2 == 1 {
			fmt.Fprintf(&b, "out%d(x, y) <- _p1(x, y).\nout%d(x, y) <- out%d(x, y), _e(y, x).\n",
				i, i, (i+2)%n)
			b.WriteString("  })\n} <-- .\n")
		}
		out = append(out, source.NewFile(fmt.Sprintf("m%d.logic", i), b.String()))
	}
	return out
}

// TestLargeProgram compiles a program of many files without a finding.
func TestLargeProgram(t *testing.T) {
	program, found := frontend.Compile(largeProgram(20), frontend.Options{})
	for _, d := range found {
		if d.Severity == diag.Error {
			t.Errorf("%s: %s", d.Span.File.Name, d.Message)
		}
	}
	if program == nil {
		t.Fatal("the program is refused")
	}
	derived := 0
	for _, p := range program.Preds {
		if p.Derived && !p.Hidden {
			derived++
		}
	}
	if want := 20*35*3 + 10; derived != want {
		t.Errorf("%d derived predicates, want %d", derived, want)
	}
}

// BenchmarkLargeProgram checks 140 files of 20,160 lines in all.
func BenchmarkLargeProgram(b *testing.B) {
	files := largeProgram(140)
	b.ReportAllocs()
	for b.Loop() {
		if program, _ := frontend.Compile(files, frontend.Options{}); program == nil {
			b.Fatal("the program is refused")
		}
	}
}
