package harmonyref

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Options says how to run.
type Options struct {
	// Shuffle, if there is one, gives the order in which a kernel gets the rows
	// of its source, which must not matter.
	Shuffle *rand.Rand
	// Observe, if there is one, is told what the run computes.
	Observe *Observer
}

// Observer has what to call, all of it.
type Observer struct {
	// Register gets each value that a register is given.
	Register func(r *harmony.Reg, v scalar.Value)
	// Call gets the arguments of a function, if all have a value, and what it
	// gives.
	Call func(m *harmony.Map, args []scalar.Value, v scalar.Value, ok bool)
	// Tuple gets each tuple that is added to a relation, repeated or not.
	Tuple func(r *harmony.Relation, tuple []scalar.Value)
}

// maxSteps bounds the blocks that a run executes, as in planref.
const maxSteps = 10000

// Run evaluates a verified program over facts, which are as for planref.Run.
func Run(p *harmony.Program, facts map[string]planref.Rows, opts Options) (*planref.Answer, error) {
	m := &machine{
		facts:   facts,
		opts:    opts,
		bags:    map[*harmony.Relation]planref.Rows{},
		derived: map[*harmony.Relation]*derived{},
		indexes: map[*harmony.Index]map[string]planref.Rows{},
		groups:  map[*harmony.Groups]*groups{},
		freed:   map[harmony.Managed]bool{},
		answer: &planref.Answer{Outputs: map[string]planref.Rows{},
			Violations: map[string]planref.Rows{}},
	}
	for _, r := range p.Relations {
		m.reset(r)
	}
	for _, g := range p.Groups {
		m.reset(g)
	}
	lives := harmony.Lifetimes(p)
	b := p.Blocks[0]
	for range maxSteps {
		m.free(lives.Entry[b])
		for _, c := range b.Cmds {
			if err := m.command(c); err != nil {
				return nil, fmt.Errorf("block %s, %s: %w", b.Name, harmony.CommandString(c), err)
			}
			if life := lives.Commands[c]; life != nil {
				m.free(life.Free)
			}
		}
		switch t := b.Term.(type) {
		case *harmony.Jump:
			b = t.To
		case *harmony.Branch:
			b = t.Else
			for _, r := range t.Vars {
				if err := m.readable(r); err != nil {
					return nil, err
				}
				if d := m.derived[r]; d.full > d.old {
					b = t.Then
				}
			}
		case *harmony.Halt:
			for _, r := range p.Relations {
				if r.Output {
					rows, err := m.scan(r, harmony.Full)
					if err != nil {
						return nil, err
					}
					m.answer.Outputs[r.Name] = planref.Present(rows, r.Cols, r.OrderBy, r.Limit)
				}
			}
			return m.answer, nil
		}
	}
	return nil, planref.ErrRounds
}

// derived is a set in order of insertion: old, delta and new are ranges of
// rows.
type derived struct {
	rows      planref.Rows
	seen      map[string]bool
	old, full int
}

// groups has the rows that came for each key, for aggregation at the end.
type groups struct {
	order []string // keys by first appearance
	rows  map[string]*group
}

type group struct {
	key   []scalar.Value
	count int
	vals  [][]scalar.Value // by accumulator
}

type machine struct {
	facts   map[string]planref.Rows
	opts    Options
	bags    map[*harmony.Relation]planref.Rows
	derived map[*harmony.Relation]*derived
	indexes map[*harmony.Index]map[string]planref.Rows
	groups  map[*harmony.Groups]*groups
	freed   map[harmony.Managed]bool // and not filled since
	answer  *planref.Answer
}

// reset makes a variable as it is at the start: with its facts, or empty.
func (m *machine) reset(v harmony.Managed) {
	switch v := v.(type) {
	case *harmony.Groups:
		m.groups[v] = &groups{rows: map[string]*group{}}
	case *harmony.Relation:
		switch v.Kind {
		case queryplan.Input:
			m.bags[v] = planref.Dedup(m.facts[v.Source])
		case queryplan.Table:
			for _, r := range m.facts[v.Source] {
				row := list.Map(v.Stored, func(s int) scalar.Value { return r[s] })
				m.bags[v] = append(m.bags[v], row)
			}
		case queryplan.Temp:
			m.bags[v] = nil
		case queryplan.Derived:
			m.derived[v] = &derived{seen: map[string]bool{}}
		}
	}
}

func (m *machine) free(vars []harmony.Managed) {
	for _, v := range vars {
		m.reset(v)
		m.freed[v] = true
	}
}

