package starprog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Shrink drops parts of a program for as long as fails still says that the rest
// shows the failure: passes to leave out, outputs, constraints, rules,
// literals, aggregates, arguments, stored predicates, tables, rows and columns.
// The rest may be no valid program; fails must return false for it.
func Shrink(p *Program, fails func(*Program) bool) *Program {
	s := &shrinker{program: p, fails: fails}
	for before := ""; before != s.program.size(); {
		before = s.program.size()
		s.options()
		s.rules()
		s.literals()
		s.heads()
		s.rest()
		s.rows()
		s.columns()
	}
	return s.program
}

// size changes when anything is dropped.
func (p *Program) size() string {
	rows := 0
	for _, t := range p.Data.Tables {
		rows += len(t.Rows)*100 + len(t.Columns)
	}
	return fmt.Sprint(p.Text(), rows, p.Disable, p.NoFuse, p.Threads, len(p.Outputs),
		len(p.Data.Tables))
}

type shrinker struct {
	program *Program
	fails   func(*Program) bool
}

// try makes a change to a copy and keeps it if the copy fails.
func (s *shrinker) try(change func(*Program)) bool {
	q := s.program.clone()
	change(q)
	if !q.whole() || !s.fails(q) {
		return false
	}
	s.program = q
	return true
}

// whole says that all predicates that the program uses or answers are defined,
// and that the columns of stored ones are there.
func (p *Program) whole() bool {
	defined := map[*Pred]bool{}
	for _, s := range p.Stored {
		t := p.Data.Table(s.Table)
		if t == nil || slices.ContainsFunc(s.Columns, func(c string) bool {
			return t.column(c) < 0
		}) {
			return false
		}
		defined[s] = true
	}
	for _, r := range p.Rules {
		for _, h := range r.Heads {
			defined[h.Pred] = true
		}
	}
	for u := range p.used() {
		if !defined[u] {
			return false
		}
	}
	return len(p.Outputs) > 0 && !slices.ContainsFunc(p.Outputs,
		func(o *Pred) bool { return !defined[o] })
}

// dropFrom drops what it can of a list: halves, then quarters, and so on to
// single items (Zeller and Hildebrandt's delta debugging, without its
// complements).
func dropFrom[T any](s *shrinker, get func(*Program) *[]T) {
	for size := (len(*get(s.program)) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(*get(s.program)); {
			dropped := s.try(func(q *Program) {
				l := get(q)
				*l = slices.Delete(slices.Clone(*l), at, min(at+size, len(*l)))
			})
			if !dropped {
				at += size
			}
		}
	}
}

func (s *shrinker) options() {
	if s.program.NoFuse {
		s.try(func(q *Program) { q.NoFuse = false })
	}
	if s.program.Threads != 1 {
		s.try(func(q *Program) { q.Threads = 1 })
	}
	dropFrom(s, func(q *Program) *[]uint64 { return &q.Disable })
	dropFrom(s, func(q *Program) *[]*Pred { return &q.Outputs })
	for i := range s.program.Outputs {
		if o := s.program.Outputs[i]; len(o.OrderBy) > 0 || o.Limit > 0 {
			s.replace(o, func(p *Pred) { p.OrderBy, p.Limit = nil, 0 })
		}
	}
}

// replace puts a changed predicate where another one stood.
func (s *shrinker) replace(old *Pred, change func(*Pred)) bool {
	p := *old
	change(&p)
	return s.try(func(q *Program) {
		for i := range q.Outputs {
			if q.Outputs[i] == old {
				q.Outputs[i] = &p
			}
		}
		for _, r := range q.Rules {
			for i := range r.Heads {
				if r.Heads[i].Pred == old {
					r.Heads[i].Pred = &p
				}
			}
		}
	})
}

func (s *shrinker) rules() {
	dropFrom(s, func(q *Program) *[]Constraint { return &q.Constraints })
	dropFrom(s, func(q *Program) *[]Rule { return &q.Rules })
}

func (s *shrinker) literals() {
	for i := range s.program.Rules {
		dropFrom(s, func(q *Program) *[]Literal { return &q.Rules[i].Body })
		for j := range s.program.Rules[i].Body {
			if inner := s.program.Rules[i].Body[j]; len(inner.Body) > 1 {
				dropFrom(s, func(q *Program) *[]Literal { return &q.Rules[i].Body[j].Body })
			}
		}
		s.simplify(i)
	}
	for i := range s.program.Constraints {
		dropFrom(s, func(q *Program) *[]Literal { return &q.Constraints[i].Body })
	}
}

