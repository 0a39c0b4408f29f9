package lint

import (
	"bytes"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// maxLines is the length at which a Go file has certainly two subjects.
const maxLines = 900

// TestPackageDocuments wants a doc.go in every package, and in it a comment
// that opens as godoc expects and says what the package must keep apart from.
func TestPackageDocuments(t *testing.T) {
	for _, pkg := range packages(t) {
		name := path.Join(pkg, "doc.go")
		i := slices.IndexFunc(goFiles(t), func(f *goFile) bool { return f.Path == name })
		if i < 0 {
			t.Errorf("package %s has no doc.go", pkg)
			continue
		}
		f := goFiles(t)[i]
		if f.Syntax.Doc == nil {
			t.Errorf("%s: no package comment", name)
			continue
		}
		comment := f.Syntax.Doc.Text()
		opening := "Package " + f.Syntax.Name.Name + " "
		if f.Syntax.Name.Name == "main" {
			opening = "Command " + path.Base(pkg) + " "
		}
		if !strings.HasPrefix(comment, opening) &&
			!strings.HasPrefix(comment, "The "+path.Base(pkg)+" command ") {
			t.Errorf("%s: the package comment does not start with %q", name, opening)
		}
		if !strings.Contains(comment, "import") {
			t.Errorf("%s: the package comment does not say what the package imports or must not import", name)
		}
	}
}

// TestOnePackageComment keeps the package comment in doc.go alone.
func TestOnePackageComment(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.Syntax.Doc != nil && path.Base(f.Path) != "doc.go" && !f.Test() {
			t.Errorf("%s: the package comment belongs into doc.go", f.Path)
		}
	}
}

// TestFormatted wants every file as gofmt leaves it.
func TestFormatted(t *testing.T) {
	for _, f := range goFiles(t) {
		want, err := format.Source(f.Text)
		if err != nil {
			t.Errorf("%s: %v", f.Path, err)
		} else if !bytes.Equal(want, f.Text) {
			t.Errorf("%s: is not formatted; run gofmt -w", f.Path)
		}
	}
}

// TestFileLength bounds the length of a Go file.
func TestFileLength(t *testing.T) {
	for _, f := range goFiles(t) {
		if n := bytes.Count(f.Text, []byte("\n")); n > maxLines {
			t.Errorf("%s: %d lines; split it by subject (at most %d)", f.Path, n, maxLines)
		}
	}
}

// TestPackageNames refuses names that say nothing.
func TestPackageNames(t *testing.T) {
	for _, f := range goFiles(t) {
		name := strings.TrimSuffix(f.Syntax.Name.Name, "_test")
		if slices.Contains([]string{"util", "utils", "common", "types", "helpers", "misc", "base"},
			name) {
			t.Errorf("%s: the package name %s does not say what the package is for", f.Path, name)
		}
	}
}

// TestExportedDocuments wants a comment on everything that is exported. The
// methods that Go's own interfaces name explain themselves.
func TestExportedDocuments(t *testing.T) {
	for _, pkg := range packages(t) {
		var syntax []*ast.File
		for _, f := range goFiles(t) {
			if f.Package() == pkg && !f.Test() && f.Syntax.Name.Name != "main" {
				// The package doc drops what is not exported from the trees
				// that it gets.
				own, err := parser.ParseFile(position, f.Path, f.Text,
					parser.ParseComments|parser.SkipObjectResolution)
				if err != nil {
					t.Fatal(err)
				}
				syntax = append(syntax, own)
			}
		}
		if len(syntax) == 0 {
			continue
		}
		p, err := doc.NewFromFiles(position, syntax, path.Join(modulePath, pkg))
		if err != nil {
			t.Errorf("%s: %v", pkg, err)
			continue
		}
		complain := func(pos token.Pos, what string) {
			at := position.Position(pos)
			t.Errorf("%s:%d: exported %s has no comment", at.Filename, at.Line, what)
		}
		functions := func(list []*doc.Func) {
			for _, fn := range list {
				if fn.Doc == "" {
					complain(fn.Decl.Pos(), fn.Name)
				}
			}
		}
		values := func(list []*doc.Value) {
			for _, v := range list {
				if v.Doc == "" && !commented(v.Decl) {
					complain(v.Decl.Pos(), strings.Join(v.Names, ", "))
				}
			}
		}
		functions(p.Funcs)
		values(p.Consts)
		values(p.Vars)
		for _, typ := range p.Types {
			if typ.Doc == "" {
				complain(typ.Decl.Pos(), typ.Name)
			}
			functions(typ.Funcs)
			functions(typ.Methods)
			values(typ.Consts)
			values(typ.Vars)
		}
	}
}

