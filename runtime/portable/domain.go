package portable

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/prepare"
	"github.com/redfoxdb/redfox/runtime/store"
)

// domain is a set of String columns and constants that can meet: by a copy, a
// join, a union or a comparison. They share one dictionary, so that equal
// strings have equal codes. Domains are found by union-find over the plan.
type domain struct {
	parent *domain // nil at the root
	// grows says that strings computed at run time enter, at the unsorted tail
	// of the dictionary; codes then do not order as their strings do.
	grows bool
	dicts []*store.Dict // of loaded columns, each once
	extra []string      // constants
	dict  *store.Dict
	made  *prepare.Dictionary
}

func (d *domain) find() *domain {
	for d.parent != nil {
		if d.parent.parent != nil {
			d.parent = d.parent.parent
		}
		d = d.parent
	}
	return d
}

func unite(a, b *domain) {
	a, b = a.find(), b.find()
	if a == b {
		return
	}
	a.grows = a.grows || b.grows
	a.extra = append(a.extra, b.extra...)
	for _, d := range b.dicts {
		a.addDict(d)
	}
	b.parent, b.dicts, b.extra = a, nil, nil
}

func (d *domain) addDict(dict *store.Dict) {
	for _, have := range d.dicts {
		if have == dict {
			return
		}
	}
	d.dicts = append(d.dicts, dict)
}

// settle makes the domain's dictionary.
func (d *domain) settle(mem *memory) {
	made, err := prepare.NewAccounted(mem, d.dicts, d.extra, d.grows)
	if err != nil {
		abort(err)
	}
	d.made, d.dict = made, made.Dict
}

// bounds returns the range of the domain's codes.
func (d *domain) bounds() interval.Interval { return d.made.Bounds() }

// place is that of the dictionary, in a domain that does not grow.
func (d *domain) place(s string) (lo, hi int64) { return d.made.Place(s) }

// domains finds the domains of a plan.
type domains struct {
	vars map[*queryplan.Var][]*domain
	// exprs holds the domains of strings that Maps compute, and values those of
	// the columns of constant bags.
	exprs  map[queryplan.Expr]*domain
	values map[*queryplan.Values][]*domain
	all    []*domain
}

func (ds *domains) fresh() *domain {
	d := &domain{}
	ds.all = append(ds.all, d)
	return d
}

// findDomains unites what can meet in a plan and settles the dictionaries.
func findDomains(mem *memory, p *queryplan.Plan, column func(v *queryplan.Var, i int) *store.Column) *domains {
	ds := &domains{
		vars:   map[*queryplan.Var][]*domain{},
		exprs:  map[queryplan.Expr]*domain{},
		values: map[*queryplan.Values][]*domain{},
	}
	for _, v := range p.Vars {
		cols := make([]*domain, len(v.Cols))
		for i, c := range v.Cols {
			if c.Type.Kind != scalar.String {
				continue
			}
			cols[i] = ds.fresh()
			if col := column(v, i); col != nil && col.Dict != nil {
				cols[i].addDict(col.Dict)
			}
		}
		ds.vars[v] = cols
	}
	for _, b := range p.Blocks {
		for _, c := range b.Cmds {
			switch c := c.(type) {
			case *queryplan.Insert:
				ds.assign(c.Var, c.Node)
			case *queryplan.Assign:
				ds.assign(c.Var, c.Node)
			case *queryplan.Check:
				ds.node(c.Node)
			}
		}
	}
	for _, d := range ds.all {
		if d.parent == nil {
			d.settle(mem)
		}
	}
	return ds
}

func (ds *domains) assign(v *queryplan.Var, n queryplan.Node) {
	cols := ds.node(n)
	for i, c := range n.Columns() {
		if d := cols[c.Name]; d != nil {
			unite(ds.vars[v][i], d)
		}
	}
}

