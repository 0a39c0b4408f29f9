package woven

import (
	"context"
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/ranges"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/prepare"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/weaver/assemble/codecache"
)

// Bound is a program with the facts of a run.
type Bound struct {
	*Program
	Data    *prepare.Data
	Ranges  *ranges.Ranges
	Layouts *layout.Layouts
}

// Bind finds the facts of a program, and chooses layouts for them, on threads
// threads. The errors are those of prepare.Bind.
func Bind(ctx context.Context, p *Program, facts *store.Database, policy layout.Policy, threads int,
	memory prepare.Memory) (*Bound, error) {
	data, err := prepare.Bind(ctx, p.Graph, p.Domains, facts, threads, memory)
	if err != nil {
		return nil, err
	}
	found := ranges.Find(p.Graph, p.Domains, data.Known())
	return &Bound{Program: p, Data: data, Ranges: found, Layouts: layout.New(p.Graph, layout.Facts{
		Column: found.Column,
		Distinct: ranges.Distinct(p.Graph, func(r *harmony.Relation, col int) int64 {
			return int64(data.Rows(r))
		}),
		Numbered: func(x *harmony.Index) bool { return numbered(x, data.Columns(x.Of), found) },
		NeedsSet: p.NeedsSet,
		Carried:  p.Carried,
		Ordered:  func(g *harmony.Groups) bool { return p.ordered(g, data.Columns) },
		Sorted: func(g *harmony.Groups) bool {
			return p.sorted(g, policy.Shared, found.Column)
		},
		Rows: func(r *harmony.Relation) (int, bool) {
			if data.Columns(r) == nil {
				return 0, false
			}
			return data.Rows(r), true
		},
		Loaded: func(r *harmony.Relation, i int) layout.Column {
			return LoadedLayout(data.Columns(r)[i], policy)
		},
	}, policy)}, nil
}

// Knowledge is what code may assume about the facts.
type Knowledge = codecache.Knowledge

// Knowledge returns what code for these facts may assume.
func (b *Bound) Knowledge() Knowledge {
	return Knowledge{
		Fix: func(_ string, p abi.Param) (int64, bool) {
			a := b.fix(p)
			return a.lo, a.ok
		},
		Range: func(r *harmony.Reg) (lo, hi int64, ok bool) {
			a := b.reg(r)
			return a.lo, a.hi, a.ok
		},
		Domains: b.Domains,
	}
}

// answer is one piece of Knowledge that code generation asked for.
type answer struct {
	lo, hi int64
	ok     bool
}

func (b *Bound) fix(p abi.Param) answer {
	v, ok := b.Layouts.Fix(b.Named, p)
	return answer{v, v, ok}
}

func (b *Bound) reg(r *harmony.Reg) answer {
	bound, exact := b.Ranges.Reg(r)
	if bound.Empty() {
		// No row comes here, so any bound holds.
		return answer{0, 0, true}
	}
	return answer{bound.Lo, bound.Hi, exact}
}

// Ascends reports whether the rows of an index of a form ascend by its key, so
// that the rows of a key follow each other. The columns are those of its loaded
// relation, or nil.
func Ascends(x *harmony.Index, form abi.Form, cols []*store.Column) bool {
	if x.Kind != harmony.Multi || form != abi.Direct || len(x.Key) != 1 || cols == nil {
		return false
	}
	c := cols[x.Key[0]]
	return c.Stats.Ascending && wordsAscend(c)
}

// numbered reports whether an index is of one column that counts the rows of a
// loaded relation, as the keys of dimension tables mostly do.
func numbered(x *harmony.Index, cols []*store.Column, found *ranges.Ranges) bool {
	if cols == nil || len(x.Key) != 1 {
		return false
	}
	c, n := cols[x.Key[0]], int64(cols[x.Key[0]].Len())
	bound := found.Column(x.Of, x.Key[0])
	return n > 0 && c.Stats.Ascending && wordsAscend(c) && c.Stats.Distinct == n &&
		uint64(c.Stats.Max)-uint64(c.Stats.Min) == uint64(n-1) && bound.Lo == c.Stats.Min &&
		bound.Hi == c.Stats.Max
}

// ordered reports whether the keys of groups come in order to each worker that
// takes rows from the first to the last: one kernel, which runs once, fills
// them in the order of a loaded relation by columns that ascend.
func (p *Program) ordered(g *harmony.Groups,
	columns func(r *harmony.Relation) []*store.Column) bool {
	f, ok := p.Graph.FillingOf(g)
	if !ok || p.Reach[f.Block][f.Block] || columns(f.From) == nil {
		return false
	}
	for _, at := range f.Key {
		if c := columns(f.From)[at]; c.Type.Kind == scalar.String || !c.Stats.Ascending ||
			!wordsAscend(c) {
			return false
		}
	}
	return true
}

// sorted reports whether the keys of groups come in an order that the run has
// put rows in. If threads have lists of their own, words must ascend; else it
// is enough that the rows of a group follow each other.
func (p *Program) sorted(g *harmony.Groups, shared bool,
	bound func(v harmony.Managed, col int) interval.Interval) bool {
	f, ascend, ok := p.Graph.Sorted(g)
	if !ok || shared {
		return ok
	}
	return ascend && !slices.ContainsFunc(f.Key, func(at int) bool {
		return f.From.Cols[at].Type.Kind == scalar.Uint && bound(f.From, at).Lo < 0
	})
}

// wordsAscend reports whether words order as the values of a column do.
func wordsAscend(c *store.Column) bool {
	return c.Type.Kind != scalar.Float &&
		(c.Type.Kind != scalar.Uint || c.Len() == 0 || c.Stats.Min >= 0 && c.Stats.Max >= 0)
}

// IsPacked reports whether the columns of a derived relation are stored as
// store.NewPacked stores words within bounds, so that offsets can be copied.
func (b *Bound) IsPacked(r *harmony.Relation, col int) (bound interval.Interval, ok bool) {
	bound = b.Ranges.Column(r, col)
	t := r.Cols[col].Type
	ordered := t.Kind != scalar.Float && (t.Kind != scalar.Uint || bound.Lo >= 0)
	return bound, ordered && bound.Bits() > 0 && bound.Bits() <= 32 &&
		b.Layouts.Columns[r][col] == layout.ColumnOf(bound)
}
