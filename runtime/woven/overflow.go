package woven

import (
	"cmp"
	"math"
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
)

// Groups is the contents of a group-by table, in the host's memory.
type Groups struct {
	Decl *harmony.Groups
	// Occupied has a word for each slot, not 0 for a group; Cells the
	// accumulators', as abi.CellOf says.
	Occupied []uint64
	Cells    [][]uint64
	// Key returns the word of a key's column in a slot.
	Key func(slot, col int) int64
}

// Overflow finds the first group, in the order of groups, with a result that
// does not fit its type. Code only notes that there is one.
func (b *Bound) Overflow(g *Groups) error {
	var group []scalar.Value
	first := -1
	for slot, occupied := range g.Occupied {
		if occupied == 0 {
			continue
		}
		for a := range g.Decl.Accs {
			if g.fits(a, slot) {
				continue
			}
			key := b.groupKey(g, slot)
			if first < 0 || slices.CompareFunc(key, group, scalar.Compare) < 0 {
				first, group = a, key
			}
			break
		}
	}
	if first < 0 {
		return ErrNoOverflow
	}
	acc := g.Decl.Accs[first]
	return &runtime.OverflowError{Fn: acc.Fn, Out: acc.Out, By: g.Decl.Keys, Group: group,
		Span: g.Decl.Span}
}

// ErrNoOverflow is code that says that a result does not fit when all do.
var ErrNoOverflow = &InternalError{Engine: "woven", Command: "aggregation",
	Cause: "a result is said not to fit its type, but all do"}

// fits reports whether an accumulator's result fits its type, as the go engine
// and the primitives compute it.
func (g *Groups) fits(a, slot int) bool {
	acc, cells := &g.Decl.Accs[a], g.Cells[g.Decl.Owner(a)]
	size := len(cells) / len(g.Occupied)
	cell := cells[size*slot:][:size]
	if acc.In.Kind == scalar.Float || acc.Fn != queryplan.Total && acc.Fn != queryplan.Avg {
		return true
	}
	sum, ok := scalar.Int128{Hi: int64(cell[1]), Lo: cell[0]}, true
	out := acc.Out.Type
	if acc.Fn == queryplan.Avg {
		if out.Kind == scalar.Float {
			return true
		}
		if sum, ok = sum.Mul(scalar.Pow10(int(out.Scale) - int(acc.In.Scale))); !ok {
			return false
		}
		if sum, ok = sum.QuoRound(scalar.Int128Of(int64(cell[2]))); !ok {
			return false
		}
	}
	if out.Kind == scalar.Uint {
		return sum.Hi == 0 &&
			(out.Bits == 0 || out.Bits == 64 ||
				cmp.Compare(sum.Lo, math.MaxUint64>>(64-out.Bits)) <= 0)
	}
	return sum.Fits64() && interval.OfType(out).Contains(sum.Int64())
}

// groupKey returns the key of a slot.
func (b *Bound) groupKey(g *Groups, slot int) []scalar.Value {
	out := make([]scalar.Value, len(g.Decl.Keys))
	for i, c := range g.Decl.Keys {
		word := g.Key(slot, i)
		if d := b.Domains.Column(g.Decl, i); d != nil {
			out[i] = scalar.OfString(b.Data.String(d.ID, word))
		} else {
			out[i] = scalar.OfBits(c.Type, uint64(word))
		}
	}
	return out
}