// commented reports whether every specification of a group has its own comment.
func commented(decl *ast.GenDecl) bool {
	for _, spec := range decl.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || v.Doc == nil && v.Comment == nil {
			return false
		}
	}
	return true
}

// foreignWords are words that no file of the project holds: marks of work that
// is not done, paths of one machine, and talk about how the text came to be
// instead of what it says. Each has a text in lower case that stands in every
// file with the word, as a search for a text is much faster than one for a
// pattern.
var foreignWords = []struct {
	text string
	word *regexp.Regexp
}{
	{"todo", regexp.MustCompile(`\bTODO\b`)},
	{"fixme", regexp.MustCompile(`\bFIXME\b`)},
	{"xxx", regexp.MustCompile(`\bXXX\b`)},
	{"hack", regexp.MustCompile(`\bHACK\b`)},
	{"notimplemented", regexp.MustCompile(`\bNotImplemented\b`)},
	{"not implemented", regexp.MustCompile(`\bnot implemented yet\b`)},
	{"/work/", regexp.MustCompile(`(?i)/work/`)},
	{"/root/", regexp.MustCompile(`(?i)/root/`)},
	{"/home/", regexp.MustCompile(`(?i)/home/[a-z]`)},
	{"/tmp/", regexp.MustCompile(`(?i)/tmp/[a-z]`)},
	{"chatgpt", regexp.MustCompile(`(?i)\bchatgpt\b`)},
	{"claude", regexp.MustCompile(`(?i)\bclaude\b`)},
	{"copilot", regexp.MustCompile(`(?i)\bcopilot\b`)},
	{"ai-", regexp.MustCompile(`(?i)\bAI-(generated|assistant|agent)`)},
	{"ai ", regexp.MustCompile(`(?i)\bAI (generated|assistant|agent)`)},
	{"language model", regexp.MustCompile(`(?i)\blanguage model\b`)},
	{"as requested", regexp.MustCompile(`(?i)\bas requested\b`)},
	{"the brief", regexp.MustCompile(`(?i)\bthe brief\b`)},
	{"issue", regexp.MustCompile(`(?i)\bissue #?[0-9]`)},
}

// findForeign returns where foreign words stand in a text.
func findForeign(text []byte) (found [][]int) {
	lower := bytes.ToLower(text)
	for _, w := range foreignWords {
		if bytes.Contains(lower, []byte(w.text)) {
			found = append(found, w.word.FindAllIndex(text, -1)...)
		}
	}
	return found
}

// TestWords looks for those words in every text file.
func TestWords(t *testing.T) {
	for _, name := range files(t) {
		if name == "internal/lint/house_test.go" || strings.Contains(name, "testdata/fuzz/") ||
			!isText(name) {
			continue
		}
		text := read(t, name)
		for _, at := range findForeign(text) {
			t.Errorf("%s:%d: %q does not belong here", name,
				1+bytes.Count(text[:at[0]], []byte("\n")), text[at[0]:at[1]])
		}
	}
}

// TestText wants UTF-8, a line break at the end, and no blanks before one.
// Golden files hold what a program prints, so theirs are not looked at.
func TestText(t *testing.T) {
	for _, name := range files(t) {
		if !isText(name) || slices.Contains(strings.Split(name, "/"), "testdata") ||
			path.Ext(name) == ".sum" {
			continue
		}
		text := read(t, name)
		switch {
		case len(text) == 0:
			t.Errorf("%s: is empty", name)
			continue
		case !utf8.Valid(text):
			t.Errorf("%s: is not UTF-8", name)
		case text[len(text)-1] != '\n':
			t.Errorf("%s: does not end in a line break", name)
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			if len(bytes.TrimRight(line, " \t\r")) != len(line) {
				t.Errorf("%s:%d: blanks at the end of the line", name, i+1)
			}
		}
	}
}

// The width of lines of Go, in columns. A tab is four.
const (
	codeColumns    = 100
	commentColumns = 80
)

