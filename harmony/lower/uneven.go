package lower

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// maxParts bounds the parts of an uneven multijoin, each of which has a kernel.
const maxParts = 6

// addends returns operators that have together the tuples that are aggregated.
func (l *lowerer) addends(n queryplan.Node) ([]queryplan.Node, error) {
	if m, ok := n.(*queryplan.MultiJoin); ok && m.Uneven {
		return l.partsOf(m, maxParts)
	}
	return []queryplan.Node{n}, nil
}

// partsOf turns a multijoin into at most so many parts that have its tuples
// together, each of joins from left to right. The first input is a delta if
// there is one, and else the first in the plan. Then comes the input with the
// fewest columns that are not bound yet, so that an input whose columns are all
// bound is a filter at once. Of inputs with equally many, the least biased
// comes first.
//
// Where several inputs have lists of values for the next variable, a part takes
// the tuples for which the list of one of them is the shortest: it reads that
// list, and the other inputs filter. In an uneven graph the work is then that
// of the shorter list of each edge, as in leapfrog joins, and not that of all
// paths of two edges.
func (l *lowerer) partsOf(n *queryplan.MultiJoin, most int) ([]queryplan.Node, error) {
	at := max(0, slices.IndexFunc(n.Nodes, isDelta))
	order := multijoinOrder{bound: map[string]bool{}, uses: map[use]int{}}
	order.join(n.Nodes[at])
	p := &multijoinParts{l: l, lengths: map[string]*queryplan.Var{}}
	err := p.extend(n.Nodes[at], slices.Delete(slices.Clone(n.Nodes), at, at+1), order, most)
	return p.parts, err
}

// multijoinParts collects the parts of a multijoin.
type multijoinParts struct {
	l       *lowerer
	lengths map[string]*queryplan.Var // of the lists of inputs, by what they list
	parts   []queryplan.Node
}

// extend joins the inputs that are left to a part, which becomes at most as
// many parts as a number says.
func (p *multijoinParts) extend(acc queryplan.Node, left []queryplan.Node, o multijoinOrder,
	most int) error {
	for len(left) > 0 {
		at := o.next(left)
		lists := p.lists(left, left[at], o)
		if len(lists) < 2 || len(lists) > most {
			o.join(left[at])
			acc = p.l.joinWith(acc, left[at])
			left = slices.Delete(left, at, at+1)
			continue
		}
		measured, counts := acc, make([]queryplan.Column, len(lists))
		for i, in := range lists {
			var err error
			if measured, counts[i], err = p.measure(measured, in, o); err != nil {
				return err
			}
		}
		for i, in := range lists {
			rest := slices.DeleteFunc(slices.Clone(left),
				func(n queryplan.Node) bool { return n == in })
			then := o.clone()
			then.join(in)
			shortest := &queryplan.Filter{Input: measured, Cond: isShortest(counts, i)}
			err := p.extend(p.l.joinWith(shortest, in), rest, then, most/len(lists))
			if err != nil {
				return err
			}
		}
		return nil
	}
	p.parts = append(p.parts, acc)
	return nil
}

// lists returns the inputs that have lists of values for the variable that one
// of them binds next: scans with one column that is not bound.
func (p *multijoinParts) lists(left []queryplan.Node, next queryplan.Node,
	o multijoinOrder) (out []queryplan.Node) {
	unbound := func(n queryplan.Node) string {
		if _, ok := n.(*queryplan.Scan); !ok {
			return ""
		}
		free := slices.DeleteFunc(queryplan.NamesOf(n.Columns()), func(name string) bool {
			return o.bound[name]
		})
		if len(free) != 1 || len(n.Columns()) == 1 {
			return ""
		}
		return free[0]
	}
	name := unbound(next)
	if name == "" {
		return nil
	}
	return list.Filter(left, func(n queryplan.Node) bool { return unbound(n) == name })
}

// measure joins the lengths of an input's lists to a part, as one more column.
func (p *multijoinParts) measure(acc, in queryplan.Node, o multijoinOrder) (joined queryplan.Node,
	count queryplan.Column, err error) {
	s := in.(*queryplan.Scan)
	var by, names []string
	key := s.Var.Name + " " + s.Version.String()
	for i, name := range s.Names {
		if name != "" && o.bound[name] {
			by = append(by, name)
			key += " " + s.Var.Cols[i].Name
		}
	}
	v := p.lengths[key]
	if v == nil {
		n := queryplan.Column{Name: "length", Type: scalar.IntType}
		measured := &queryplan.Aggregate{Input: in, By: by,
			Aggs: []queryplan.Agg{{Out: n, Fn: queryplan.Count}}}
		stored, err := p.l.store(measured, queryplan.NamesOf(measured.Columns()))
		if err != nil {
			return nil, count, err
		}
		v = &queryplan.Var{Name: stored.rel.Name, Kind: queryplan.Temp, Cols: stored.rel.Cols,
			Keys: len(by), Unique: true, Limit: -1}
		p.l.rels[v] = stored.rel
		p.lengths[key] = v
	}
	count = queryplan.Column{Name: p.l.fresh("length"), Type: scalar.IntType}
	names = append(slices.Clone(by), count.Name)
	return &queryplan.Join{Left: acc, Right: &queryplan.Scan{Var: v, Version: harmony.Full,
		Names: names}, Unique: true}, count, nil
}

// isShortest is the condition that one of several lengths is the least, and the
// first of the least ones.
func isShortest(counts []queryplan.Column, one int) queryplan.Expr {
	var cond queryplan.Expr
	for i, c := range counts {
		if i == one {
			continue
		}
		name := "le"
		if i < one {
			name = "lt"
		}
		less := &queryplan.Call{Func: scalar.Lookup(name), Result: scalar.BooleanType,
			Args: []queryplan.Expr{&queryplan.ColRef{Col: counts[one]}, &queryplan.ColRef{Col: c}}}
		if cond == nil {
			cond = less
		} else {
			cond = &queryplan.Call{Func: scalar.Lookup("and"), Result: scalar.BooleanType,
				Args: []queryplan.Expr{cond, less}}
		}
	}
	return cond
}
