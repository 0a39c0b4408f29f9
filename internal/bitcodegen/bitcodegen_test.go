package bitcodegen

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSize counts what the documents promise of the whole program.
func TestSize(t *testing.T) {
	clause, path := regexp.MustCompile(`\.\n`), regexp.MustCompile("filePath")
	clauses, files := 0, 0
	for _, f := range Program(Kinds) {
		clauses += len(clause.FindAllString(f.Text, -1))
		files += len(path.FindAllString(f.Text, -1))
	}
	if clauses != 4000 || files != 400 {
		t.Errorf("%d clauses and %d file predicates", clauses, files)
	}
	facts, empty := 0, 0
	for _, f := range Facts(Kinds, Instructions, 1) {
		facts += strings.Count(f.Text, "\n")
		if f.Text == "" {
			empty++
		}
	}
	if facts < 350_000 || facts > 390_000 || empty < 50 {
		t.Errorf("%d facts, %d empty files", facts, empty)
	}
}

// TestSame wants the same facts of the same seed, and others of another.
func TestSame(t *testing.T) {
	one, two, other := Facts(5, 500, 1), Facts(5, 500, 1), Facts(5, 500, 2)
	if !slices.Equal(one, two) {
		t.Error("the same seed gives two sets of facts")
	}
	if slices.Equal(one, other) {
		t.Error("two seeds give the same facts")
	}
}
