package parts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// Job is a plan over leaves, which can be evaluated in parts.
type Job struct {
	// Plan reads only the leaves' variables, which are inputs. If a bag is
	// wanted, its output is a Temp.
	Plan   *queryplan.Plan
	Leaves []*Leaf
	// Ways are independent: parts may be cut by several of them.
	Ways []*Way
}

// Leaf is an input of a job: a version of a variable, or constant rows.
type Leaf struct {
	Of      *queryplan.Var // of the plan that the job is made of; nil for Values
	Version queryplan.Version
	Values  *queryplan.Values
	// Var is the input of the job's plan. Cols has the column of Of, Number or
	// Row for each of its columns.
	Var  *queryplan.Var
	Cols []int
	// Needed means that the result is empty if the leaf is.
	Needed bool

	scans []*queryplan.Scan // of the job's plan
	cut   []int             // the column of Of for each way, or none
}

// Columns of leaves that are none of the variable.
const (
	// Number is the position of a tuple in the variable.
	Number = -1
	// Row distinguishes rows of a leaf that are otherwise equal, or whose key
	// is left out. No scan reads it.
	Row = -2
	// none is no column.
	none = -3
)

// Way is a set of leaves' columns that have the same value in all rows that
// meet. Of each of these leaves, a part reads the rows of a class of values.
type Way struct {
	// Name has the names of the columns in the plan from which the job is made.
	Name   string
	Places []Place
}

// Place is a column of a leaf: indexes of Job.Leaves and of Leaf.Cols.
type Place struct{ Leaf, Col int }

// OfTree returns the job that yields the tuples of a tree for a variable, as a
// set if it is a derived one and else as a bag. Failures are at the span.
func OfTree(v *queryplan.Var, n queryplan.Node, at source.Span) *Job {
	m := newMaker()
	n = m.copyLeaves(queryplan.WithoutLast(n))
	return m.tree(v, n, at, waysOf(n))
}

// OfPartial returns the job of the first of two steps (TwoSteps).
func OfPartial(v *queryplan.Var, n queryplan.Node, at source.Span) *Job {
	m := newMaker()
	n = m.copyLeaves(queryplan.WithoutLast(n))
	return m.tree(v, n, at, waysOf(n.Inputs()[0]))
}

func (m *maker) tree(v *queryplan.Var, n queryplan.Node, at source.Span, ways []way) *Job {
	into := &queryplan.Var{Name: v.Name, Kind: v.Kind, Cols: v.Cols, Keys: v.Keys, Limit: -1,
		Output: true, Span: at}
	block := &queryplan.Block{Name: "b0", Term: &queryplan.Halt{}}
	if v.Kind == queryplan.Temp {
		block.Cmds = []queryplan.Command{&queryplan.Assign{Var: into, Node: n}}
	} else {
		block.Cmds = []queryplan.Command{&queryplan.Insert{Var: into, Node: n, Span: at},
			&queryplan.Merge{Var: into}}
	}
	m.plan = &queryplan.Plan{Vars: []*queryplan.Var{into}, Blocks: []*queryplan.Block{block}}
	return m.job(ways, needed(n))
}

// OfCheck returns the job of a constraint, whose parts find each violating
// tuple once.
func OfCheck(c *queryplan.Check) *Job {
	m := newMaker()
	n := m.copyLeaves(c.Node)
	check := &queryplan.Check{Node: n, Text: c.Text, Result: c.Result, Span: c.Span}
	m.plan = &queryplan.Plan{Blocks: []*queryplan.Block{
		{Name: "b0", Term: &queryplan.Halt{}, Cmds: []queryplan.Command{check}}}}
	return m.job(within(waysOf(n), queryplan.NamesOf(n.Columns())), needed(n))
}

