package frontend_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/short"
)

// lexeme is a word, a string, a space, a comment or a sign, more or less as the
// lexer cuts them.
var lexeme = regexp.MustCompile(`(?s)//[^\n]*|"(?:[^"\\]|\\.)*"|[?$\pL\d_:]+|\s+|<-|->|<<|>>|.`)

// made matches the names that the front end makes up. Programs have no number
// sign, and no dollar sign before these words or at the end of a word.
var made = regexp.MustCompile(`_made\d|[a-z]#\d|\$\d|\$(range|wanted|keys|made|number|last|most|y|c\d*)\b`)

// TestErrorsHavePlaces drops, swaps and repeats parts of the programs of
// testdata. Every error has a place within the file, and no message shows a
// name that the front end makes up.
func TestErrorsHavePlaces(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"../testdata/programs/*/program.logic",
		"../testdata/transactions/*/program.logic"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no programs in %s: %v", pattern, err)
		}
		paths = append(paths, found...)
	}
	refused := 0
	for n, path := range short.Part(t, paths, "programs") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(uint64(n), 1))
		for range 60 {
			changed := mutate(r, string(text))
			file := source.NewFile("program.logic", changed)
			program, found := compileChanged(t, file, changed)
			if program == nil {
				refused++
			}
			for _, d := range found {
				if d.Severity == diag.Error && !isWithin(d.Span, file, len(changed)) {
					t.Errorf("%s: no place within the file: %v\n%s", path, d, changed)
				}
				if text := wordsOf(d); made.MatchString(text) && !made.MatchString(changed) {
					t.Errorf("%s: a made-up name in %q of\n%s", path, text, changed)
				}
			}
		}
	}
	if refused == 0 {
		t.Error("no changed program is refused")
	}
}

// wordsOf returns what a diagnostic says.
func wordsOf(d *diag.Diagnostic) string {
	out := d.Message + "\n" + d.At
	for _, l := range d.Labels {
		out += "\n" + l.Message
	}
	return out + "\n" + strings.Join(slices.Concat(d.Notes, d.Helps), "\n")
}

func isWithin(s source.Span, file *source.File, size int) bool {
	return s.IsValid() && s.File == file && 0 <= s.Start && s.Start <= s.End && s.End <= size
}

// mutate drops a part of a text, swaps two parts, or repeats a clause.
func mutate(r *rand.Rand, text string) string {
	parts := lexeme.FindAllString(text, -1)
	i, j := r.IntN(len(parts)), r.IntN(len(parts))
	switch r.IntN(3) {
	case 0:
		parts = slices.Delete(parts, i, i+1)
	case 1:
		parts[i], parts[j] = parts[j], parts[i]
	default:
		end := i
		for end < len(parts) && parts[end] != "." {
			end++
		}
		parts = slices.Concat(parts[:end], parts[i:end], parts[end:])
	}
	out := ""
	for _, p := range parts {
		out += p
	}
	return out
}

// compileChanged compiles a program, and shows it if that panics.
func compileChanged(t *testing.T, file *source.File, text string) (*core.Program,
	[]*diag.Diagnostic) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("panic: %v\n%s", r, text)
		}
	}()
	return frontend.Compile([]*source.File{file}, frontend.Options{})
}