func (m *machine) readable(v harmony.Managed) error {
	if m.freed[v] {
		return fmt.Errorf("harmonyref: %s is read after it is freed", v.ManagedName())
	}
	return nil
}

func (m *machine) scan(r *harmony.Relation, version harmony.Version) (planref.Rows, error) {
	d := m.derived[r]
	switch {
	case d == nil:
		return m.bags[r], m.readable(r)
	case version == harmony.Old:
		return d.rows[:d.old], m.readable(r)
	case version == harmony.Delta:
		return d.rows[d.old:d.full], m.readable(r)
	}
	return d.rows[:d.full], m.readable(r)
}

// positioned is scan, but rows of a derived relation have their positions
// behind the columns.
func (m *machine) positioned(r *harmony.Relation, version harmony.Version) (planref.Rows, error) {
	rows, err := m.scan(r, version)
	switch d := m.derived[r]; {
	case d == nil:
		return rows, err
	case version == harmony.Delta:
		return planref.Positioned(rows, d.old), err
	}
	return planref.Positioned(rows, 0), err
}

// add appends rows to a temp.
func (m *machine) add(to *harmony.Relation, rows planref.Rows) {
	m.bags[to] = append(m.bags[to], rows...)
	for _, row := range rows {
		m.observe(to, row)
	}
}

// take appends columns of rows of an ordering, whose last one is the number if
// they are numbered. To a derived relation they must be new.
func (m *machine) take(to *harmony.Relation, rows planref.Rows, cols []int) error {
	for _, row := range rows {
		tuple := make([]scalar.Value, len(cols))
		for i, at := range cols {
			if at == harmony.Numbered {
				at = len(row) - 1
			}
			tuple[i] = row[at]
		}
		if m.derived[to] == nil {
			m.add(to, planref.Rows{tuple})
		} else if !m.insert(to, tuple) {
			return fmt.Errorf("harmonyref: %s gets %s twice", to.Name, planref.Key(tuple))
		}
	}
	return nil
}

// insert adds a tuple to a derived relation, and reports whether it is new.
func (m *machine) insert(to *harmony.Relation, tuple []scalar.Value) bool {
	m.observe(to, tuple)
	d, k := m.derived[to], planref.Key(tuple)
	if d.seen[k] {
		return false
	}
	d.seen[k] = true
	d.rows = append(d.rows, tuple)
	return true
}

func (m *machine) observe(r *harmony.Relation, tuple []scalar.Value) {
	if m.opts.Observe != nil {
		m.opts.Observe.Tuple(r, tuple)
	}
}

func (m *machine) command(c harmony.Command) error {
	for _, v := range harmony.Writes(c) {
		delete(m.freed, v)
	}
	switch c := c.(type) {
	case *harmony.Run:
		return m.run(c.Kernel)
	case *harmony.Build:
		rows, err := m.positioned(c.Index.Of, c.Version())
		found := map[string]planref.Rows{}
		for _, r := range rows {
			key := list.Map(c.Index.Key, func(at int) scalar.Value { return r[at] })
			k := planref.Key(key)
			if c.Index.Version == harmony.Last {
				found[k] = nil
			}
			found[k] = append(found[k], r)
		}
		m.indexes[c.Index] = found
		return err
	case *harmony.Number:
		rows, err := m.scan(c.From, harmony.Full)
		if err != nil {
			return err
		}
		return m.take(c.To, planref.Number(rows, c.Group, c.From.Cols, c.Keys()), c.Cols)
	case *harmony.TopK:
		rows, err := m.scan(c.From, harmony.Full)
		if err != nil {
			return err
		}
		return m.take(c.To, planref.TopK(rows, c.Group, c.From.Cols, c.Keys(), c.Limit), c.Cols)
	case *harmony.Merge:
		d := m.derived[c.Rel]
		d.old, d.full = d.full, len(d.rows)
	case *harmony.Clear:
		m.reset(c.Var)
	case *harmony.Check:
		rows, err := m.scan(c.Rel, harmony.Full)
		if len(rows) > 0 {
			rows = planref.Dedup(append(slices.Clone(m.answer.Violations[c.Text]), rows...))
			planref.SortRows(rows)
			m.answer.Violations[c.Text] = rows
		}
		return err
	case *harmony.CheckKey:
		rows, err := m.scan(c.Rel, harmony.Full)
		first := map[string][]scalar.Value{}
		for _, r := range rows {
			k := planref.Key(r[:c.Rel.Keys])
			if o, ok := first[k]; ok {
				return fmt.Errorf("%w: %s and %s", planref.ErrKey, planref.Key(o), planref.Key(r))
			}
			first[k] = r
		}
		return err
	}
	return nil
}
