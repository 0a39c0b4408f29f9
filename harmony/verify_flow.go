package harmony

import (
	"fmt"

	"github.com/redfoxdb/redfox/internal/bitset"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// flow is the state of variables at a point of the control flow.
type flow struct {
	ready    bitset.Set // temps, groups and indexes that can be read, on every path
	unmerged bitset.Set // relations with tuples inserted since the last Merge, on some path
}

// verifyFlow follows all paths from the entry.
func verifyFlow(p *Program) error {
	n := number(p)
	at, err := cfg.Forward(p.Blocks, flow{n.none(), n.none()},
		func(f flow) flow { return flow{f.ready.Clone(), f.unmerged.Clone()} },
		func(into, from flow) bool {
			shrunk := into.ready.KeepAll(from.ready)
			return into.unmerged.AddAll(from.unmerged) || shrunk
		},
		func(b *Block, f flow) error {
			for _, c := range b.Cmds {
				if err := f.step(p, n, c); err != nil {
					return fmt.Errorf("block %s, %s: %w", b.Name, CommandString(c), err)
				}
			}
			if _, halt := b.Term.(*Halt); halt {
				if left := n.list(f.unmerged); len(left) > 0 {
					return fmt.Errorf("block %s: the program halts before %s is merged", b.Name,
						left[0].ManagedName())
				}
			}
			return nil
		})
	if err != nil {
		return err
	}
	return cfg.Reached(p.Blocks, at)
}

func (f flow) step(p *Program, n *numbering, c Command) error {
	for _, m := range Reads(c) {
		switch m := m.(type) {
		case *Index:
			if !n.has(f.ready, m) {
				return fmt.Errorf("index %s is not built on every path after the last change of %s",
					m.Name, m.Of.Name)
			}
		case *Relation:
			if m.Kind == queryplan.Temp && !n.has(f.ready, m) {
				return fmt.Errorf("%s is not filled before on every path", m.Name)
			}
		case *Groups:
			if !n.has(f.ready, m) {
				return fmt.Errorf("%s is not filled before on every path", m.Name)
			}
		}
	}
	n.indexes(p, c, f.ready)
	for _, m := range Writes(c) {
		n.add(f.ready, m)
	}
	for _, m := range Inserts(c) {
		if r, ok := m.(*Relation); ok && r.Kind == queryplan.Derived {
			n.add(f.unmerged, m)
		}
	}
	switch c := c.(type) {
	case *Merge:
		n.drop(f.unmerged, c.Rel)
	case *Clear:
		n.drop(f.unmerged, c.Var)
	}
	return nil
}
