package randprog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Program is a program and the facts bound to it from outside.
type Program struct {
	Seed    uint64
	Clauses []string // each with its full stop
	Facts   []Fact
	Tables  []Table
	Twins   [][2]string // pairs of predicates that have the same tuples
	// Terms is about entities that show as terms. It is no part of the text:
	// numbers stand for such entities in plans, and differ from run to run.
	Terms struct {
		Clauses []string
		Facts   []Fact
	}
}

// WithTerms returns the program with predicates of entities that show as terms,
// and facts that name entities by their terms.
func (p *Program) WithTerms() *Program {
	q := *p
	q.Clauses = slices.Concat(p.Clauses, p.Terms.Clauses)
	q.Facts = slices.Concat(p.Facts, p.Terms.Facts)
	return &q
}

// Table is a file of named columns, for the predicates NAME:* whose arguments
// are columns of it.
type Table struct {
	Name    string
	Columns []string
}

// Fact is one tuple of a predicate or row of a table, as text fields without
// escapes: no field has a tab, a newline, a backslash or, in a table, a comma
// or a quote.
type Fact struct {
	Pred   string
	Fields []string
}

// Text returns the program, a clause a line.
func (p *Program) Text() string { return strings.Join(p.Clauses, "\n") + "\n" }

// FactFiles returns the facts by file: PRED.tsv without a header for
// predicates, and TABLE.csv with one for tables.
func (p *Program) FactFiles() map[string]string {
	out := map[string]string{}
	tables := map[string]bool{}
	for _, t := range p.Tables {
		tables[t.Name] = true
		out[t.Name+".csv"] = strings.Join(t.Columns, ",") + "\n"
	}
	for _, f := range p.Facts {
		if tables[f.Pred] {
			out[f.Pred+".csv"] += strings.Join(f.Fields, ",") + "\n"
		} else {
			out[f.Pred+".tsv"] += strings.Join(f.Fields, "\t") + "\n"
		}
	}
	return out
}

// Write makes a folder of program.logic and facts, as testdata/programs has
// them.
func (p *Program) Write(dir string) error {
	facts := filepath.Join(dir, "facts")
	if err := os.MkdirAll(facts, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "program.logic"), []byte(p.Text()),
		0o666); err != nil {
		return err
	}
	for name, text := range p.FactFiles() {
		if err := os.WriteFile(filepath.Join(facts, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// Shrink drops tables, clauses and facts for as long as fails still says that
// the rest shows the failure. It tries to drop half of them at once, then
// quarters, and so on to single ones, until none can be spared (Zeller and
// Hildebrandt's delta debugging, without its complements). What is left of a
// program may well be none that the front end accepts; fails then has to say
// false.
func Shrink(p *Program, fails func(*Program) bool) *Program {
	size := func(p *Program) int { return len(p.Tables) + len(p.Clauses) + len(p.Facts) }
	for {
		smaller := *p
		smaller.Tables = shrinkList(smaller.Tables, func(rest []Table) bool {
			q := smaller
			q.Tables = rest
			return fails(&q)
		})
		smaller.Clauses = shrinkList(smaller.Clauses, func(rest []string) bool {
			q := smaller
			q.Clauses = rest
			return fails(&q)
		})
		smaller.Facts = shrinkList(smaller.Facts, func(rest []Fact) bool {
			q := smaller
			q.Facts = rest
			return fails(&q)
		})
		if size(&smaller) == size(p) {
			return &smaller
		}
		p = &smaller
	}
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
