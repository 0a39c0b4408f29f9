package lower

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// Lower returns the kernel graph of a verified plan. An error is a bug: a
// *SurvivorError, or what is wrong with the plan.
func Lower(p *queryplan.Plan) (*harmony.Program, error) {
	l := &lowerer{
		out:     &harmony.Program{},
		rels:    map[*queryplan.Var]*harmony.Relation{},
		taken:   map[string]bool{},
		next:    map[string]int{},
		closing: map[*queryplan.Join]bool{},
	}
	for _, v := range p.Vars {
		r := &harmony.Relation{
			Name: v.Name, Kind: v.Kind, Cols: v.Cols, Keys: v.Keys, Unique: v.Unique,
			Checked: v.Checked,
			Source:  v.Source, Stored: v.Stored, Output: v.Output, OrderBy: v.OrderBy,
			Limit: v.Limit, Span: v.Span,
		}
		l.rels[v] = r
		l.taken[r.Name] = true
		l.out.Relations = append(l.out.Relations, r)
	}
	commands := func(from *queryplan.Block, to *harmony.Block) error {
		l.block = to
		for _, c := range from.Cmds {
			if err := l.command(c); err != nil {
				return fmt.Errorf("block %s, %s: %w", from.Name, queryplan.CommandString(c), err)
			}
		}
		return nil
	}
	var err error
	relation := func(v *queryplan.Var) *harmony.Relation { return l.rels[v] }
	if l.out.Blocks, err = cfg.Map(p.Blocks, commands, relation); err != nil {
		return nil, err
	}
	placeBuilds(l.out)
	dropClears(l.out)
	return l.out, checkLegal(l.out)
}

type lowerer struct {
	out     *harmony.Program
	rels    map[*queryplan.Var]*harmony.Relation
	block   *harmony.Block // that is being filled
	span    source.Span    // of the command that is being lowered
	taken   map[string]bool
	next    map[string]int // number to try next for a base
	kernels int            // finished
	// closing are the semijoins of multijoins, whose left sides are expanded.
	closing map[*queryplan.Join]bool
}

// fresh returns the base with the first number that makes it a new name.
func (l *lowerer) fresh(base string) string {
	for {
		name := base + strconv.Itoa(l.next[base])
		l.next[base]++
		if !l.taken[name] {
			l.taken[name] = true
			return name
		}
	}
}

func (l *lowerer) emit(c harmony.Command) { l.block.Cmds = append(l.block.Cmds, c) }

func (l *lowerer) command(c queryplan.Command) error {
	l.span = source.Span{}
	switch c := c.(type) {
	case *queryplan.Insert:
		l.span = c.Span
		return l.into(c.Node, insertInto(l.rels[c.Var], queryplan.NamesOf(c.Node.Columns())))
	case *queryplan.Assign:
		l.span = c.Var.Span
		to := l.rels[c.Var]
		for _, s := range queryplan.Scans(c.Node) {
			if s.Var == c.Var {
				// The assigned value reads the relation that it replaces.
				v, err := l.store(c.Node, queryplan.NamesOf(c.Node.Columns()))
				if err != nil {
					return err
				}
				l.emit(&harmony.Clear{Var: to})
				return l.copy(v, storeInto(to, queryplan.NamesOf(c.Node.Columns())), "assign")
			}
		}
		l.emit(&harmony.Clear{Var: to})
		if n, ok := c.Node.(*queryplan.TopK); ok { // whose order stays
			from, err := l.whole(n.Input)
			if err == nil {
				l.rank(n, from, to)
			}
			return err
		}
		return l.into(c.Node, storeInto(to, queryplan.NamesOf(c.Node.Columns())))
	case *queryplan.Merge:
		l.emit(&harmony.Merge{Rel: l.rels[c.Var]})
		return nil
	case *queryplan.Clear:
		// Lifetimes recomputes which variables are dead.
		return nil
	case *queryplan.Check:
		l.span = c.Span
		v, err := l.store(c.Node, queryplan.NamesOf(c.Node.Columns()))
		if err == nil {
			l.emit(&harmony.Check{Rel: v.rel, Text: c.About(), Span: c.Span})
		}
		return err
	case *queryplan.CheckKey:
		l.emit(&harmony.CheckKey{Rel: l.rels[c.Var], Span: c.Span})
		return nil
	}
	return &SurvivorError{Op: queryplan.CommandString(c), Span: l.span}
}

// target is where the tuples of an operator go: a sink, and for each of its
// operands the name of the operator's column.
type target struct {
	cols []string
	sink func([]harmony.Operand) harmony.Sink
	set  bool // equal tuples become one
}

func insertInto(r *harmony.Relation, cols []string) target {
	return target{cols, func(vals []harmony.Operand) harmony.Sink {
		return &harmony.Insert{To: r, Vals: vals}
	}, true}
}

func storeInto(r *harmony.Relation, cols []string) target {
	return target{cols, func(vals []harmony.Operand) harmony.Sink {
		return &harmony.Store{To: r, Vals: vals}
	}, false}
}

// view is what a kernel can read: a version of a relation in which the columns
// of an operator stand at some places, positions at rel.Position().
type view struct {
	rel     *harmony.Relation
	version harmony.Version
	at      map[string]int
}

