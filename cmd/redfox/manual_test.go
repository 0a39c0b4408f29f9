package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// languagePage is the page that explains the language.
const languagePage = "../../docs/language.md"

// languageSection returns the part of the language page below a heading.
func languageSection(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile(languagePage)
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("the language page has no chapter %s", heading)
	}
	part, _, _ := strings.Cut(after, "\n## ")
	return part
}

// codeSpan is code in a line of Markdown. It may have single backquotes inside
// double ones.
var codeSpan = regexp.MustCompile("``(.+?)``|`([^`]+)`")

// TestTranslations checks the examples of the chapters for users of other
// languages. The clauses in the second column of a chapter's table and its
// program block are one program.
func TestTranslations(t *testing.T) {
	for _, language := range []string{"Soufflé", "Prolog"} {
		part := languageSection(t, "Coming from "+language)
		_, program, _ := strings.Cut(part, "```logiql\n")
		program, _, _ = strings.Cut(program, "```\n")
		clauses := 0
		for line := range strings.Lines(part) {
			cells := strings.Split(strings.TrimSpace(line), " | ")
			if !strings.HasPrefix(line, "| `") && !strings.HasPrefix(line, "| a") &&
				!strings.HasPrefix(line, "| the") || len(cells) != 2 {
				continue
			}
			for _, m := range codeSpan.FindAllStringSubmatch(cells[1], -1) {
				if code := m[1] + m[2]; strings.HasSuffix(code, ".") {
					program += code + "\n"
					clauses++
				}
			}
		}
		file := write(t, t.TempDir(), "translation.logic", program)
		o := finish(t, redfoxProcess(t, ".", "check", file))
		if o.code != 0 || strings.Contains(o.stdout, "error") || clauses < 10 {
			t.Errorf("%s, with %d clauses:\n%s\n%s", language, clauses, program, o)
		}
	}
}

// TestConstructs checks the lists of supported and of refused constructs: each
// has a test that shows it, and each refusal that a test shows is listed.
func TestConstructs(t *testing.T) {
	supported, refused, ok := strings.Cut(languageSection(t, "Constructs"), "refused by name:\n")
	if !ok {
		t.Fatal("there is no list of refused constructs")
	}
	for line := range strings.Lines(supported) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| construct") &&
			!strings.Contains(line, "](../testdata/programs/") {
			t.Errorf("no program shows it: %s", line)
		}
	}
	found, err := filepath.Glob("../../testdata/refused/*/expected.err")
	if err != nil {
		t.Fatal(err)
	}
	unsupported := regexp.MustCompile(`\[RF090[12]\]`)
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Base(filepath.Dir(path))
		listed := strings.Contains(refused, "](../testdata/refused/"+folder+")")
		if unsupported.Match(text) != listed {
			t.Errorf("the message of %s names an unsupported construct: %v; it is listed: %v",
				folder, !listed, listed)
		}
	}
}

// TestLinks checks that the files and headings to which documents link exist.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	program := regexp.MustCompile("(?ms)^```.*?^```$")
	for _, name := range documents(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		prose := codeSpan.ReplaceAllString(program.ReplaceAllString(string(text), ""), "code")
		for _, m := range link.FindAllStringSubmatch(prose, -1) {
			target, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			path := name
			if target != "" {
				path = filepath.Join(filepath.Dir(name), target)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			} else if heading != "" && !hasHeading(t, path, heading) {
				t.Errorf("%s links to %s, which has no such heading", name, m[1])
			}
		}
	}
}

// hasHeading reports whether a document has a heading of that anchor.
func hasHeading(t *testing.T, path, anchor string) bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dropped := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for line := range strings.Lines(string(text)) {
		title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		title = dropped.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
		if strings.ReplaceAll(title, " ", "-") == anchor {
			return true
		}
	}
	return false
}