// simplify puts a wildcard where a variable of an atom stands.
func (s *shrinker) simplify(rule int) {
	for j := range s.program.Rules[rule].Body {
		l := s.program.Rules[rule].Body[j]
		if l.Kind != Atom || s.program.Rules[rule].Seq {
			continue
		}
		for a := range l.Args {
			if l.Args[a].Kind == Wildcard {
				continue
			}
			s.try(func(q *Program) {
				args := slices.Clone(q.Rules[rule].Body[j].Args)
				args[a] = &Expr{Kind: Wildcard, Type: args[a].Type}
				q.Rules[rule].Body[j].Args = args
			})
		}
	}
}

// heads drops heads, aggregates, and arguments of the query.
func (s *shrinker) heads() {
	for i := range s.program.Rules {
		if len(s.program.Rules[i].Heads) > 1 {
			dropFrom(s, func(q *Program) *[]Head { return &q.Rules[i].Heads })
			dropFrom(s, func(q *Program) *[]Agg { return &q.Rules[i].Aggs })
		}
	}
	for i := 0; i < len(s.program.Rules); i++ {
		r := s.program.Rules[i]
		if len(r.Heads) != 1 || r.Seq || r.Heads[0].Pred.Name != "_" ||
			len(r.Heads[0].Pred.OrderBy) > 0 {
			continue
		}
		for a := 0; a < len(s.program.Rules[i].Heads[0].Args) &&
			len(s.program.Rules[i].Heads[0].Args) > 1; {
			if !s.argument(i, a) {
				a++
			}
		}
	}
}

// argument drops one argument of a rule's head, if the predicate is the query.
func (s *shrinker) argument(rule, at int) bool {
	old := s.program.Rules[rule].Heads[0].Pred
	p := *old
	p.Args = slices.Delete(slices.Clone(p.Args), at, at+1)
	if at < p.Keys {
		p.Keys--
	}
	return s.try(func(q *Program) {
		h := &q.Rules[rule].Heads[0]
		h.Pred, h.Args = &p, slices.Delete(slices.Clone(h.Args), at, at+1)
		for i := range q.Outputs {
			if q.Outputs[i] == old {
				q.Outputs[i] = &p
			}
		}
	})
}

// rest drops stored predicates and tables that nothing needs.
func (s *shrinker) rest() {
	dropFrom(s, func(q *Program) *[]*Pred { return &q.Stored })
	dropFrom(s, func(q *Program) *[]*Table { return &q.Data.Tables })
	for i := range s.program.Data.Tables {
		if s.program.Data.Tables[i].Storage == Parquet {
			s.try(func(q *Program) { q.Data.Tables[i].Storage = CSV })
		}
	}
}

func (s *shrinker) rows() {
	for i := range s.program.Data.Tables {
		dropFrom(s, func(q *Program) *[][]Cell { return &q.Data.Tables[i].Rows })
	}
}

// columns drops columns that no stored predicate has.
func (s *shrinker) columns() {
	for i := range s.program.Data.Tables {
		for c := 0; c < len(s.program.Data.Tables[i].Columns); {
			dropped := s.try(func(q *Program) {
				t := q.Data.Tables[i]
				for r, row := range t.Rows {
					if r == 0 {
						t.Rows = slices.Clone(t.Rows)
					}
					t.Rows[r] = slices.Delete(slices.Clone(row), c, c+1)
				}
				t.Columns = slices.Delete(slices.Clone(t.Columns), c, c+1)
			})
			if !dropped {
				c++
			}
		}
	}
}

// Show writes the program, its data and what is not by default as text to
// paste.
func (p *Program) Show() string {
	var b strings.Builder
	b.WriteString("program.logic:\n" + p.Text())
	for _, t := range p.Data.Tables {
		kind := map[Storage]string{Parquet: "Parquet", CSV: "CSV",
			CSVPerPredicate: "a CSV file for each predicate"}[t.Storage]
		fmt.Fprintf(&b, "\n%s (%s):\n", t.Name, kind)
		names := list.Map(t.Columns, func(c Column) string { return c.Name })
		b.WriteString(strings.Join(names, ",") + "\n")
		for _, row := range t.Rows {
			fields := make([]string, len(row))
			for i, cell := range row {
				if !cell.Missing {
					fields[i] = scalar.Format(cell.Value)
				}
			}
			b.WriteString(strings.Join(fields, ",") + "\n")
		}
	}
	return b.String()
}