// view returns a relation with the tuples of an operator, which it has computed
// unless they are there already. It has at least the wanted ones of the
// operator's columns.
func (l *lowerer) view(n queryplan.Node, wanted []string) (view, error) {
	switch n := n.(type) {
	case *queryplan.Scan:
		if n.Version == harmony.Last {
			return l.view(queryplan.LastTuples(n), wanted)
		}
		return l.viewOfScan(n), nil
	case *queryplan.Project:
		in, err := l.view(n.Input, sources(n, wanted))
		v := view{in.rel, in.version, map[string]int{}}
		for _, c := range n.Cols {
			if at, ok := in.at[c.From]; ok {
				v.at[c.To] = at
			}
		}
		return v, err
	case *queryplan.Dedup:
		r := l.relation("s", queryplan.Derived, n.Columns())
		err := l.into(n.Input, insertInto(r, queryplan.NamesOf(n.Columns())))
		l.emit(&harmony.Merge{Rel: r})
		return viewOf(r), err
	case *queryplan.Seq:
		from, err := l.whole(n.Input)
		if err != nil {
			return view{}, err
		}
		r := l.relation("t", queryplan.Temp, n.Columns())
		l.emit(&harmony.Number{To: r, From: from, Cols: harmony.Whole(from.Cols, true),
			Group: positions(from.Cols, n.Group),
			Order: n.Order, Span: l.span})
		return viewOf(r), nil
	case *queryplan.TopK:
		from, err := l.whole(n.Input)
		if err != nil {
			return view{}, err
		}
		r := l.relation("t", queryplan.Temp, n.Columns())
		l.rank(n, from, r)
		return viewOf(r), nil
	}
	return l.store(n, wanted)
}

// rank appends the first tuples of a relation to another one, in order.
func (l *lowerer) rank(n *queryplan.TopK, from, to *harmony.Relation) {
	l.emit(&harmony.TopK{To: to, From: from, Cols: harmony.Whole(from.Cols, false), Limit: n.Limit,
		Group: positions(from.Cols, n.Group), By: n.By, Span: l.span})
}

// store computes the wanted columns of an operator into a temp of its own.
func (l *lowerer) store(n queryplan.Node, wanted []string) (view, error) {
	r := l.temp(n, func(name string) bool { return slices.Contains(wanted, name) })
	return viewOf(r), l.into(n, storeInto(r, queryplan.NamesOf(r.Cols)))
}

// viewOfScan is the variable that is scanned, its columns under the scan's
// names.
func (l *lowerer) viewOfScan(n *queryplan.Scan) view {
	v := view{l.rels[n.Var], n.Version, map[string]int{}}
	for i, name := range n.Names {
		if name != "" {
			v.at[name] = i
		}
	}
	if n.Position != "" {
		v.at[n.Position] = v.rel.Position()
	}
	return v
}

// copied stores the columns of an operator that a view has in a temp.
func (l *lowerer) copied(n queryplan.Node, v view) (view, error) {
	r := l.temp(n, func(name string) bool {
		_, ok := v.at[name]
		return ok
	})
	return viewOf(r), l.copy(v, storeInto(r, queryplan.NamesOf(r.Cols)), queryplan.NodeHead(n))
}

// temp makes a temp for some of an operator's columns.
func (l *lowerer) temp(n queryplan.Node, wanted func(name string) bool) *harmony.Relation {
	cols := slices.DeleteFunc(slices.Clone(n.Columns()), func(c harmony.Column) bool {
		return !wanted(c.Name)
	})
	return l.relation("t", queryplan.Temp, cols)
}

// sources returns the input's names of those columns that a projection has.
func sources(n *queryplan.Project, cols []string) []string {
	var out []string
	for _, name := range cols {
		for _, c := range n.Cols {
			if c.To == name {
				out = append(out, c.From)
			}
		}
	}
	return out
}

// whole returns a relation whose full part is the operator's tuples with its
// columns in order and under its names.
func (l *lowerer) whole(n queryplan.Node) (*harmony.Relation, error) {
	v, err := l.view(n, queryplan.NamesOf(n.Columns()))
	if err != nil {
		return nil, err
	}
	if v.version == harmony.Full && slices.Equal(v.rel.Cols, n.Columns()) {
		inOrder := true
		for i, c := range v.rel.Cols {
			inOrder = inOrder && v.at[c.Name] == i
		}
		if inOrder {
			return v.rel, nil
		}
	}
	v, err = l.copied(n, v)
	return v.rel, err
}

// relation makes a relation that is empty here.
func (l *lowerer) relation(base string, kind queryplan.VarKind,
	cols []harmony.Column) *harmony.Relation {
	r := &harmony.Relation{Name: l.fresh(base), Kind: kind, Cols: cols, Keys: len(cols), Limit: -1,
		Span: l.span}
	l.out.Relations = append(l.out.Relations, r)
	l.emit(&harmony.Clear{Var: r})
	return r
}

// viewOf is all of a relation under its own names.
func viewOf(r *harmony.Relation) view {
	v := view{r, harmony.Full, map[string]int{}}
	for i, c := range r.Cols {
		v.at[c.Name] = i
	}
	return v
}

// positions returns where columns stand.
func positions(cols []harmony.Column, names []string) []int {
	return list.Map(names, func(name string) int {
		return slices.IndexFunc(cols, func(c harmony.Column) bool { return c.Name == name })
	})
}
