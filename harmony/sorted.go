package harmony

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// Filling describes how one kernel fills groups: from the rows of a relation,
// with columns Key of it as the key, in a block.
type Filling struct {
	From  *Relation
	Key   []int
	Block *Block
}

// FillingOf returns how groups are filled. ok is false unless one kernel fills
// them, whose rows come in the order of a relation.
func (p *Program) FillingOf(g *Groups) (f Filling, ok bool) {
	var fills *Kernel
	var operands []Operand
	for b, c := range p.Commands() {
		run, ok := c.(*Run)
		if !ok {
			continue
		}
		for _, s := range run.Kernel.Sinks {
			if s, ok := s.(*Group); ok && s.To == g {
				if fills != nil {
					return f, false
				}
				fills, operands, f.Block = run.Kernel, s.Key, b
			}
		}
	}
	if fills == nil || len(operands) == 0 {
		return f, false
	}
	rows, ok := fills.Source.(*Rows)
	if !ok {
		return f, false
	}
	f.From = rows.Rel
	loads := map[*Reg]int{}
	for _, s := range fills.Stages {
		switch s := s.(type) {
		case *Load:
			loads[s.Out] = s.Col
		case *Probe:
			if s.Kind == ProbeMulti {
				return f, false
			}
		}
	}
	for _, o := range operands {
		at, loaded := loads[o.Reg]
		if !loaded || at == f.From.Position() {
			return f, false
		}
		f.Key = append(f.Key, at)
	}
	return f, true
}

// Sorted reports whether the rows that fill groups come from a temp in the
// order of their keys, so that the rows of a group are adjacent. That is so if
// a TopK has ordered them, and nothing else fills the temp. ascend means that
// the words of the keys ascend, too, if those of uints are not negative.
func (p *Program) Sorted(g *Groups) (f Filling, ascend, ok bool) {
	if f, ok = p.FillingOf(g); !ok || f.From.Kind != queryplan.Temp {
		return f, false, false
	}
	by := p.orderOf(f.From)
	if len(by) < len(f.Key) {
		return f, false, false
	}
	ascend = true
	for i, at := range f.Key {
		kind := f.From.Cols[at].Type.Kind
		if by[i].Col != f.From.Cols[at].Name || kind == scalar.Float {
			return f, false, false
		}
		ascend = ascend && !by[i].Desc && kind != scalar.String
	}
	return f, ascend, true
}

// orderOf returns the order of a temp's rows, by its columns. It returns nil
// unless all of its rows come from one TopK that runs once.
func (p *Program) orderOf(t *Relation) []OrderKey {
	var by []OrderKey
	var reach map[*Block]map[*Block]bool
	for b, c := range p.Commands() {
		if !slices.Contains(Writes(c), Managed(t)) {
			continue
		}
		switch c := c.(type) {
		case *Clear:
		case *TopK:
			if reach == nil {
				reach = cfg.Reach(p.Blocks, (*Block).Successors)
			}
			if by != nil || len(c.Group) > 0 || reach[b][b] {
				return nil
			}
			for _, k := range c.By {
				at := slices.Index(c.Cols, ColumnIndex(c.From.Cols, k.Col))
				if at < 0 {
					break
				}
				by = append(by, OrderKey{Col: t.Cols[at].Name, Desc: k.Desc})
			}
		default:
			return nil
		}
	}
	return by
}
