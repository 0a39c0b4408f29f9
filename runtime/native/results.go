package native

import (
	"cmp"
	"math"
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
)

// constants returns the columns of constant rows.
func (r *run) constants(src *harmony.Values) ([]*column, error) {
	cols := make([]*column, len(src.Cols))
	for i, decl := range src.Cols {
		c := &column{columnLayout: columnLayout{0, 1, 8}, typ: decl.Type}
		if err := c.alloc(r.mem, "the constants of a rule", 8*max(len(src.Rows), 1)); err != nil {
			return nil, err
		}
		words := wordsOf(&c.region)
		for k, row := range src.Rows {
			if d := r.prog.domains.Values(src, i); d != nil {
				words[k], _, _ = r.data.Code(d.ID, row[i].Str())
			} else {
				words[k] = int64(row[i].Bits())
			}
		}
		cols[i] = c
	}
	return cols, nil
}

// overflow finds the first group, in the order of groups, with a result that does
// not fit its type. Code only notes that there is one.
func (r *run) overflow(k *harmony.Kernel) error {
	src, ok := k.Source.(*harmony.GroupRows)
	if !ok {
		return errNoOverflow
	}
	g := r.groups[src.Groups]
	t := g.all()
	var group []scalar.Value
	first := -1
	for slot, occupied := range words(&t.occupied)[:t.numbers()] {
		if occupied == 0 {
			continue
		}
		for a := range g.decl.Accs {
			if t.fits(a, slot) {
				continue
			}
			key := r.groupKey(t, slot)
			if first < 0 || slices.CompareFunc(key, group, scalar.Compare) < 0 {
				first, group = a, key
			}
			break
		}
	}
	if first < 0 {
		return errNoOverflow
	}
	acc := g.decl.Accs[first]
	return &runtime.OverflowError{Fn: acc.Fn, Out: acc.Out, By: g.decl.Keys, Group: group, Span: g.decl.Span}
}

// errNoOverflow is code that says that a result does not fit when all do.
var errNoOverflow = &InternalError{Command: "aggregation", Cause: "a result is said not to fit its type, but all do"}

// fits reports whether an accumulator's result fits its type, as the go engine
// and the primitives compute it.
func (t *groupTable) fits(a, slot int) bool {
	acc, size := &t.decl.Accs[a], t.groups.cells[a].Words
	cell := words(&t.cells[a])[size*slot:][:size]
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
		return sum.Hi == 0 && (out.Bits == 0 || out.Bits == 64 || cmp.Compare(sum.Lo, math.MaxUint64>>(64-out.Bits)) <= 0)
	}
	return sum.Fits64() && interval.OfType(out).Contains(sum.Int64())
}

// groupKey returns the key of a slot.
func (r *run) groupKey(t *groupTable, slot int) []scalar.Value {
	out := make([]scalar.Value, len(t.decl.Keys))
	packed := uint64(slot)
	if t.lay.form == abi.Hash {
		packed = words(&t.keys.region)[slot]
		if slot == int(t.keys.mask)+1 {
			packed = 0
		}
	}
	for i, c := range t.decl.Keys {
		var word int64
		if t.lay.form == abi.Wide {
			word = wordsOf(&t.tuples[i].region)[slot]
		} else {
			f := t.lay.fields[i]
			word = int64(packed>>(f.Shift&63)&f.Mask()) + f.Base
		}
		if d := r.prog.domains.Column(t.decl, i); d != nil {
			out[i] = scalar.OfString(r.data.String(d.ID, word))
		} else {
			out[i] = scalar.OfBits(c.Type, uint64(word))
		}
	}
	return out
}
