package queryplan

import "strconv"

// Names makes names that are not taken. It is deterministic: the same requests
// give the same names.
type Names struct {
	taken map[string]bool
	last  map[string]int // number given last for a base
}

// NewNames returns a generator that avoids the given names.
func NewNames(taken ...string) *Names {
	n := &Names{taken: map[string]bool{}, last: map[string]int{}}
	n.Take(taken...)
	return n
}

// VarNames returns a generator that avoids the names of a plan's variables.
func VarNames(p *Plan) *Names {
	n := NewNames()
	for _, v := range p.Vars {
		n.Take(v.Name)
	}
	return n
}

// ColumnNames returns a generator that avoids every column name in a tree,
// those of inner operators too.
func ColumnNames(nodes ...Node) *Names {
	names := NewNames()
	for _, n := range nodes {
		Walk(n, func(n Node) {
			switch n := n.(type) {
			case *Scan:
				names.Take(n.Names...)
				names.Take(n.Position)
			case *Values:
				names.Take(NamesOf(n.Cols)...)
			case *Map:
				for _, e := range n.Exprs {
					names.Take(e.Name)
				}
			case *Project:
				for _, c := range n.Cols {
					names.Take(c.To)
				}
			case *Aggregate:
				for _, a := range n.Aggs {
					names.Take(a.Out.Name)
				}
			case *Seq:
				names.Take(n.Index)
			}
		})
	}
	return names
}

// Take marks names as taken.
func (n *Names) Take(names ...string) {
	for _, s := range names {
		n.taken[s] = true
	}
}

// Fresh returns base, or base$1, base$2 and so on if it is taken, and takes it.
func (n *Names) Fresh(base string) string {
	name := base
	for n.taken[name] {
		n.last[base]++
		name = base + "$" + strconv.Itoa(n.last[base])
	}
	n.taken[name] = true
	return name
}
