package harmony

import (
	"github.com/redfoxdb/redfox/internal/bitset"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// Reads returns the variables whose contents a command needs: sources, probed
// indexes, and relations that it gathers from. Variables that it only adds to
// are not among them.
func Reads(c Command) []Managed {
	switch c := c.(type) {
	case *Run:
		return c.Kernel.Reads()
	case *Build:
		return []Managed{c.Index.Of}
	case *Number:
		return []Managed{c.From}
	case *TopK:
		return []Managed{c.From}
	case *Check:
		return []Managed{c.Rel}
	case *CheckKey:
		return []Managed{c.Rel}
	}
	return nil
}

// Reads returns the variables that a kernel reads, each once, in the order of
// its text.
func (k *Kernel) Reads() []Managed {
	var out []Managed
	seen := map[Managed]bool{}
	add := func(v Managed) {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	switch s := k.Source.(type) {
	case *Rows:
		add(s.Rel)
	case *GroupRows:
		add(s.Groups)
	}
	for _, s := range k.Stages {
		switch s := s.(type) {
		case *Probe:
			add(s.Index)
		case *Gather:
			add(s.Row.Row)
		}
	}
	return out
}

// ColumnsRead visits the columns of relations that a command reads, in the
// order of its text. It may visit a column several times. It does not visit
// positions.
func ColumnsRead(c Command, visit func(r *Relation, col int)) {
	all := func(r *Relation) {
		for i := range r.Cols {
			visit(r, i)
		}
	}
	switch c := c.(type) {
	case *Run:
		c.Kernel.columnsRead(visit)
	case *Build:
		if c.Index.ByPosition() {
			return
		}
		for _, col := range c.Index.Key {
			visit(c.Index.Of, col)
		}
	case *Number:
		visitOrder(c.From, c.Group, c.Keys(), visit)
	case *TopK:
		visitOrder(c.From, c.Group, c.Keys(), visit)
	case *Check:
		all(c.Rel)
	case *CheckKey:
		all(c.Rel)
	}
}

// visitOrder calls visit for the columns of groups and of an order.
func visitOrder(from *Relation, group []int, by []OrderKey, visit func(r *Relation, col int)) {
	for _, col := range group {
		visit(from, col)
	}
	for _, k := range by {
		visit(from, ColumnIndex(from.Cols, k.Col))
	}
}

func (k *Kernel) columnsRead(visit func(r *Relation, col int)) {
	source, _ := k.Source.(*Rows)
	for _, s := range k.Stages {
		if k.PositionOf(s) != nil {
			continue // positions are not visited
		}
		switch s := s.(type) {
		case *Load:
			if source != nil {
				visit(source.Rel, s.Col)
			}
		case *Gather:
			visit(s.Row.Row, s.Col)
		}
	}
}

// Writes returns the variables whose contents a command changes, each once.
func Writes(c Command) []Managed {
	switch c := c.(type) {
	case *Run:
		return c.Kernel.Writes()
	case *Build:
		return []Managed{c.Index}
	case *Number:
		return []Managed{c.To}
	case *TopK:
		return []Managed{c.To}
	case *Merge:
		return []Managed{c.Rel}
	case *Clear:
		return []Managed{c.Var}
	}
	return nil
}

// Writes returns the variables that a kernel adds to, each once.
func (k *Kernel) Writes() []Managed {
	var out []Managed
	seen := map[Managed]bool{}
	for _, s := range k.Sinks {
		if v := SinkTarget(s); !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// Inserts returns the variables that a command adds to, each once. An insert
// into a derived relation changes only the tuples that no Merge has seen.
func Inserts(c Command) []Managed {
	switch c.(type) {
	case *Run, *Number, *TopK:
		return Writes(c)
	}
	return nil
}

// changes visits the relations of which a command changes a readable version.
// An insert changes none.
func changes(c Command, visit func(*Relation)) {
	inserts := len(Inserts(c)) > 0
	for _, v := range Writes(c) {
		if r, ok := v.(*Relation); ok && !(inserts && r.Kind == queryplan.Derived) {
			visit(r)
		}
	}
}

// numbering numbers the variables of a program in the order of the text, so
// that sets of them are bit sets with that order.
type numbering struct {
	vars []Managed
	at   map[Managed]int
}

func number(p *Program) *numbering {
	n := &numbering{at: map[Managed]int{}}
	add := func(v Managed) {
		n.at[v] = len(n.vars)
		n.vars = append(n.vars, v)
	}
	for _, r := range p.Relations {
		add(r)
	}
	for _, x := range p.Indexes {
		add(x)
	}
	for _, g := range p.Groups {
		add(g)
	}
	return n
}

func (n *numbering) none() bitset.Set { return bitset.New(len(n.vars)) }

func (n *numbering) add(b bitset.Set, v Managed)      { b.Add(n.at[v]) }
func (n *numbering) drop(b bitset.Set, v Managed)     { b.Remove(n.at[v]) }
func (n *numbering) has(b bitset.Set, v Managed) bool { return b.Has(n.at[v]) }

// list returns the members in the order of the text.
func (n *numbering) list(b bitset.Set) (out []Managed) {
	for i := range b.Members {
		out = append(out, n.vars[i])
	}
	return out
}

// Valid calls visit for every reachable command. valid reports whether an index
// can be probed before the command, because it is valid there on every path.
func Valid(p *Program, visit func(c Command, valid func(*Index) bool)) {
	n := number(p)
	step := func(b *Block, valid bitset.Set, visit func(Command, func(*Index) bool)) {
		for _, c := range b.Cmds {
			if visit != nil {
				visit(c, func(x *Index) bool { return n.has(valid, x) })
			}
			n.indexes(p, c, valid)
		}
	}
	at, _ := cfg.Forward(p.Blocks, n.none(), bitset.Set.Clone, bitset.Set.KeepAll,
		func(b *Block, valid bitset.Set) error {
			step(b, valid, nil)
			return nil
		})
	for _, b := range p.Blocks {
		if valid, ok := at[b]; ok {
			step(b, valid.Clone(), visit)
		}
	}
}

// indexes updates the set of valid indexes for a command.
func (n *numbering) indexes(p *Program, c Command, valid bitset.Set) {
	changes(c, func(r *Relation) {
		for _, x := range p.Indexes {
			if x.Of == r {
				n.drop(valid, x)
			}
		}
	})
	if b, ok := c.(*Build); ok {
		n.add(valid, b.Index)
	}
}
