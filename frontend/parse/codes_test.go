package parse_test

import (
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/diag"
)

// TestExamplesGetTheirCode parses the example of every code of the scanner and
// the parser and expects that code and no other.
func TestExamplesGetTheirCode(t *testing.T) {
	n := 0
	for _, code := range diag.Codes() {
		if !strings.HasPrefix(code.ID, "RF00") {
			continue
		}
		n++
		t.Run(code.ID+" "+code.Name, func(t *testing.T) {
			if code.When == "" || code.Example == "" || code.Fix == "" {
				t.Error("code is not documented")
			}
			_, diags := parseText(code.Example)
			if len(diags) == 0 {
				t.Errorf("example is accepted:\n%s", code.Example)
			}
			for _, d := range diags {
				if d.Code != code {
					t.Errorf("example gets %s:\n%s", d.Code.ID, rendered(t, diags))
				}
			}
		})
	}
	if n == 0 {
		t.Error("there are no codes of syntax")
	}
}
