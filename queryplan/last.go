package queryplan

import "github.com/redfoxdb/redfox/internal/scalar"

// LastTuples returns a tree with the tuples of a scan of the last version that
// scans no last version: the greatest position of each key, and the tuples that
// have it.
func LastTuples(n *Scan) Node {
	names := NewNames(n.Names...)
	key := make([]string, len(n.Names))
	for i := range n.Var.Keys {
		key[i] = names.Fresh(n.Var.Cols[i].Name)
	}
	at, last := names.Fresh("at"), names.Fresh("last")
	greatest := &Aggregate{
		Input: &Scan{Var: n.Var, Names: key, Position: at}, By: key[:n.Var.Keys],
		Aggs: []Agg{{Out: Column{Name: last, Type: scalar.IntType}, Fn: Max, In: at}},
	}
	tuples := &Join{
		Left:  &Project{Input: greatest, Cols: []Rename{{From: last, To: last}}},
		Right: &Scan{Var: n.Var, Names: n.Names, Position: last}, Unique: true,
	}
	out := &Project{Input: tuples}
	for _, name := range n.Names {
		if name != "" {
			out.Cols = append(out.Cols, Rename{From: name, To: name})
		}
	}
	return out
}

// WithoutLast returns a tree in which LastTuples takes the place of each scan
// of a last version.
func WithoutLast(n Node) Node {
	return Rewrite(n, func(n Node) Node {
		if s, ok := n.(*Scan); ok && s.Version == Last {
			return LastTuples(s)
		}
		return n
	})
}
