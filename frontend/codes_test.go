package frontend_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// compile compiles one program and verifies what comes out.
func compile(t testing.TB, text string) (*core.Program, []*diag.Diagnostic) {
	t.Helper()
	program, found := frontend.Compile([]*source.File{source.NewFile("program.logic", text)},
		frontend.Options{})
	hasError := false
	for _, d := range found {
		hasError = hasError || d.Severity == diag.Error
	}
	if hasError != (program == nil) {
		t.Fatalf("program is %v, but has errors: %t", program, hasError)
	}
	if program != nil {
		if err := core.Verify(program); err != nil {
			t.Fatalf("core: %v\n%s", err, program)
		}
	}
	return program, found
}

// TestCodes compiles the example of every code of semantic analysis and expects
// that code and no other.
func TestCodes(t *testing.T) {
	n := 0
	for _, code := range diag.Codes() {
		if code.ID < "RF0100" || code.ID >= "RF1000" {
			continue
		}
		n++
		t.Run(code.ID+" "+code.Name, func(t *testing.T) {
			if code.When == "" || code.Fix == "" || code.Example == "" {
				t.Fatalf("the code is not documented")
			}
			_, found := compile(t, code.Example)
			if len(found) == 0 {
				t.Fatalf("no diagnostic for\n%s", code.Example)
			}
			for _, d := range found {
				if d.Code != code {
					t.Errorf("got %s %s: %s", d.Code.ID, d.Code.Name, d.Message)
				}
			}
		})
	}
	if n < 40 {
		t.Errorf("only %d codes of semantic analysis", n)
	}
}

// TestMended compiles the mended example of each code, which has no error, and
// no diagnostic of the code. A clause in the advice is one of its clauses.
func TestMended(t *testing.T) {
	span := regexp.MustCompile("`` (.+?) ``|`([^`]+)`")
	for _, code := range diag.Codes() {
		text := code.Mended()
		if (text != "") != (code.ID < "RF1000") {
			t.Errorf("%s: has a mended example: %t", code.ID, text != "")
		}
		if text == "" || text == code.Example {
			continue
		}
		program, found := compile(t, text)
		if program == nil {
			t.Errorf("%s: %s\n%s", code.ID, found[0].Message, text)
		}
		for _, d := range found {
			if d.Code == code {
				t.Errorf("%s: %s\n%s", code.ID, d.Message, text)
			}
		}
		for _, m := range span.FindAllStringSubmatch(code.Fix, -1) {
			clause := m[1] + m[2]
			if strings.HasSuffix(clause, ".") && !strings.Contains(text, clause) {
				t.Errorf("%s: %s is not in\n%s", code.ID, clause, text)
			}
		}
	}
}
