package randprog

import (
	"os"
	"path/filepath"
	"strings"
)

// Program is a program and the facts bound to it from outside.
type Program struct {
	Seed    uint64
	Clauses []string // each with its full stop
	Facts   []Fact
}

// Fact is one tuple of a predicate, as text fields without escapes: no field
// has a tab, a newline or a backslash.
type Fact struct {
	Pred   string
	Fields []string
}

// Text returns the program, a clause a line.
func (p *Program) Text() string { return strings.Join(p.Clauses, "\n") + "\n" }

// FactFiles returns the facts as TSV by predicate, in the order of Facts.
func (p *Program) FactFiles() map[string]string {
	out := map[string]string{}
	for _, f := range p.Facts {
		out[f.Pred] += strings.Join(f.Fields, "\t") + "\n"
	}
	return out
}

// Write makes a folder of program.logic and facts/PRED.tsv, as testdata/programs
// has them.
func (p *Program) Write(dir string) error {
	facts := filepath.Join(dir, "facts")
	if err := os.MkdirAll(facts, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "program.logic"), []byte(p.Text()), 0o666); err != nil {
		return err
	}
	for pred, text := range p.FactFiles() {
		if err := os.WriteFile(filepath.Join(facts, pred+".tsv"), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// Shrink drops clauses and facts for as long as fails still says that the rest
// shows the failure. It tries to drop half of them at once, then quarters, and
// so on to single ones, until none can be spared (Zeller and Hildebrandt's
// delta debugging, without its complements). What is left of a program may well
// be none that the front end accepts; fails then has to say false.
func Shrink(p *Program, fails func(*Program) bool) *Program {
	for {
		smaller := shrinkFacts(shrinkClauses(p, fails), fails)
		if len(smaller.Clauses) == len(p.Clauses) && len(smaller.Facts) == len(p.Facts) {
			return smaller
		}
		p = smaller
	}
}

func shrinkClauses(p *Program, fails func(*Program) bool) *Program {
	clauses := shrinkList(p.Clauses, func(rest []string) bool {
		return fails(&Program{Seed: p.Seed, Clauses: rest, Facts: p.Facts})
	})
	return &Program{Seed: p.Seed, Clauses: clauses, Facts: p.Facts}
}

func shrinkFacts(p *Program, fails func(*Program) bool) *Program {
	facts := shrinkList(p.Facts, func(rest []Fact) bool {
		return fails(&Program{Seed: p.Seed, Clauses: p.Clauses, Facts: rest})
	})
	return &Program{Seed: p.Seed, Clauses: p.Clauses, Facts: facts}
}

func shrinkList[T any](list []T, fails func(rest []T) bool) []T {
	for size := (len(list) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(list); {
			end := min(at+size, len(list))
			rest := append(append([]T(nil), list[:at]...), list[end:]...)
			if fails(rest) {
				list = rest
			} else {
				at = end
			}
		}
	}
	return list
}
