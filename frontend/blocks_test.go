package frontend_test

import (
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/reference/randprog"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// TestBlocksOnlyName spreads the clauses of random programs over files. Some
// files are blocks with a name, and the predicates of all get the same names,
// x0 and _x0 and so on. The answers must be those of the program in one file.
func TestBlocksOnlyName(t *testing.T) {
	compared := 0
	for seed := range uint64(150) {
		p := randprog.New(seed)
		flat, _ := frontend.Compile(
			[]*source.File{source.NewFile("program.logic", p.Text())}, frontend.Options{})
		if flat == nil || len(p.Tables) > 0 {
			continue
		}
		dir := t.TempDir()
		if err := p.Write(dir); err != nil {
			t.Fatal(err)
		}
		facts, err := oracle.ReadFacts(dir+"/facts", flat)
		if err != nil {
			t.Fatal(err)
		}
		s := spread(p.Text(), rand.New(rand.NewSource(int64(seed))))
		program, found := frontend.Compile(s.files, frontend.Options{})
		if program == nil {
			t.Fatalf("seed %d: %s\n%s", seed, firstError(found), s)
		}
		renamed := oracle.Facts{}
		for name, tuples := range facts {
			renamed[s.resolved(t, program, name)] = tuples
		}
		want, err := oracle.RunBounded(flat, facts, maxSteps)
		got, spreadErr := oracle.RunBounded(program, renamed, maxSteps)
		if errors.Is(err, oracle.ErrTooLarge) || errors.Is(spreadErr, oracle.ErrTooLarge) {
			continue
		}
		if (err == nil) != (spreadErr == nil) {
			t.Fatalf("seed %d: %v in files, %v in one\n%s", seed, spreadErr, err, s)
		}
		if err != nil {
			continue
		}
		compared++
		if len(got.Violations) != len(want.Violations) {
			t.Errorf("seed %d: %d violations, want %d\n%s", seed, len(got.Violations),
				len(want.Violations), s)
		}
		for _, pred := range flat.Preds {
			if pred.Hidden || !pred.Exported {
				continue
			}
			name := s.resolved(t, program, pred.Name)
			if text := oracle.TSV(want.Tuples[pred.Name]); oracle.TSV(got.Tuples[name]) != text {
				t.Errorf("seed %d, %s as %s: got\n%s\nwant\n%s\n%s", seed, pred.Name, name,
					oracle.TSV(got.Tuples[name]), text, s)
			}
		}
	}
	if compared < 60 {
		t.Errorf("only %d programs compared", compared)
	}
}

// spreadProgram is a program in several files.
type spreadProgram struct {
	files []*source.File
	home  map[string]int    // the file of each predicate of the program in one
	local map[string]string // its name there
	named []bool            // whether the file is a block clause
}

func (s *spreadProgram) String() string {
	var b strings.Builder
	for _, f := range s.files {
		fmt.Fprintf(&b, "%s:\n%s\n", f.Name, f.Text)
	}
	return b.String()
}

// resolved returns the name of a predicate in the spread program.
func (s *spreadProgram) resolved(t *testing.T, p *core.Program, name string) string {
	local, ok := s.local[name]
	if !ok {
		return name // a query
	}
	full := fmt.Sprintf("b%d:%s", s.home[name], local)
	for _, want := range []string{full, local} {
		if slices.ContainsFunc(p.Preds, func(q *core.Pred) bool { return q.Name == want }) {
			return want
		}
	}
	t.Fatalf("no predicate is %s, for %s\n%s", full, name, s)
	return ""
}

// own returns the part of a name that a file chooses: person of person:id.
func own(name string) (string, bool) {
	isQuery := name[0] == '_' && strings.Trim(name[1:], "0123456789") == ""
	if isQuery || strings.HasPrefix(name, "lang:") || scalar.IsBuiltin(name) ||
		scalar.IsPrimitive(name) {
		return "", false
	}
	name, _, _ = strings.Cut(name, ":")
	return name, true
}

// spread puts each clause into the file of the first predicate that it names.
func spread(text string, r *rand.Rand) *spreadProgram {
	tree := parse.File(source.NewFile("program.logic", text), &diag.List{})
	s := &spreadProgram{home: map[string]int{}, local: map[string]string{}}
	for range 2 + r.Intn(3) {
		s.named = append(s.named, r.Intn(2) == 0)
	}
	firsts := map[string]int{}
	homeOf := func(c *ast.Clause) int {
		file := -1
		ast.EachName(c, func(_ source.Span, name string) {
			if name, ok := own(name); ok && file < 0 {
				if _, ok := firsts[name]; !ok {
					firsts[name] = r.Intn(len(s.named))
				}
				file = firsts[name]
			}
		})
		// A block has a clause of each of its predicates.
		ast.EachName(c, func(at source.Span, name string) {
			name, ok := own(name)
			inHead := c.Left != nil && at.End <= c.Left.Pos().End
			if _, known := firsts[name]; ok && inHead && !known {
				firsts[name] = max(file, 0)
			}
		})
		return max(file, 0)
	}
	numbers := make([]int, len(s.named))
	bases := map[string]string{}
	enter := func(name string, file int) {
		base, ok := own(name)
		if !ok || s.local[name] != "" {
			return
		}
		if bases[base] == "" {
			if first, ok := firsts[base]; ok {
				file = first
			}
			firsts[base] = file
			bases[base] = fmt.Sprintf("x%d", numbers[file])
			if numbers[file]++; !s.named[file] {
				bases[base] = "_" + bases[base]
			}
		}
		s.home[name] = firsts[base]
		s.local[name] = bases[base] + strings.TrimPrefix(name, base)
	}
	for _, c := range tree.Clauses {
		homeOf(c)
	}
	texts := make([]string, len(s.named))
	for _, c := range tree.Clauses {
		file := homeOf(c)
		clause, at := "", c.Span.Start
		var edits []edit
		ast.EachName(c, func(span source.Span, name string) {
			enter(name, file)
			local, ok := s.local[name]
			if !ok {
				return
			}
			if span.Text()[0] == '`' {
				span.Start++
			}
			if s.home[name] != file {
				local = fmt.Sprintf("$b%d:%s", s.home[name], local)
			}
			edits = append(edits, edit{span, local})
		})
		slices.SortFunc(edits, func(a, b edit) int { return a.at.Start - b.at.Start })
		for _, e := range edits {
			clause += text[at:e.at.Start] + e.text
			at = e.at.End
		}
		texts[file] += clause + text[at:c.Span.End] + "\n"
	}
	for i, text := range texts {
		if s.named[i] {
			text = fmt.Sprintf("block(`b%d) { clauses(`{\n%s}) } <-- .\n", i, text)
		}
		s.files = append(s.files, source.NewFile(fmt.Sprintf("dir/b%d.logic", i), text))
	}
	return s
}

// edit replaces a name.
type edit struct {
	at   source.Span
	text string
}

// firstError returns the message of the first error.
func firstError(found []*diag.Diagnostic) string {
	for _, d := range found {
		if d.Severity == diag.Error {
			return d.Message
		}
	}
	return "no error"
}