// TestColumns holds lines of Go to their width. String literals do not count:
// texts are easier to read and to search whole. A word that is wider than a
// line of comment stands alone in it.
func TestColumns(t *testing.T) {
	for _, f := range ownFiles(t) {
		for i, line := range strings.Split(string(withoutStrings(f.Text)), "\n") {
			code := strings.TrimLeft(line, "\t")
			columns := 4*(len(line)-len(code)) + utf8.RuneCountInString(code)
			comment, only := strings.CutPrefix(code, "// ")
			switch {
			case only && columns > commentColumns && strings.Contains(comment, " ") &&
				!strings.HasPrefix(comment, " "):
				t.Errorf("%s:%d: a comment of %d columns, of %d", f.Path, i+1, columns, commentColumns)
			case !only && columns > codeColumns:
				t.Errorf("%s:%d: %d columns, of %d", f.Path, i+1, columns, codeColumns)
			}
		}
	}
}

// withoutStrings returns Go text whose string literals are empty. Lines stay.
func withoutStrings(text []byte) []byte {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, text, nil, scanner.ScanComments)
	var out []byte
	last := 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return append(out, text[last:]...)
		}
		if tok != token.STRING {
			continue
		}
		at := file.Offset(pos)
		out = append(out, text[last:at]...)
		for range strings.Count(lit, "\n") {
			out = append(out, '\n')
		}
		last = at + len(lit)
	}
}

// clumsy is what comments do not say: a clause that stands for the subject, and
// a word that is misspelt.
var clumsy = regexp.MustCompile(`(?i:\bcan not\b)|^(?:That|What|Who|Of|As) [a-z]`)

// TestComments looks at the beginning of each comment.
func TestComments(t *testing.T) {
	for _, f := range ownFiles(t) {
		for _, group := range f.Syntax.Comments {
			for _, paragraph := range strings.Split(group.Text(), "\n\n") {
				found := clumsy.FindString(paragraph)
				if found == "" || found[:2] == "Of" && strings.HasPrefix(paragraph, "Of returns ") ||
					found[:2] == "Of" && strings.HasPrefix(paragraph, "Of is ") {
					continue
				}
				t.Errorf("%s: a comment says %q: begin with the subject; cannot is one word",
					position.Position(group.Pos()), found)
			}
		}
	}
}

// TestCommentsOfDeclarations wants the comment of a function or a type to begin
// with its name, or with a sentence: a comment about another name was left
// behind, or lost its first line.
func TestCommentsOfDeclarations(t *testing.T) {
	check := func(name string, group *ast.CommentGroup) {
		first, _ := utf8.DecodeRuneInString(group.Text())
		if group != nil && unicode.IsLower(first) && !strings.HasPrefix(group.Text(), name) {
			t.Errorf("%s: the comment of %s does not begin with its name",
				position.Position(group.Pos()), name)
		}
	}
	for _, f := range ownFiles(t) {
		for _, decl := range f.Syntax.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				check(decl.Name.Name, decl.Doc)
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok && len(decl.Specs) == 1 {
						check(spec.Name.Name, decl.Doc)
					} else if ok {
						check(spec.Name.Name, spec.Doc)
					}
				}
			}
		}
	}
}

// isText reports whether a file holds text of ours, by its name.
func isText(name string) bool {
	switch path.Ext(name) {
	case ".go", ".md", ".mod", ".logic", ".plan", ".sh", ".py", ".yml", ".yaml":
		return true
	}
	return slices.Contains([]string{"Makefile", ".ci/run", "LICENSE", ".gitignore"}, name)
}

// TestCheckFindsWhatItLooksFor guards the patterns themselves: each finds its
// example and leaves plain prose alone.
func TestCheckFindsWhatItLooksFor(t *testing.T) {
	for _, bad := range []string{"// TODO: later", "see /home/me/x", "as in issue #12",
		"by an AI assistant", "NotImplemented"} {
		if len(findForeign([]byte(bad))) == 0 {
			t.Errorf("%q passes", bad)
		}
	}
	for _, good := range []string{"todo(x) <- next(x).", "a session keeps columns",
		"the run issues one command"} {
		for _, at := range findForeign([]byte(good)) {
			t.Errorf("%q is found in %q", good[at[0]:at[1]], good)
		}
	}
}
