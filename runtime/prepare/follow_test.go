package prepare

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/harmony/ranges"
	"github.com/redfoxdb/redfox/internal/reference/harmonyref"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/store"
)

// follower holds what the reference computes, value by value, against the
// domains, data and ranges of a program, as code that works on words would see
// them.
type follower struct {
	t       *testing.T
	name    string
	p       *harmony.Program
	domains *domain.Domains
	data    *Data
	ranges  []*ranges.Ranges
	homes   map[*harmony.Reg]home
	seen    map[string]int // how often each kind of thing was checked
	values  int            // of registers, so far
}

// maxValues bounds a run: a program with other constants than its own may have
// no end.
const maxValues = 100_000

var errTooLong = errors.New("too long")

// home is the column that a register is a value of.
type home struct {
	v   harmony.Managed
	col int
}

// follow binds the facts and returns a follower for runs over them.
func follow(t *testing.T, name string, p *harmony.Program,
	facts map[string]planref.Rows) *follower {
	t.Helper()
	f := &follower{t: t, name: name, p: p, domains: domain.Find(p), homes: map[*harmony.Reg]home{},
		seen: map[string]int{}}
	var err error
	if f.data, err = Bind(context.Background(), p, f.domains, database(p, facts), 2,
		nil); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	known := f.data.Known()
	f.ranges = append(f.ranges, ranges.Find(p, f.domains, known))
	known.UnknownLiterals = true
	f.ranges = append(f.ranges, ranges.Find(p, f.domains, known),
		ranges.Find(p, f.domains, ranges.Options{UnknownLiterals: true}))
	for _, k := range p.Kernels() {
		for _, s := range k.Stages {
			switch s := s.(type) {
			case *harmony.Load:
				switch src := k.Source.(type) {
				case *harmony.Rows:
					f.homes[s.Out] = home{src.Rel, s.Col}
				case *harmony.GroupRows:
					f.homes[s.Out] = home{src.Groups, s.Col}
				}
			case *harmony.Gather:
				f.homes[s.Out] = home{s.Row.Row, s.Col}
			}
		}
	}
	return f
}

// run runs the program with all values observed.
func (f *follower) run(facts map[string]planref.Rows) (err error) {
	defer func() {
		if e := recover(); e == errTooLong {
			err = errTooLong
		} else if e != nil {
			panic(e)
		}
	}()
	_, err = harmonyref.Run(f.p, facts,
		harmonyref.Options{Observe: &harmonyref.Observer{Register: f.register, Call: f.call,
			Tuple: f.tuple}})
	return err
}

func (f *follower) failf(format string, args ...any) {
	f.t.Helper()
	f.t.Fatalf("%s: %s\n%s", f.name, fmt.Sprintf(format, args...), f.p)
}

// word returns the word of a value, whose string has to have a code.
func (f *follower) word(v scalar.Value, d *domain.Domain) int64 {
	f.t.Helper()
	if v.Type.Kind != scalar.String {
		return int64(v.Bits())
	}
	if d == nil {
		f.failf("string %q has no domain", v.Str())
	}
	if d.Grows {
		return f.data.Intern(d.ID, v.Str())
	}
	code, lo, hi := f.data.Code(d.ID, v.Str())
	if code < 0 || lo != code || hi != code+1 {
		f.failf("string %q has code %d and place %d to %d in domain %d", v.Str(), code, lo, hi,
			d.ID)
	}
	if got := f.data.String(d.ID, code); got != v.Str() {
		f.failf("code %d of domain %d is %q, was %q", code, d.ID, got, v.Str())
	}
	f.seen["code"]++
	return code
}

func (f *follower) register(r *harmony.Reg, v scalar.Value) {
	if f.values++; f.values > maxValues {
		panic(errTooLong)
	}
	word := f.word(v, f.domains.Reg(r))
	for i, known := range f.ranges {
		bound, exact := known.Reg(r)
		switch {
		case !v.Fits() && exact:
			f.failf("%s does not fit, but is said to; ranges %d", scalar.Literal(v), i)
		case v.Fits() && !bound.Contains(word):
			f.failf("%s, word %d, is not within %v; ranges %d", scalar.Literal(v), word, bound, i)
		}
		if exact {
			f.seen["exact"]++
		} else {
			f.seen["inexact"]++
		}
		h, ok := f.homes[r]
		if rel, isRel := h.v.(*harmony.Relation); isRel && h.col == rel.Position() {
			continue // the number of a row is in no column
		}
		if ok && !known.Column(h.v, h.col).Contains(word) {
			f.failf("%s is not within %v of %s; ranges %d", scalar.Literal(v),
				known.Column(h.v, h.col), h.v.ManagedName(), i)
		}
	}
}

func (f *follower) tuple(r *harmony.Relation, tuple []scalar.Value) {
	for col, v := range tuple {
		word := f.word(v, f.domains.Column(r, col))
		for i, known := range f.ranges {
			if bound := known.Column(r, col); !bound.Contains(word) {
				f.failf("%s in column %d of %s is not within %v; ranges %d", scalar.Literal(v), col,
					r.Name, bound, i)
			}
		}
	}
}

