package lint

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// readmeLines bounds README.md, which is the front door and no manual.
const readmeLines = 160

// documents returns the pages for readers: those at the root and in docs.
func documents(t *testing.T) []string {
	var out []string
	for _, name := range files(t) {
		if dir := path.Dir(name); path.Ext(name) == ".md" && (dir == "." || dir == "docs") {
			out = append(out, name)
		}
	}
	for _, name := range []string{"README.md", "docs/language.md", "docs/running.md"} {
		if !slices.Contains(out, name) {
			t.Errorf("%s is missing", name)
		}
	}
	return out
}

// TestReadmeLength keeps the front door small.
func TestReadmeLength(t *testing.T) {
	if n := strings.Count(string(read(t, "README.md")), "\n"); n > readmeLines {
		t.Errorf("README.md has %d lines, at most %d; move the rest to docs", n, readmeLines)
	}
}

// requirement is a module that go.mod requires.
type requirement struct {
	Module   string
	Indirect bool
}

// requirements reads go.mod's require lines.
func requirements(t *testing.T) []requirement {
	t.Helper()
	line := regexp.MustCompile(`(?m)^(?:require )?\t?([a-z0-9.-]+\.[a-z]+/\S+) v\S+( // indirect)?$`)
	var out []requirement
	for _, m := range line.FindAllStringSubmatch(string(read(t, "go.mod")), -1) {
		out = append(out, requirement{Module: m[1], Indirect: m[2] != ""})
	}
	if len(out) == 0 {
		t.Fatal("go.mod: no require line found")
	}
	return out
}

// TestDependencies wants one entry in RATIONALE.md and one in the library table
// for every module that go.mod requires directly, and none for others.
func TestDependencies(t *testing.T) {
	rationale := string(read(t, "RATIONALE.md"))
	direct := map[string]bool{}
	for _, r := range requirements(t) {
		if r.Indirect {
			continue
		}
		direct[r.Module] = true
		if !strings.Contains(rationale, "`"+r.Module+"`") {
			t.Errorf("go.mod requires %s; RATIONALE.md does not say why", r.Module)
		}
		if _, ok := libraries[r.Module]; !ok {
			t.Errorf("go.mod requires %s, which is not in the library table", r.Module)
		}
	}
	for module := range libraries {
		if !direct[module] {
			t.Errorf("the library table lists %s, which go.mod does not require directly", module)
		}
	}
}

// TestDirectMeansImported compares go.mod's "// indirect" marks with the
// imports.
func TestDirectMeansImported(t *testing.T) {
	for _, r := range requirements(t) {
		imported := slices.ContainsFunc(ownFiles(t), func(f *goFile) bool {
			return slices.ContainsFunc(f.Imports(), func(p string) bool {
				return p == r.Module || strings.HasPrefix(p, r.Module+"/")
			})
		})
		if imported == r.Indirect {
			t.Errorf("go.mod: %s: indirect is %v but imported is %v; run go mod tidy", r.Module,
				r.Indirect, imported)
		}
	}
}

// codeBlocks returns the fenced blocks of a language in a document.
func codeBlocks(text, language string) []string {
	fence := regexp.MustCompile("(?ms)^```" + regexp.QuoteMeta(language) + "\n(.*?)^```$")
	var out []string
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// TestDocumentedCode wants every Go block of a document in an example test,
// word for word, so that it compiles and runs. Indentation does not count.
func TestDocumentedCode(t *testing.T) {
	var examples []string
	for _, f := range goFiles(t) {
		if f.Test() && strings.Contains(path.Base(f.Path), "example") {
			examples = append(examples, unindent(string(f.Text)))
		}
	}
	for _, name := range documents(t) {
		for _, block := range codeBlocks(string(read(t, name)), "go") {
			want := unindent(block)
			if !slices.ContainsFunc(examples, func(e string) bool {
				return strings.Contains(e, want)
			}) {
				t.Errorf("%s: this Go block is in no example test:\n%s", name, block)
			}
		}
	}
}

// unindent removes the indentation of every line.
func unindent(text string) string {
	return regexp.MustCompile(`(?m)^[ \t]+`).ReplaceAllString(text, "")
}

// fenced finds the code blocks of a document.
var fenced = regexp.MustCompile("(?ms)^```.*?^```$")

// TestLinks wants every relative link of a document, and every path of the tree
// that it quotes, to lead somewhere.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]+)(?:#[^)]*)?\)`)
	quoted := regexp.MustCompile("`((?:cmd|frontend|queryplan|harmony|weaver|runtime|internal|testdata|bench)(?:/[A-Za-z0-9_.-]+)+/?)`")
	for _, name := range documents(t) {
		text := fenced.ReplaceAllString(string(read(t, name)), "")
		var targets []string
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(m[1], "://") {
				targets = append(targets, path.Join(path.Dir(name), m[1]))
			}
		}
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			targets = append(targets, m[1])
		}
		for _, target := range targets {
			target = path.Clean(target)
			if !slices.ContainsFunc(files(t), func(f string) bool {
				return f == target || strings.HasPrefix(f, target+"/")
			}) {
				t.Errorf("%s: %s is not in the tree", name, target)
			}
		}
	}
}
