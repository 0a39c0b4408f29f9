package decompose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/queryplan/cfg"
	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// Loop is a decomposable loop.
type Loop struct {
	Block *harmony.Block
	Rel   *harmony.Relation
	// Kernels are those of the loop, all over the delta of Rel; Builds the
	// indexes that it makes, of relations that do not change in it.
	Kernels []*harmony.Kernel
	Builds  []*harmony.Index
	// Carried are the columns of Rel that every kernel takes over, ascending;
	// at least one.
	Carried []int
	// Read says which columns of Rel something may read after the loop.
	Read []bool
}

// String returns a line for people: "b1: tc is decomposed by x".
func (l *Loop) String() string {
	names := make([]string, len(l.Carried))
	for i, c := range l.Carried {
		names[i] = irtext.QuoteColumn(l.Rel.Cols[c].Name)
	}
	return fmt.Sprintf("%s: %s is decomposed by %s", irtext.QuoteName(l.Block.Name),
		irtext.QuoteName(l.Rel.Name), strings.Join(names, ", "))
}

// Find returns the decomposable loops of a verified program, in the order of
// their blocks.
func Find(p *harmony.Program) []*Loop {
	var out []*Loop
	for _, b := range p.Blocks {
		if l := decompose(p, b); l != nil {
			out = append(out, l)
		}
	}
	return out
}

// decompose returns the loop that a block is, if it is decomposable.
func decompose(p *harmony.Program, b *harmony.Block) *Loop {
	branch, ok := b.Term.(*harmony.Branch)
	if !ok || branch.Then != b || branch.Else == b || len(branch.Vars) != 1 {
		return nil
	}
	l := &Loop{Block: b, Rel: branch.Vars[0]}
	if !l.commands() || len(l.Kernels) == 0 || positioned(p, l.Rel) {
		return nil
	}
	for c := range l.Rel.Cols {
		if !slices.ContainsFunc(l.Kernels, func(k *harmony.Kernel) bool { return !carries(k, c) }) {
			l.Carried = append(l.Carried, c)
		}
	}
	if len(l.Carried) == 0 {
		return nil
	}
	after := cfg.Reach(p.Blocks, (*harmony.Block).Successors)[branch.Else]
	l.Read = make([]bool, len(l.Rel.Cols))
	for _, later := range p.Blocks {
		if later != branch.Else && !after[later] {
			continue
		}
		for _, c := range later.Cmds {
			// Later insertions would have to be compared with all tuples.
			if inserts(c, l.Rel) {
				return nil
			}
			l.reads(c)
		}
	}
	if l.Rel.Output {
		l.all()
	}
	return l
}

// commands sorts the commands of the block, and reports whether they do nothing
// but run kernels from the relation's delta to its new part, and end the round.
func (l *Loop) commands() bool {
	merged := false
	for _, c := range l.Block.Cmds {
		switch c := c.(type) {
		case *harmony.Build:
			if c.Index.Of == l.Rel {
				return false
			}
			l.Builds = append(l.Builds, c.Index)
		case *harmony.Run:
			if merged || !l.closed(c.Kernel) {
				return false
			}
			l.Kernels = append(l.Kernels, c.Kernel)
		case *harmony.Merge:
			if merged || c.Rel != l.Rel {
				return false
			}
			merged = true
		default:
			return false
		}
	}
	return merged
}

// closed reports whether a kernel derives tuples of the relation from one of
// its delta, and needs none of its other tuples.
func (l *Loop) closed(k *harmony.Kernel) bool {
	src, ok := k.Source.(*harmony.Rows)
	if !ok || src.Rel != l.Rel || src.Version != harmony.Delta {
		return false
	}
	for _, s := range k.Stages {
		if p, ok := s.(*harmony.Probe); ok && p.Index.Of == l.Rel {
			return false
		}
	}
	for _, s := range k.Sinks {
		if in, ok := s.(*harmony.Insert); !ok || in.To != l.Rel {
			return false
		}
	}
	return true
}

// positioned reports whether something asks for positions of rows of a
// relation: workers with relations of their own cannot number the rows.
func positioned(p *harmony.Program, r *harmony.Relation) bool {
	return slices.ContainsFunc(p.Indexes, func(x *harmony.Index) bool {
		return x.Of == r && x.ByPosition()
	}) || slices.ContainsFunc(p.Kernels(), func(k *harmony.Kernel) bool {
		return slices.ContainsFunc(k.Stages, func(s harmony.Stage) bool {
			return k.PositionOf(s) == r
		})
	})
}

// carries reports whether all tuples that a kernel inserts have the column that
// the source's row has.
func carries(k *harmony.Kernel, col int) bool {
	loaded := map[*harmony.Reg]bool{}
	for _, s := range k.Stages {
		if load, ok := s.(*harmony.Load); ok && load.Col == col {
			loaded[load.Out] = true
		}
	}
	for _, s := range k.Sinks {
		if v := s.(*harmony.Insert).Vals[col]; v.Reg == nil || !loaded[v.Reg] {
			return false
		}
	}
	return true
}

func inserts(c harmony.Command, r *harmony.Relation) bool {
	run, ok := c.(*harmony.Run)
	return ok && slices.ContainsFunc(run.Kernel.Sinks, func(s harmony.Sink) bool {
		return harmony.SinkTarget(s) == harmony.Managed(r)
	})
}

func (l *Loop) all() {
	for c := range l.Read {
		l.Read[c] = true
	}
}

// reads notes the columns of the relation that a command after the loop reads.
func (l *Loop) reads(c harmony.Command) {
	switch c := c.(type) {
	case *harmony.Run:
		src, rows := c.Kernel.Source.(*harmony.Rows)
		for _, s := range c.Kernel.Stages {
			switch s := s.(type) {
			case *harmony.Load:
				if rows && src.Rel == l.Rel {
					l.Read[s.Col] = true
				}
			case *harmony.Gather:
				if s.Row.Row == l.Rel {
					l.Read[s.Col] = true
				}
			}
		}
	case *harmony.Build:
		if c.Index.Of == l.Rel {
			for _, col := range c.Index.Key {
				l.Read[col] = true
			}
		}
	case *harmony.Merge, *harmony.Clear:
	default:
		if slices.Contains(harmony.Reads(c), harmony.Managed(l.Rel)) {
			l.all()
		}
	}
}
