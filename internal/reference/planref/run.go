package planref

import (
	"errors"
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Rows are the tuples of a relation.
type Rows [][]scalar.Value

// Answer is what a run yields.
type Answer struct {
	// Outputs has the output variables by name, presented as they ask: sorted
	// by their order and then by all columns, cut to their limit.
	Outputs map[string]Rows
	// Violations has the distinct violating tuples, sorted, of each Check that
	// found some, by its text.
	Violations map[string]Rows
}

// The errors that end a run, wrapped with details.
var (
	ErrKey      = errors.New("two values for one key")
	ErrOverflow = errors.New("aggregate does not fit its type")
	ErrRounds   = errors.New("no end after the most rounds")
)

// maxSteps bounds the blocks that a run executes, so that a test of a divergent
// plan ends.
const maxSteps = 10000

// Run evaluates a verified plan over facts: the rows of each input by its
// source, where repeated ones count once, and for a table those of the whole
// stored table.
func Run(p *queryplan.Plan, facts map[string]Rows) (*Answer, error) {
	return run(p, &machine{facts: facts})
}

// RunProving is Run that also fails where the plan's data disprove what package
// queryplan has proved of keys and dependencies. The facts have to obey the
// keys of the inputs.
func RunProving(p *queryplan.Plan, facts map[string]Rows) (*Answer, error) {
	return run(p, &machine{facts: facts, proofs: map[queryplan.Node]*proofs{}})
}

func run(p *queryplan.Plan, m *machine) (*Answer, error) {
	m.bags, m.derived = map[*queryplan.Var]Rows{}, map[*queryplan.Var]*derived{}
	ans := &Answer{Outputs: map[string]Rows{}, Violations: map[string]Rows{}}
	for _, v := range p.Vars {
		switch v.Kind {
		case queryplan.Derived:
			m.derived[v] = &derived{seen: map[string]bool{}}
		case queryplan.Input:
			m.bags[v] = Dedup(m.facts[v.Source])
		}
	}
	b := p.Blocks[0]
	for range maxSteps {
		for _, c := range b.Cmds {
			if err := m.command(c, ans); err != nil {
				return nil, fmt.Errorf("block %s, %s: %w", b.Name, queryplan.CommandString(c), err)
			}
		}
		switch t := b.Term.(type) {
		case *queryplan.Jump:
			b = t.To
		case *queryplan.Branch:
			b = t.Else
			for _, v := range t.Vars {
				if d := m.derived[v]; d.full > d.old {
					b = t.Then
				}
			}
		case *queryplan.Halt:
			for _, v := range p.Vars {
				if v.Output {
					ans.Outputs[v.Name] = Present(m.scan(v, queryplan.Full), v.Cols, v.OrderBy,
						v.Limit)
				}
			}
			if m.proofs != nil {
				return ans, m.checkKeys(p)
			}
			return ans, nil
		}
	}
	return nil, ErrRounds
}

// derived is a set in order of insertion: old, delta and new are ranges of
// rows.
type derived struct {
	rows      Rows
	seen      map[string]bool
	old, full int
}

type machine struct {
	facts   map[string]Rows
	bags    map[*queryplan.Var]Rows // contents of inputs and temps
	derived map[*queryplan.Var]*derived
	proofs  map[queryplan.Node]*proofs // nil if they are not to be checked
}

func (m *machine) command(c queryplan.Command, ans *Answer) error {
	switch c := c.(type) {
	case *queryplan.Insert:
		rows, err := m.eval(c.Node)
		d := m.derived[c.Var]
		for _, r := range rows {
			if k := Key(r); !d.seen[k] {
				d.seen[k] = true
				d.rows = append(d.rows, r)
			}
		}
		return err
	case *queryplan.Assign:
		rows, err := m.eval(c.Node)
		m.bags[c.Var] = rows
		return err
	case *queryplan.Merge:
		d := m.derived[c.Var]
		d.old, d.full = d.full, len(d.rows)
	case *queryplan.Clear:
		delete(m.bags, c.Var)
		if d := m.derived[c.Var]; d != nil {
			*d = derived{seen: map[string]bool{}}
		}
	case *queryplan.Check:
		rows, err := m.eval(c.Node)
		if about := c.About(); len(rows) > 0 {
			rows = Dedup(append(slices.Clone(ans.Violations[about]), rows...))
			SortRows(rows)
			ans.Violations[about] = rows
		}
		return err
	case *queryplan.CheckKey:
		first := map[string][]scalar.Value{}
		for _, r := range m.scan(c.Var, queryplan.Full) {
			k := Key(r[:c.Var.Keys])
			if o, ok := first[k]; ok {
				return fmt.Errorf("%w: %s and %s", ErrKey, Key(o), Key(r))
			}
			first[k] = r
		}
	}
	return nil
}

// scan returns the rows of a version of a variable, all columns.
func (m *machine) scan(v *queryplan.Var, version queryplan.Version) Rows {
	switch v.Kind {
	case queryplan.Table:
		var out Rows
		for _, r := range m.facts[v.Source] {
			row := list.Map(v.Stored, func(s int) scalar.Value { return r[s] })
			out = append(out, row)
		}
		return out
	case queryplan.Input, queryplan.Temp:
		return m.bags[v]
	}
	d := m.derived[v]
	switch version {
	case queryplan.Old:
		return d.rows[:d.old]
	case queryplan.Delta:
		return d.rows[d.old:d.full]
	case queryplan.Last:
		return lastOfKeys(d.rows[:d.full], v.Keys)
	}
	return d.rows[:d.full]
}

// lastOfKeys returns the last row of each key, in order.
func lastOfKeys(rows Rows, keys int) Rows {
	seen := map[string]bool{}
	var out Rows
	for _, r := range slices.Backward(rows) {
		if k := Key(r[:keys]); !seen[k] {
			seen[k] = true
			out = append(out, r)
		}
	}
	slices.Reverse(out)
	return out
}

// Positioned appends consecutive numbers to rows.
func Positioned(rows Rows, first int) Rows {
	out := make(Rows, len(rows))
	for i, r := range rows {
		out[i] = append(slices.Clip(r), scalar.OfInt(scalar.IntType, int64(first+i)))
	}
	return out
}

// Key returns text that is the same for equal rows only.
func Key(row []scalar.Value) string {
	s := ""
	for _, v := range row {
		s += scalar.Literal(v) + ","
	}
	return s
}

// SortRows sorts rows by all columns, ascending.
func SortRows(rows Rows) { slices.SortFunc(rows, compare) }

func compare(a, b []scalar.Value) int { return slices.CompareFunc(a, b, scalar.Compare) }

// Dedup returns the distinct rows, in the order in which they come up.
func Dedup(rows Rows) Rows {
	seen := map[string]bool{}
	var out Rows
	for _, r := range rows {
		if k := Key(r); !seen[k] {
			seen[k] = true
			out = append(out, r)
		}
	}
	return out
}

// Present returns an output as a run yields it: a set, sorted by the keys and
// then by all columns, cut to limit tuples (-1: all).
func Present(rows Rows, cols []queryplan.Column, by []queryplan.OrderKey, limit int64) Rows {
	out := Dedup(rows)
	sortBy(out, cols, by)
	if limit >= 0 && int64(len(out)) > limit {
		out = out[:limit]
	}
	return out
}

// sortBy sorts by the keys and then by all columns, ascending.
func sortBy(rows Rows, cols []queryplan.Column, keys []queryplan.OrderKey) {
	slices.SortStableFunc(rows, func(a, b []scalar.Value) int {
		for _, k := range keys {
			at := index(cols, k.Col)
			c := scalar.Compare(a[at], b[at])
			if k.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return compare(a, b)
	})
}

func index(cols []queryplan.Column, name string) int {
	return slices.IndexFunc(cols, func(c queryplan.Column) bool { return c.Name == name })
}
