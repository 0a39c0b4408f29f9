package lint

import (
	"go/scanner"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// apart lists pairs of folders, with all below them, whose code must not be the
// same for mostEqual lines: what both need belongs into a package that both
// import.
var apart = []struct{ One, Other string }{
	{"runtime/native", "runtime/gpu"},
	{"queryplan", "harmony"},
	{"runtime/portable", "harmony"},
}

// mostEqual is the number of equal lines in succession that is too many. Blank
// lines, comments and imports do not count.
const mostEqual = 12

// TestEqualLines compares the folders of apart.
func TestEqualLines(t *testing.T) {
	for _, pair := range apart {
		one, other := codeBelow(t, pair.One), codeBelow(t, pair.Other)
		if len(one) == 0 || len(other) == 0 {
			t.Errorf("no code below %s or %s; change the table of folders", pair.One, pair.Other)
		}
		for _, run := range equalRuns(one, other) {
			t.Errorf("%s:%d: %d lines or more are those from %s:%d on; share them",
				run.a.file, run.a.line, mostEqual, run.b.file, run.b.line)
		}
	}
}

// TestEqualRuns has equalRuns find a run that comments and layout hide.
func TestEqualRuns(t *testing.T) {
	body := strings.Repeat("x++\n", mostEqual-1)
	code := func(body string) [][]codeLine {
		return [][]codeLine{codeLines("f.go", []byte("package p\nfunc f() {\n"+body+"return\n"))}
	}
	hidden := code("y++\n" + strings.ReplaceAll(body, "x++\n", "\n\tx++ // a comment\n"))
	got := equalRuns(code("z++\n"+body), hidden)
	if len(got) != 1 || got[0].a.line != 4 || got[0].b.line != 5 {
		t.Errorf("got %v, want one run from line 4 and line 5 on", got)
	}
	shorter := strings.TrimPrefix(body, "x++\n")
	if got := equalRuns(code("z++\n"+shorter), code("y++\n"+shorter)); len(got) != 0 {
		t.Errorf("got %v for a run of %d lines", got, mostEqual-1)
	}
}

// codeLine is a line without its comment and the space around it.
type codeLine struct {
	file string
	line int
	text string
}

// codeBelow returns the code of each file of a folder and of those below it.
func codeBelow(t *testing.T, folder string) (all [][]codeLine) {
	for _, f := range ownFiles(t) {
		if (f.Package() == folder || strings.HasPrefix(f.Path, folder+"/")) && !f.Test() {
			all = append(all, codeLines(f.Path, f.Text))
		}
	}
	return all
}

// codeLines returns the lines of a file that have code, from behind its imports
// on.
func codeLines(file string, text []byte) (lines []codeLine) {
	files := token.NewFileSet()
	f := files.AddFile(file, -1, len(text))
	var s scanner.Scanner
	s.Init(f, text, nil, 0)
	first := []token.Token{token.FUNC, token.TYPE, token.VAR, token.CONST}
	began := false
	for {
		pos, tok, literal := s.Scan()
		began = began || slices.Contains(first, tok)
		switch {
		case tok == token.EOF:
			return lines
		case !began || tok == token.SEMICOLON && literal == "\n":
			continue
		case literal == "":
			literal = tok.String()
		}
		at := f.Line(pos)
		if n := len(lines); n > 0 && lines[n-1].line == at {
			lines[n-1].text += " " + literal
			continue
		}
		lines = append(lines, codeLine{file, at, literal})
	}
}

// equalRun is where equal lines begin.
type equalRun struct{ a, b codeLine }

// equalRuns finds runs of mostEqual lines that two lists of files have in
// common, of those that overlap the first.
func equalRuns(one, other [][]codeLine) (runs []equalRun) {
	key := func(lines []codeLine) string {
		var b strings.Builder
		for _, l := range lines[:mostEqual] {
			b.WriteString(l.text + "\n")
		}
		return b.String()
	}
	known := map[string]codeLine{}
	for _, lines := range other {
		for i := 0; i+mostEqual <= len(lines); i++ {
			known[key(lines[i:])] = lines[i]
		}
	}
	for _, lines := range one {
		last := -2
		for i := 0; i+mostEqual <= len(lines); i++ {
			b, equal := known[key(lines[i:])]
			if equal && last != i-1 {
				runs = append(runs, equalRun{lines[i], b})
			}
			if equal {
				last = i
			}
		}
	}
	return runs
}
