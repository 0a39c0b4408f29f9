package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// modulePath is the module that all rules are about.
const modulePath = "github.com/redfoxdb/redfox"

// root is the folder of go.mod, seen from this package.
const root = "../.."

// goFile is one parsed Go file of the module.
type goFile struct {
	Path   string // from the root, with slashes
	Text   []byte
	Syntax *ast.File
}

// Package returns the folder, "." for the root package.
func (f *goFile) Package() string { return path.Dir(f.Path) }

// Test reports whether the file is a test's.
func (f *goFile) Test() bool { return strings.HasSuffix(f.Path, "_test.go") }

// Imports returns the import paths of the file, in text order.
func (f *goFile) Imports() []string {
	var out []string
	for _, spec := range f.Syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			out = append(out, p)
		}
	}
	return out
}

// position is the file set of all parsed files.
var position = token.NewFileSet()

// listFiles returns the module's files, sorted, without git's own, without
// bench/data, which git ignores, and without folders that Go ignores.
var listFiles = sync.OnceValues(func() ([]string, error) {
	var out []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == ".git" || rel == "bench/data" || strings.HasPrefix(path.Base(rel), "_") {
				return filepath.SkipDir
			}
			return nil
		}
		out = append(out, rel)
		return nil
	})
	slices.Sort(out)
	return out, err
})

// files returns listFiles' result.
func files(t *testing.T) []string {
	t.Helper()
	out, err := listFiles()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// read returns the text of a file of the module.
func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// parseFiles parses every Go file of the module that is not in a testdata
// folder.
var parseFiles = sync.OnceValues(func() ([]*goFile, error) {
	names, err := listFiles()
	if err != nil {
		return nil, err
	}
	var out []*goFile
	for _, name := range names {
		if path.Ext(name) != ".go" || slices.Contains(strings.Split(name, "/"), "testdata") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		syntax, err := parser.ParseFile(position, name, text,
			parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		out = append(out, &goFile{Path: name, Text: text, Syntax: syntax})
	}
	return out, nil
})

// goFiles returns parseFiles' result.
func goFiles(t *testing.T) []*goFile {
	t.Helper()
	out, err := parseFiles()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// nestedModules returns the folders of further modules in the tree. The rules
// of text and documentation hold for them; what they import is their own
// affair.
func nestedModules(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, name := range files(t) {
		if path.Base(name) == "go.mod" && name != "go.mod" {
			out = append(out, path.Dir(name))
		}
	}
	return out
}

// ownFiles returns goFiles without those of nested modules.
func ownFiles(t *testing.T) []*goFile {
	t.Helper()
	nested := nestedModules(t)
	return slices.DeleteFunc(slices.Clone(goFiles(t)), func(f *goFile) bool {
		return slices.ContainsFunc(nested, func(m string) bool {
			return strings.HasPrefix(f.Path, m+"/")
		})
	})
}

// packages returns the folders that hold Go files, sorted.
func packages(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, f := range goFiles(t) {
		out = append(out, f.Package())
	}
	slices.Sort(out)
	return slices.Compact(out)
}
