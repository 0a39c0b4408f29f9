package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneDocument runs commands with --json and checks that what they say is
// one array of diagnostics, whatever happens, and that nothing else is on the
// stream.
func TestOneDocument(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"good.logic":    "p(1).\n_(x) <- p(x).\n",
		"warned.logic":  "p(1).\n_(x) <- p(x), y = x.\n",
		"wrong.logic":   "p(x) <- q(x, y.\n",
		"violate.logic": "p(1).\n_(x) <- p(x), y = x.\np(x) -> x > 1.\n",
		"key.logic":     "p(1, 2). p(1, 3).\nf[x] = y <- p(x, y), z = y.\n_(x) <- f[x] = _.\n",
		"facts.logic":   "p(x) -> int(x).\n_(x) <- p(x).\n",
		"dropped.logic": "p(x) -> decimal[18,0](x).\n_(x) <- p(y), x = y + 1d.\n",
		"long.logic":    "p(0).\np(y) <- p(x), y = x + 1, y < 90.\n_(x) <- p(x).\n",
		"facts/p.tsv":   "1\nx\n",
		"large/p.tsv":   "9223372036854775807\n",
		"broken.rfx":    "nothing",
		"broken.plan":   "nothing\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		line  string
		code  int
		names string // of the diagnostics, "-" for a note without name
	}{
		{"run good.logic", 0, ""},
		{"run warned.logic", 0, "SingleOccurrence"},
		{"run wrong.logic", 1, "UnbalancedBracket"},
		{"run violate.logic", 1, "SingleOccurrence ConstraintViolated"},
		{"run violate.logic --print p --format tsv", 1, "SingleOccurrence ConstraintViolated"},
		{"run key.logic", 1, "SingleOccurrence KeyConflict"},
		{"run facts.logic", 0, "-"},
		{"run facts.logic --facts facts", 1, "BadFacts"},
		{"run facts.logic --facts facts --on-error skip", 0, "-"},
		{"run facts.logic --facts none", 2, "Usage"},
		{"run dropped.logic --facts large", 0, "-"},
		{"run long.logic --print p --format table --limit 3", 0, ""},
		{"run warned.logic --engine cpu", 2, "SingleOccurrence Environment"},
		{"run warned.logic --timeout 1ns", 2, "Environment"},
		{"run warned.logic --out warned.logic/x", 2, "SingleOccurrence Environment"},
		{"run missing.logic", 2, "Environment"},
		{"run good.logic --fcats facts", 2, "Usage"},
		{"run good.logic --limit x", 2, "Usage"},
		{"run good.logic --stats", 2, "Usage"},
		{"run", 2, "Usage"},
		{"rnu good.logic", 2, "Usage"},
		{"run broken.rfx", 2, "Environment"},
		{"check good.logic", 0, ""},
		{"check warned.logic", 0, "SingleOccurrence"},
		{"check wrong.logic", 1, "UnbalancedBracket"},
		{"check missing.logic", 2, "Environment"},
		{"check good.logic --fcats", 2, "Usage"},
		{"check broken.plan", 2, "Environment"},
		{"check", 2, "Usage"},
		{"compile good.logic", 0, ""},
		{"compile warned.logic --emit core", 0, "SingleOccurrence"},
		{"compile warned.logic --emit asm", 2, "SingleOccurrence Environment"},
		{"compile wrong.logic -o out.rfx", 1, "UnbalancedBracket"},
		{"explain warned.logic", 0, "SingleOccurrence"},
		{"explain warned.logic --run", 0, "SingleOccurrence"},
		{"explain violate.logic --run", 1, "SingleOccurrence ConstraintViolated"},
		{"explain RF0101", 0, ""},
		{"explain RF9999", 2, "Usage"},
		{"fmt good.logic", 0, ""},
		{"fmt wrong.logic", 1, "UnbalancedBracket"},
		{"fmt missing.logic", 2, "Environment"},
	} {
		t.Run(test.line, func(t *testing.T) {
			o := finish(t, redfoxProcess(t, dir, append(strings.Fields(test.line), "--json")...))
			text := o.stderr
			if strings.HasPrefix(test.line, "check") {
				text = o.stdout
				if o.stderr != "" {
					t.Errorf("standard error has\n%s", o.stderr)
				}
			}
			var found []struct {
				Severity, Name, Message string
			}
			if err := json.Unmarshal([]byte(text), &found); err != nil {
				t.Fatalf("not one document: %v\n%s", err, text)
			}
			var names []string
			for _, d := range found {
				if d.Message == "" {
					t.Errorf("no message in\n%s", text)
				}
				if d.Name == "" {
					d.Name = "-"
				}
				names = append(names, d.Name)
			}
			if got := strings.Join(names, " "); got != test.names || o.code != test.code {
				t.Errorf("got %q and exit code %d, want %q and %d\n%s", got, o.code, test.names,
					test.code, text)
			}
		})
	}
}

// TestInternalErrorsAreDocuments checks what a bug of ours looks like to a
// machine.
func TestInternalErrorsAreDocuments(t *testing.T) {
	args := []string{"redfox", "run", "a b.logic", "--json"}
	ds := diagnosticsOf(recovered("index out of range"), args)
	if len(ds) != 1 || ds[0].Code.Name != "Internal" ||
		!strings.Contains(ds[0].Message, "index out of range") ||
		!strings.HasSuffix(ds[0].Helps[0], "REDFOX_DEBUG=1 redfox run 'a b.logic' --json") {
		t.Errorf("got %+v", ds)
	}
	t.Setenv(debugVariable, "1")
	ds = diagnosticsOf(recovered("index out of range"), args)
	if len(ds) != 1 || !strings.Contains(ds[0].Notes[0], "stack:\n") {
		t.Errorf("got %+v", ds)
	}
}