// OfKey returns the job that checks the key of a variable.
func OfKey(v *queryplan.Var, c *queryplan.CheckKey) *Job {
	m := newMaker()
	n := m.copyLeaves(&queryplan.Scan{Var: v, Names: queryplan.NamesOf(v.Cols)})
	filled := &queryplan.Var{Name: v.Name, Kind: queryplan.Derived, Cols: v.Cols, Keys: v.Keys,
		Limit: -1, Span: v.Span}
	m.plan = &queryplan.Plan{Vars: []*queryplan.Var{filled}, Blocks: []*queryplan.Block{
		{Name: "b0", Term: &queryplan.Halt{}, Cmds: []queryplan.Command{
			&queryplan.Insert{Var: filled, Node: n, Span: c.Span},
			&queryplan.Merge{Var: filled}, &queryplan.CheckKey{Var: filled, Span: c.Span}}}}}
	return m.job(within(waysOf(n), queryplan.NamesOf(v.Cols[:v.Keys])), nil)
}

// OfPlan returns the job of a whole plan. Its outputs have the names of the
// plan's. A tuple of an output is in one part.
func OfPlan(p *queryplan.Plan) *Job {
	m := newMaker()
	p = queryplan.Clone(p)
	for _, b := range p.Blocks {
		for i, c := range b.Cmds {
			if n := queryplan.CommandNode(c); n != nil {
				b.Cmds[i] = queryplan.WithNode(c, m.copyLeaves(n))
			}
		}
	}
	m.plan = p
	ways := pivots(p)
	p.Vars = list.Filter(p.Vars, func(v *queryplan.Var) bool { return isFilled(v) })
	return m.job(ways, nil)
}

func isFilled(v *queryplan.Var) bool {
	return v.Kind == queryplan.Derived || v.Kind == queryplan.Temp
}

// maker makes a job of a plan.
type maker struct {
	plan *queryplan.Plan
	// scans are those of the plan that read leaves, in order.
	scans  []*queryplan.Scan
	values map[*queryplan.Scan]*queryplan.Values
}

func newMaker() *maker { return &maker{values: map[*queryplan.Scan]*queryplan.Values{}} }

// copyLeaves returns a tree in which each scan is a node of its own. Constant
// rows become scans of an input, so that parts divide them.
func (m *maker) copyLeaves(n queryplan.Node) queryplan.Node {
	return queryplan.Rewrite(n, func(n queryplan.Node) queryplan.Node {
		switch n := n.(type) {
		case *queryplan.Scan:
			s := *n
			s.Names = slices.Clone(n.Names)
			m.scans = append(m.scans, &s)
			return &s
		case *queryplan.Values:
			if len(n.Cols) == 0 {
				return n
			}
			s := &queryplan.Scan{Names: queryplan.NamesOf(n.Cols),
				Var: &queryplan.Var{Name: "constants", Kind: queryplan.Input, Cols: n.Cols}}
			m.scans, m.values[s] = append(m.scans, s), n
			return s
		}
		return n
	})
}

// job makes leaves of the scans. Scans of the same rows share a leaf.
func (m *maker) job(ways []way, needed []queryplan.Node) *Job {
	j := &Job{Plan: m.plan}
	own := map[*queryplan.Var]bool{}
	names := queryplan.NewNames()
	for _, v := range m.plan.Vars {
		own[v] = true
		names.Take(v.Name)
	}
	for _, s := range m.scans {
		if own[s.Var] {
			continue
		}
		cut := make([]int, len(ways))
		for i, w := range ways {
			cut[i] = none
			for _, p := range w.places {
				if p.leaf == queryplan.Node(s) {
					cut[i] = p.col
				}
			}
		}
		at := slices.IndexFunc(j.Leaves, func(l *Leaf) bool {
			return l.Values == nil && m.values[s] == nil && l.Of == s.Var &&
				l.Version == s.Version && slices.Equal(l.cut, cut)
		})
		if at < 0 {
			at = len(j.Leaves)
			j.Leaves = append(j.Leaves, &Leaf{Of: s.Var, Version: s.Version, cut: cut,
				Values: m.values[s]})
		}
		l := j.Leaves[at]
		l.scans = append(l.scans, s)
		l.Needed = l.Needed || slices.Contains(needed, queryplan.Node(s))
	}
	for _, l := range j.Leaves {
		l.declare(names.Fresh(l.Of.Name))
		j.Plan.Vars = append(j.Plan.Vars, l.Var)
		if l.Values != nil {
			l.Of = nil
		}
	}
	for i, w := range ways {
		j.addWay(i, w)
	}
	return j
}