// call carries out functions of strings on words.
func (f *follower) call(m *harmony.Map, args []scalar.Value, v scalar.Value, ok bool) {
	strings := m.Out.Type.Kind == scalar.String
	words := make([]int64, len(args))
	for i, a := range args {
		if a.Type.Kind == scalar.String {
			strings = strings || m.Args[i].Reg != nil
			if m.Args[i].Reg != nil {
				words[i] = f.word(a, f.domains.Reg(m.Args[i].Reg))
			}
		}
	}
	_, i, isTable := f.domains.Table(m)
	switch {
	case isTable:
		f.lookUp(i, words, v, ok)
	case f.domains.NeedsHost(m):
		f.seen["host"]++
		for i, a := range args {
			if a.Type.Kind == scalar.String {
				f.word(a, f.domains.Stage(m, i))
			}
		}
		if ok && v.Type.Kind == scalar.String && !f.domains.Reg(m.Out).Grows {
			f.failf("%s of the host is in domain %d, which does not grow", scalar.Literal(v),
				f.domains.Reg(m.Out).ID)
		}
	case strings && (m.Func.Name == "min" || m.Func.Name == "max"):
		f.seen["min"]++
		dom := f.domains.Stage(m, 0)
		x, y := f.word(args[0], dom), f.word(args[1], dom)
		if x > y == (m.Func.Name == "min") {
			x = y
		}
		if got := f.word(v, f.domains.Reg(m.Out)); got != x {
			f.failf("%s of codes is %d, not %d", m.Func.Name, x, got)
		}
	case strings:
		if got := f.compare(m, args, words); got != v.Bool() {
			f.failf("%s of %s and %s is %v by codes", m.Func.Name, scalar.Literal(args[0]),
				scalar.Literal(args[1]), got)
		}
	}
}

// lookUp holds a result against a table.
func (f *follower) lookUp(i int, words []int64, v scalar.Value, ok bool) {
	f.seen["table"]++
	t, have := f.domains.Tables()[i], f.data.Tables[i]
	code := int(words[t.String])
	if there := have.Present == nil || have.Present[code] == 1; there != ok {
		f.failf("table %d has a result for code %d: %v", i, code, there)
	}
	if !ok {
		return
	}
	var out *domain.Domain
	if t.Result.Kind == scalar.String {
		out = f.domains.All()[t.Out]
	}
	if got, want := have.Column.Word(code), f.word(v, out); got != want {
		f.failf("table %d has %d for code %d, not %d", i, got, code, want)
	}
}

// compare compares strings as code does: by words, or by the place of a
// constant.
func (f *follower) compare(m *harmony.Map, args []scalar.Value, words []int64) bool {
	name := m.Func.Name
	if len(args) != 2 {
		f.failf("%s has no way to be carried out", name)
	}
	dom := f.domains.Stage(m, 0)
	if dom == nil || f.domains.Stage(m, 1) != dom {
		f.failf("what %s compares is in domains %v and %v", name, dom, f.domains.Stage(m, 1))
	}
	f.seen[fmt.Sprintf("compare, grows %v", dom.Grows)]++
	if m.Args[0].Reg != nil && m.Args[1].Reg != nil {
		return compareWords(name, words[0], words[1])
	}
	at, w := 1, words[0]
	if m.Args[0].Reg == nil {
		at, w = 0, words[1]
		name = map[string]string{"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt",
			"ge": "le"}[name]
	}
	code, lo, hi := f.data.Code(dom.ID, args[at].Str())
	switch name {
	case "eq":
		return w == code
	case "ne":
		return w != code
	case "lt":
		return w < lo
	case "le":
		return w < hi
	case "gt":
		return w >= hi
	}
	return w >= lo
}

func compareWords(name string, a, b int64) bool {
	switch name {
	case "eq":
		return a == b
	case "ne":
		return a != b
	case "lt":
		return a < b
	case "le":
		return a <= b
	case "gt":
		return a > b
	}
	return a >= b
}

// database stores facts.
func database(p *harmony.Program, facts map[string]planref.Rows) *store.Database {
	db := store.NewDatabase()
	tables := map[string]*store.Table{}
	for _, r := range p.Relations {
		if r.Kind != queryplan.Input && r.Kind != queryplan.Table {
			continue
		}
		rows, stored := facts[r.Source], r.Stored
		if r.Kind == queryplan.Input {
			rows, stored = planref.Dedup(rows), nil
			for i := range r.Cols {
				stored = append(stored, i)
			}
		}
		t := tables[r.Source]
		if t == nil {
			t = &store.Table{Name: r.Source, Rows: len(rows)}
			tables[r.Source] = t
			db.Put(&store.Relation{Name: r.Source, Table: t, Cols: stored, Keys: len(stored)})
		}
		for i, at := range stored {
			for len(t.Columns) <= at {
				t.Columns = append(t.Columns, nil)
			}
			b := store.NewBuilder(r.Cols[i].Type, nil)
			for _, row := range rows {
				b.AppendValue(row[at])
			}
			t.Columns[at] = b.Finish()
		}
	}
	return db
}
