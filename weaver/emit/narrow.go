package emit

import (
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
)

// Most keys of dimension tables fit 32 bits, and so does how far the words that
// look for them are from the least of them. A GPU takes two instructions or
// more for each on 64 bits, and a probe of a bit set is hardly more than the
// arithmetic of its key.

// narrowBits is of how many bits narrow keys are at most: their differences are
// signed.
const narrowBits = 30

// narrow makes the packed key of every item in 32 bits, and clears the flags of
// items whose key is outside of the bounds: the keys of the others are below
// the table's size. It returns nil where a key may need more bits, and where
// the size, the form or the bounds of the key's words are not known; nothing is
// emitted then.
func (k *keys) narrow(flags *ir.Array) *ir.Array {
	fields, ok := k.narrowFields()
	if !ok {
		return nil
	}
	packed := k.Array(types.I32)
	k.eachItem(func(i value.Value) {
		var key, in value.Value
		for c, f := range fields {
			word := k.Cur.NewTrunc(k.Get(k.words[c], i), types.I32)
			offset := value.Value(k.Cur.NewSub(word,
				constant.NewInt(types.I32, int64(int32(f.base)))))
			if !f.contained {
				in = k.Both(in,
					k.Cur.NewICmp(enum.IPredULT, offset, constant.NewInt(types.I32, f.limit)))
			}
			switch {
			case f.limit == 1: // the word adds nothing to the key
				continue
			case f.shift > 0:
				offset = k.Cur.NewShl(offset, i32(f.shift))
			}
			if key != nil {
				offset = k.Cur.NewOr(key, offset)
			}
			key = offset
		}
		if key == nil {
			key = i32(0)
		}
		k.Set(packed, i, key)
		if in != nil {
			k.Set(flags, i, k.Cur.NewAnd(k.Get(flags, i), k.Cur.NewZExt(in, types.I8)))
		}
	})
	return packed
}

// narrowField is a column of a narrow key: its offsets from the base are below
// the limit, of all words that are contained or else of those of keys.
type narrowField struct {
	base, limit int64
	shift       int
	contained   bool
}

// narrowFields returns how narrow keys are packed, if they are narrow.
func (k *keys) narrowFields() ([]narrowField, bool) {
	form, known := k.Fixed(k.kinds.Form, k.name, 0)
	size, also := k.Fixed(k.kinds.Size, k.name, 0)
	if !known || !also || abi.Form(form) != abi.Direct && abi.Form(form) != abi.None || size <= 0 ||
		size > 1<<narrowBits || len(k.bounds) == 0 {
		return nil, false
	}
	fields := make([]narrowField, len(k.bounds))
	top := -1 // the field of the highest bits, on which the size depends
	for c, bound := range k.bounds {
		base, known := k.Fixed(k.kinds.Base, k.name, c)
		shift, also := k.Fixed(k.kinds.Shift, k.name, c)
		bits, too := k.Fixed(k.kinds.Bits, k.name, c)
		if !known || !also || !too || shift+bits > narrowBits || !near(bound, base) {
			return nil, false
		}
		fields[c] = narrowField{base: base, limit: 1 << bits, shift: int(shift)}
		if bits > 0 && (top < 0 || int(shift) > fields[top].shift) {
			top = c
		}
	}
	if top >= 0 {
		f := &fields[top]
		if f.limit = size >> f.shift; f.limit<<f.shift != size || f.limit == 0 {
			return nil, false
		}
	}
	for c := range fields {
		f := &fields[c]
		f.contained = k.bounds[c].Lo-f.base >= 0 && k.bounds[c].Hi-f.base < f.limit
	}
	return fields, true
}

// near reports whether all words within bounds are less than 2^30 from a base,
// so that the lower halves of both tell the difference.
func near(bound interval.Interval, base int64) bool {
	lo, hi := bound.Lo-base, bound.Hi-base
	return (lo <= 0) == (bound.Lo <= base) && (hi <= 0) == (bound.Hi <= base) && // without overflow
		lo > -1<<narrowBits && hi < 1<<narrowBits
}

// bounds returns those of the words of an operand; not ok where they may be
// any.
func (w *kernel) bounds(o harmony.Operand, s *ir.Stored) (interval.Interval, bool) {
	if s.High != nil || s.Present != nil {
		return interval.Interval{}, false
	}
	if s.Bounded {
		return interval.Interval{Lo: s.Lo, Hi: s.Hi}, true
	}
	if o.Reg == nil {
		return interval.Interval{}, false
	}
	return w.Shape.Range(o.Reg)
}

// lookNarrow is look for an index that is found by narrow keys, and not ok
// where it is not.
func (w *kernel) lookNarrow(k *keys, p *harmony.Probe, found *ir.Array) (rows *ir.Array, ok bool) {
	if p.Index.Kind == harmony.Multi {
		return nil, false
	}
	key := k.narrow(found)
	if key == nil {
		return nil, false
	}
	form, _ := k.Fixed(k.kinds.Form, k.name, 0)
	unique := p.Index.Kind == harmony.Unique
	switch {
	case unique && abi.Form(form) == abi.None:
		rows = w.Array(types.I64)
		w.eachItem(func(i value.Value) { w.Set(rows, i, w.Cur.NewZExt(w.Get(key, i), types.I64)) })
	case unique:
		rows = w.Array(types.I64)
		w.Call("rf_tile_find_rows", rows.Ptr, found.Ptr, key.Ptr,
			w.Param(abi.IndexTable, p.Index.Name, 0), w.items)
	case abi.Form(form) == abi.Direct:
		w.Call("rf_tile_find_bits", found.Ptr, key.Ptr, w.Param(abi.IndexTable, p.Index.Name, 0),
			w.items)
	}
	return rows, true
}