// declare makes the input of a leaf, with the columns that its scans read, and
// has the scans read it.
func (l *Leaf) declare(name string) {
	number := false
	for i := range l.Of.Cols {
		read := slices.ContainsFunc(l.scans, func(s *queryplan.Scan) bool {
			return s.Names[i] != ""
		})
		if read || slices.Contains(l.cut, i) {
			l.Cols = append(l.Cols, i)
		}
	}
	for _, s := range l.scans {
		number = number || s.Position != ""
	}
	if number {
		l.Cols = append(l.Cols, Number)
	}
	v := &queryplan.Var{Name: name, Kind: queryplan.Input, Source: name, Limit: -1,
		Span: l.Of.Span}
	keys := l.keys()
	distinct := keys > 0 && len(l.Cols) >= keys && l.Cols[keys-1] == keys-1
	if !distinct {
		l.Cols = append(l.Cols, Row)
		keys = len(l.Cols)
	}
	for _, c := range l.Cols {
		switch c {
		case Number:
			v.Cols = append(v.Cols, queryplan.Column{Name: "number", Type: scalar.IntType})
		case Row:
			v.Cols = append(v.Cols, queryplan.Column{Name: "row", Type: scalar.IntType})
		default:
			v.Cols = append(v.Cols, l.Of.Cols[c])
		}
	}
	for i := range v.Cols {
		if c := l.Cols[i]; c == Number || c == Row {
			v.Cols[i].Name = freshColumn(v.Cols, i)
		}
	}
	v.Keys, l.Var = keys, v
	for _, s := range l.scans {
		read := make([]string, len(l.Cols))
		for i, c := range l.Cols {
			switch c {
			case Number:
				read[i] = s.Position
			case Row:
			default:
				read[i] = s.Names[c]
			}
		}
		s.Var, s.Version, s.Names, s.Position = v, queryplan.Full, read, ""
	}
}

// keys returns the number of leading columns of the variable that form a key; 0
// for a bag.
func (l *Leaf) keys() int {
	switch v := l.Of; {
	case l.Values != nil:
		return 0
	case v.Kind == queryplan.Temp:
		if v.Unique {
			return v.Keys
		}
		return 0
	case v.Kind == queryplan.Derived && !v.Unique && !v.Checked:
		return len(v.Cols)
	default:
		return v.Keys
	}
}

func freshColumn(cols []queryplan.Column, at int) string {
	names := queryplan.NewNames()
	for i, c := range cols {
		if i != at {
			names.Take(c.Name)
		}
	}
	return names.Fresh(cols[at].Name)
}

// addWay adds a way, unless it cuts nothing.
func (j *Job) addWay(at int, w way) {
	out := &Way{}
	for i, l := range j.Leaves {
		if c := slices.Index(l.Cols, l.cut[at]); c >= 0 {
			out.Places = append(out.Places, Place{i, c})
			if out.Name == "" && l.cut[at] >= 0 {
				out.Name = l.Var.Cols[c].Name
			}
		}
	}
	if len(w.out) > 0 {
		out.Name = w.out[0]
	}
	if len(out.Places) > 0 {
		j.Ways = append(j.Ways, out)
	}
}

// String prints the ways and what they cut, for people.
func (j *Job) String() string {
	var b strings.Builder
	for _, w := range j.Ways {
		cut := list.Map(w.Places, func(p Place) string {
			l := j.Leaves[p.Leaf]
			return fmt.Sprintf("%s(%s)", irtext.QuoteName(l.Var.Name),
				irtext.QuoteColumn(l.Var.Cols[p.Col].Name))
		})
		fmt.Fprintf(&b, "%s: %s\n", irtext.QuoteColumn(w.Name), strings.Join(cut, ", "))
	}
	return b.String()
}