// node returns the domains of the String columns of an operator's result.
func (ds *domains) node(n queryplan.Node) map[string]*domain {
	switch n := n.(type) {
	case *queryplan.Scan:
		out := map[string]*domain{}
		for i, name := range n.Names {
			if d := ds.vars[n.Var][i]; name != "" && d != nil {
				out[name] = d
			}
		}
		return out
	case *queryplan.Values:
		out := map[string]*domain{}
		cols := make([]*domain, len(n.Cols))
		for i, c := range n.Cols {
			if c.Type.Kind == scalar.String {
				cols[i] = ds.fresh()
				for _, row := range n.Rows {
					cols[i].extra = append(cols[i].extra, row[i].Str())
				}
				out[c.Name] = cols[i]
			}
		}
		ds.values[n] = cols
		return out
	case *queryplan.Filter:
		out := ds.node(n.Input)
		ds.compared(n.Cond, out)
		return out
	case *queryplan.Map:
		in := ds.node(n.Input)
		out := map[string]*domain{}
		for name, d := range in {
			out[name] = d
		}
		for _, e := range n.Exprs {
			ds.compared(e.Expr, in)
			if e.Expr.Type().Kind == scalar.String {
				out[e.Name] = ds.computed(e.Expr, in)
			}
		}
		return out
	case *queryplan.Project:
		in, out := ds.node(n.Input), map[string]*domain{}
		for _, c := range n.Cols {
			if d := in[c.From]; d != nil {
				out[c.To] = d
			}
		}
		return out
	case *queryplan.Join:
		out, right := ds.node(n.Left), ds.node(n.Right)
		for name, d := range right {
			if have := out[name]; have != nil {
				unite(have, d)
			} else if n.Kind == queryplan.Inner {
				out[name] = d
			}
		}
		return out
	case *queryplan.Aggregate:
		in, out := ds.node(n.Input), map[string]*domain{}
		for _, name := range n.By {
			if d := in[name]; d != nil {
				out[name] = d
			}
		}
		for _, a := range n.Aggs {
			if a.Out.Type.Kind == scalar.String {
				out[a.Out.Name] = in[a.In]
			}
		}
		return out
	case *queryplan.Union:
		out := ds.node(n.Nodes[0])
		for _, u := range n.Nodes[1:] {
			for name, d := range ds.node(u) {
				unite(out[name], d)
			}
		}
		return out
	case *queryplan.MultiJoin:
		out := ds.node(n.Nodes[0])
		for _, in := range n.Nodes[1:] {
			for name, d := range ds.node(in) {
				if have := out[name]; have != nil {
					unite(have, d)
				} else {
					out[name] = d
				}
			}
		}
		return out
	default: // Dedup, Seq and TopK add no strings.
		return ds.node(n.Inputs()[0])
	}
}

// computed returns the domain of a string that a Map adds.
func (ds *domains) computed(e queryplan.Expr, in map[string]*domain) *domain {
	if c, ok := e.(*queryplan.ColRef); ok {
		return in[c.Col.Name]
	}
	d := ds.exprs[e]
	if d == nil {
		d = ds.fresh()
		ds.exprs[e] = d
	}
	if k, ok := e.(*queryplan.Const); ok {
		d.extra = append(d.extra, k.Value.Str())
	} else {
		d.find().grows = true
	}
	return d
}

// compared unites the domains of columns that an expression compares, so that
// it can compare their codes.
func (ds *domains) compared(e queryplan.Expr, in map[string]*domain) {
	queryplan.WalkExpr(e, func(e queryplan.Expr) {
		call, ok := e.(*queryplan.Call)
		if !ok || len(call.Args) != 2 {
			return
		}
		switch call.Func.Name {
		case "eq", "ne", "lt", "le", "gt", "ge":
			a, ok := call.Args[0].(*queryplan.ColRef)
			b, ok2 := call.Args[1].(*queryplan.ColRef)
			if ok && ok2 && a.Col.Type.Kind == scalar.String {
				unite(in[a.Col.Name], in[b.Col.Name])
			}
		}
	})
}
