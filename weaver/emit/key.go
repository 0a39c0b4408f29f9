package emit

import (
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// keys is a variable's keys for all items.
type keys struct {
	*kernel
	kinds shape.KeyKinds
	name  string
	words []*ir.Array // of the key's columns
	// bounds are those of the words of each column, if all are known.
	bounds []interval.Interval
}

// keysOf prepares the operands of a key. domainOf gives the domain of a
// constant.
func (w *kernel) keysOf(kinds shape.KeyKinds, name string, key []harmony.Operand,
	domainOf func(i int) *domain.Domain) *keys {
	k := &keys{kernel: w, kinds: kinds, name: name}
	known := true
	for i, o := range key {
		s := w.operandArrays(o, domainOf(i))
		k.words = append(k.words, s.Words)
		bound, ok := w.bounds(o, s)
		k.bounds, known = append(k.bounds, bound), known && ok
	}
	if !known {
		k.bounds = nil
	}
	return k
}

// mayBeWide reports whether the keys may be of form Wide.
func (k *keys) mayBeWide() bool { return k.Shape.MayBeWide(k.kinds, k.name, len(k.words)) }

// byForm emits what form Wide asks for, or what the others do, or a choice
// where the form is a parameter.
func (k *keys) byForm(wide, packed func()) {
	_, known := k.Fixed(k.kinds.Form, k.name, 0)
	switch {
	case !k.mayBeWide():
		packed()
	case known:
		wide()
	default:
		k.Choose(k.isWide(), wide, packed)
	}
}

func (k *keys) isWide() value.Value {
	return k.Cur.NewICmp(enum.IPredEQ, k.form(), i64(int64(abi.Wide)))
}

func (k *keys) form() value.Value { return k.Param(k.kinds.Form, k.name, 0) }

// tableForm is the form of the table behind the packed key: the numbers of wide
// tuples are keys of form Direct.
func (k *keys) tableForm() value.Value {
	_, known := k.Fixed(k.kinds.Form, k.name, 0)
	switch {
	case !k.mayBeWide():
		return k.form()
	case known:
		return i64(int64(abi.Direct))
	}
	return k.Cur.NewSelect(k.isWide(), i64(int64(abi.Direct)), k.form())
}

// find makes the packed key of every item in one word, and clears the flags of
// items whose key is outside of the bounds or, in a row set, is not there.
func (k *keys) find(flags *ir.Array) *ir.Array {
	packed := k.Array(types.I64)
	k.byForm(func() {
		stride := i32(k.Target.Items)
		k.Call("rf_tile_wide_find", packed.Ptr, flags.Ptr, k.tuples(), stride, i32(len(k.words)),
			k.Param(k.kinds.Slots, k.name, 0), k.Param(k.kinds.Mask, k.name, 0),
			k.Param(k.kinds.Columns, k.name, 0), i32(0), k.items)
	}, func() { k.pack(packed, flags) })
	return packed
}

// tuples puts the key's columns one behind the other.
func (k *keys) tuples() value.Value {
	to := k.Alloca(types.I64, k.Target.Items*len(k.words))
	for c, words := range k.words {
		from := k.At(types.I64, to, i64(int64(c*k.Target.Items)))
		column := &ir.Array{Ptr: from, Elem: types.I64}
		k.eachItem(func(i value.Value) { k.Set(column, i, k.Get(words, i)) })
	}
	return to
}

// pack packs keys by shifts. Where those and the bits are known on a CPU, that
// is one loop for all columns.
func (k *keys) pack(packed, flags *ir.Array) {
	if len(k.words) == 0 {
		k.eachItem(func(i value.Value) { k.Set(packed, i, i64(0)) })
		return
	}
	if !k.Target.GPU {
		known := true
		for c := range k.words {
			for _, kind := range []abi.Kind{k.kinds.Shift, k.kinds.Bits} {
				_, ok := k.Fixed(kind, k.name, c)
				known = known && ok
			}
		}
		if known {
			k.eachItem(func(i value.Value) { k.packItem(packed, flags, i) })
			return
		}
	}
	for c, words := range k.words {
		first := 0
		if c == 0 {
			first = 1
		}
		k.Call("rf_tile_pack", packed.Ptr, flags.Ptr, words.Ptr,
			k.Param(k.kinds.Shift, k.name, c), k.Param(k.kinds.Base, k.name, c),
			k.Param(k.kinds.Bits, k.name, c), i32(first), k.items)
	}
}

// packItem packs the key of one item by shifts that are known.
func (k *keys) packItem(packed, flags *ir.Array, i value.Value) {
	var key, in value.Value
	for c, words := range k.words {
		shift, _ := k.Fixed(k.kinds.Shift, k.name, c)
		bits, _ := k.Fixed(k.kinds.Bits, k.name, c)
		offset := value.Value(k.Cur.NewSub(k.Get(words, i), k.Param(k.kinds.Base, k.name, c)))
		if bits < 64 {
			in = k.Both(in,
				k.Cur.NewICmp(enum.IPredULT, offset, constant.NewInt(types.I64, 1<<bits)))
		}
		if shift > 0 {
			offset = k.Cur.NewShl(offset, i64(shift&63))
		}
		if key != nil {
			offset = k.Cur.NewOr(key, offset)
		}
		key = offset
	}
	k.Set(packed, i, key)
	if in != nil {
		k.Set(flags, i, k.Cur.NewAnd(k.Get(flags, i), k.Cur.NewZExt(in, types.I8)))
	}
}
