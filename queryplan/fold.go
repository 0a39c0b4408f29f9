package queryplan

import "slices"

// Fold is an aggregate over a join, divided into its sides: pairs that the loop
// around does not change, and values that each round has anew, with one tuple
// for a key. What is computed of the values alone is computed before the join.
type Fold struct {
	Pairs, Values Node
	On, Keys      []string // the columns that join them, in Pairs and in Values
	// By are the columns that the aggregate groups by, in order. All are of
	// Pairs, unless Tally is set and it counts the pairs: then those are of
	// Values where OfValues says so.
	By       []string
	Tally    bool
	OfValues []bool
}

// Fold divides an aggregate of a block; not ok if it is of another kind.
func (f *Flow) Fold(n *Aggregate, b *Block) (Fold, bool) {
	var above []Node // the outermost first
	in := n.Input
	for {
		switch x := in.(type) {
		case *Map:
			above, in = append(above, x), x.Input
			continue
		case *Project:
			above, in = append(above, x), x.Input
			continue
		}
		break
	}
	j, ok := in.(*Join)
	if !ok || j.Kind != Inner || len(j.On()) == 0 || len(n.By) == 0 ||
		!f.InLoop(b) {
		return Fold{}, false
	}
	slices.Reverse(above)
	for _, sides := range [2][2]Node{{j.Left, j.Right}, {j.Right, j.Left}} {
		pairs, values := sides[0], sides[1]
		if !f.FoldsFrom(pairs, values, j.On(), b) {
			continue
		}
		s := newFolder(n, pairs, values, j.On())
		if !slices.ContainsFunc(above, func(x Node) bool { return !s.add(x) }) {
			if out, ok := s.fold(n); ok {
				return out, true
			}
		}
	}
	return Fold{}, false
}

// FoldsFrom reports whether the sides of a join are what folds have: pairs that
// the loop does not change, and values that each round replaces.
func (f *Flow) FoldsFrom(pairs, values Node, on []string, b *Block) bool {
	return f.isSettled(pairs, b) && f.isReplaced(values, b) && IsKey(values, on)
}

// isSettled reports whether a tree is the same in all rounds of the loop.
func (f *Flow) isSettled(n Node, b *Block) bool {
	settled := true
	Walk(n, func(n Node) {
		switch n := n.(type) {
		case *Scan:
			settled = settled && !f.ChangesAround(n.Var, b)
		case *Filter:
			settled = settled && !IsVolatile(n.Cond)
		case *Map:
			settled = settled && !slices.ContainsFunc(n.Exprs, func(e NamedExpr) bool {
				return IsVolatile(e.Expr)
			})
		}
	})
	return settled
}

// isReplaced reports whether a tree reads bags that the loop replaces, and of
// what the loop changes nothing else: deltas are few tuples. A tree with groups
// of its own would be compiled twice for each of them.
func (f *Flow) isReplaced(n Node, b *Block) bool {
	replaced, others := false, false
	Walk(n, func(n Node) {
		switch n := n.(type) {
		case *Scan:
			if f.ChangesAround(n.Var, b) {
				replaced = true
				others = others || n.Var.Kind != Temp
			}
		case *Aggregate, *Seq, *TopK, *Dedup, *MultiJoin:
			others = true
		}
	})
	return replaced && !others
}

// folder goes through the operators between a join and an aggregate. It keeps
// what has to do with the values.
type folder struct {
	out Fold
	// ofPairs and ofValues are the columns so far: the name that each has in
	// pairs, and those of values.
	ofPairs  map[string]string
	ofValues map[string]bool
	fresh    *Names
}

func newFolder(n *Aggregate, pairs, values Node, on []string) *folder {
	s := &folder{out: Fold{Pairs: pairs, Values: values, On: on, Keys: slices.Clone(on)},
		ofPairs: map[string]string{}, ofValues: map[string]bool{},
		fresh: ColumnNames(n)}
	for _, c := range pairs.Columns() {
		s.ofPairs[c.Name] = c.Name
	}
	for _, c := range values.Columns() {
		s.ofValues[c.Name] = true
	}
	return s
}

// add goes through an operator. It returns false if the operator drops rows by
// columns of pairs.
func (s *folder) add(n Node) bool {
	switch n := n.(type) {
	case *Map:
		var exprs []NamedExpr
		for _, e := range n.Exprs {
			if slices.ContainsFunc(ExprColumns(e.Expr),
				func(name string) bool { return !s.ofValues[name] }) {
				if MayFail(e.Expr) {
					return false
				}
				continue
			}
			if IsVolatile(e.Expr) {
				return false
			}
			exprs = append(exprs, e)
		}
		for _, e := range exprs {
			s.ofValues[e.Name] = true
		}
		if len(exprs) > 0 {
			s.out.Values = &Map{Input: s.out.Values, Exprs: exprs}
		}
	case *Project:
		p := &Project{Input: s.out.Values}
		ofPairs, ofValues := map[string]string{}, map[string]bool{}
		for _, col := range n.Cols {
			if from, ok := s.ofPairs[col.From]; ok {
				ofPairs[col.To] = from
			}
			if s.ofValues[col.From] {
				ofValues[col.To] = true
				p.Cols = append(p.Cols, col)
			}
		}
		for i, key := range s.out.Keys { // stay, whatever they are called
			s.out.Keys[i] = s.fresh.Fresh(key)
			p.Cols = append(p.Cols, Rename{From: key, To: s.out.Keys[i]})
		}
		s.out.Values, s.ofPairs, s.ofValues = p, ofPairs, ofValues
	}
	return true
}

// fold returns the sides; not ok if the aggregate has arguments of pairs, or
// groups by values and does more than to count.
func (s *folder) fold(n *Aggregate) (Fold, bool) {
	counts, ofPairs := true, false
	for _, a := range n.Aggs {
		counts = counts && a.Fn == Count
	}
	for _, name := range n.By {
		from, ok := s.ofPairs[name]
		if !ok {
			if !s.ofValues[name] {
				return Fold{}, false
			}
			from = name
			s.out.Tally = true
		}
		ofPairs = ofPairs || ok
		s.out.By = append(s.out.By, from)
		s.out.OfValues = append(s.out.OfValues, !ok)
	}
	if !ofPairs || s.out.Tally && !counts {
		return Fold{}, false
	}
	for _, a := range n.Aggs {
		if a.Fn != Count && !s.ofValues[a.In] {
			return Fold{}, false
		}
	}
	return s.out, true
}
