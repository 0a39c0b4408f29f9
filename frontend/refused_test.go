package frontend_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/diag"
)

var rewrite = flag.Bool("rewrite", false, "write expected.err of the refused programs anew")

// TestRefused compiles the programs of testdata/refused, which must be refused
// with exactly the diagnostics in expected.err.
func TestRefused(t *testing.T) {
	programs, err := filepath.Glob("../testdata/refused/*/program.logic")
	if err != nil {
		t.Fatal(err)
	}
	if len(programs) < 40 {
		t.Fatalf("only %d programs in testdata/refused", len(programs))
	}
	for _, path := range programs {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			program, found := compile(t, string(text))
			if program != nil {
				t.Fatalf("the program is accepted:\n%s", program)
			}
			var got strings.Builder
			if err := diag.Render(&got, found, diag.RenderOptions{}); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join(dir, "expected.err")
			if *rewrite {
				if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got.String(), want)
			}
		})
	}
}
