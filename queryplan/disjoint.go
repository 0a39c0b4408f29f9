package queryplan

import "slices"

// The proofs here serve functional predicates with several rules, of which the
// commonest gives a default value:
//
//	total[x] = n <- some[x] = n.
//	total[x] = 0 <- node(x), !some[x] = _.
//
// The keys of the first rule are keys of some, those of the second are not.

// maxDisjoint bounds the trees that are compared in pairs.
const maxDisjoint = 16

// AgreeOnKey reports whether it is proved that tuples of the given trees that
// agree on the first keys columns agree on all: within each tree, and because
// no two trees yield the same key. The trees have to see the same contents of
// the variables that they read.
func AgreeOnKey(nodes []Node, keys int) bool {
	if len(nodes) > maxDisjoint {
		return false
	}
	for i, n := range nodes {
		names := NamesOf(n.Columns())
		if !Determines(n, names[:keys], names[keys:]) {
			return false
		}
		for _, other := range nodes[:i] {
			if !disjoint(n, other, keys) && !disjoint(other, n, keys) {
				return false
			}
		}
	}
	return true
}

// disjoint reports whether some first columns of a are proved to be in a
// variable in which those of b are proved not to be.
func disjoint(a, b Node, keys int) bool {
	in := (&tracer{}).origins(a)
	aNames := NamesOf(a.Columns())[:keys]
	bNames := NamesOf(b.Columns())[:keys]
	for _, e := range exclusions(b) {
		var within []origin // of the columns so far, one for each scan that has them all
		ok := len(e.cols) > 0
		for i, x := range e.cols {
			at := slices.Index(bNames, x.name)
			if ok = at >= 0; !ok {
				break
			}
			var here []origin
			for _, o := range in[aNames[at]] {
				sameRow := i == 0 || slices.ContainsFunc(within, func(w origin) bool {
					return w.occurrence == o.occurrence
				})
				if o.v == e.v && o.col == x.col && sameRow {
					here = append(here, o)
				}
			}
			within = here
		}
		if ok && len(within) > 0 {
			return true
		}
	}
	return false
}

// origin is the column of a variable that a column gets its values from; the
// position counts as the column behind the others. Columns of one occurrence of
// a scan come from one row of the variable.
type origin struct {
	occurrence int
	v          *Var
	col        int
}

type tracer struct{ occurrences int }

// origins returns where each column of n comes from; through a join on equal
// columns it may come from several scans.
func (t *tracer) origins(n Node) map[string][]origin {
	out := map[string][]origin{}
	switch n := n.(type) {
	case *Scan:
		t.occurrences++
		for i, name := range n.Names {
			if name != "" && n.Version == Full {
				out[name] = []origin{{t.occurrences, n.Var, i}}
			}
		}
		if n.Position != "" && n.Version == Full {
			out[n.Position] = []origin{{t.occurrences, n.Var, len(n.Names)}}
		}
	case *Filter, *Dedup, *TopK, *Seq:
		return t.origins(n.Inputs()[0])
	case *Map:
		out = t.origins(n.Input)
		for _, e := range n.Exprs {
			if c, ok := e.Expr.(*ColRef); ok {
				out[e.Name] = out[c.Col.Name]
			}
		}
	case *Project:
		in := t.origins(n.Input)
		for _, c := range n.Cols {
			out[c.To] = in[c.From]
		}
	case *Join:
		out = t.origins(n.Left)
		if n.Kind == Anti {
			break
		}
		right := t.origins(n.Right)
		for _, c := range n.Columns() {
			out[c.Name] = append(out[c.Name], right[c.Name]...)
		}
	case *Aggregate:
		in := t.origins(n.Input)
		for _, name := range n.By {
			out[name] = in[name]
		}
	}
	return out
}

// exclusion holds if the values of some columns are in no row of a variable.
type exclusion struct {
	v    *Var
	cols []excluded
}

type excluded struct {
	name string
	col  int // of the variable
}

// exclusions returns what the anti joins of a tree exclude.
func exclusions(n Node) []exclusion {
	switch n := n.(type) {
	case *Filter, *Dedup, *TopK, *Seq, *Map:
		return exclusions(n.Inputs()[0])
	case *Aggregate:
		return visible(exclusions(n.Input), n.By)
	case *Project:
		var out []exclusion
		for _, e := range exclusions(n.Input) {
			if renamed, ok := e.rename(n.Cols); ok {
				out = append(out, renamed)
			}
		}
		return out
	case *Join:
		out := exclusions(n.Left)
		switch n.Kind {
		case Inner:
			out = append(out, exclusions(n.Right)...)
		case Anti:
			if e, ok := excludes(n); ok {
				out = append(out, e)
			}
		}
		return out
	}
	return nil
}

// visible returns the exclusions about the given columns only.
func visible(es []exclusion, names []string) []exclusion {
	var out []exclusion
	for _, e := range es {
		if !slices.ContainsFunc(e.cols, func(x excluded) bool {
			return !slices.Contains(names, x.name)
		}) {
			out = append(out, e)
		}
	}
	return out
}

func (e exclusion) rename(cols []Rename) (exclusion, bool) {
	out := exclusion{v: e.v}
	for _, x := range e.cols {
		for _, c := range cols {
			if c.From == x.name {
				out.cols = append(out.cols, excluded{c.To, x.col})
				break
			}
		}
	}
	return out, len(out.cols) == len(e.cols)
}

// excludes reads an anti join whose right side is a whole variable.
func excludes(n *Join) (exclusion, bool) {
	right := n.Right
	if p, ok := right.(*Project); ok {
		right = p.Input
	}
	s, ok := right.(*Scan)
	if !ok || s.Version != Full {
		return exclusion{}, false
	}
	from := (&tracer{}).origins(n.Right)
	e := exclusion{v: s.Var}
	for _, name := range n.On() {
		e.cols = append(e.cols, excluded{name, from[name][0].col})
	}
	return e, len(e.cols) > 0
}
