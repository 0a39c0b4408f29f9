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
)

// keyKinds are the parameters that say how a variable's keys are packed.
type keyKinds struct {
	form, size, shift, base, bits abi.Kind
	// of form Wide
	slots, mask, columns abi.Kind
}

var (
	indexKey = keyKinds{abi.IndexForm, abi.IndexSize, abi.IndexShift, abi.IndexBase, abi.IndexBits, abi.IndexWideSlots, abi.IndexWideMask, abi.IndexWideColumns}
	setKey   = keyKinds{abi.SetForm, abi.SetSize, abi.SetShift, abi.SetBase, abi.SetBits, abi.SetTable, abi.SetSize, abi.SetColumns}
	groupKey = keyKinds{abi.GroupForm, abi.GroupSize, abi.GroupShift, abi.GroupBase, abi.GroupBits, abi.GroupTable, abi.GroupSize, abi.GroupColumns}
)

// keys is a variable's keys for all items.
type keys struct {
	*kernel
	kinds keyKinds
	name  string
	words []*array // of the key's columns
	// bounds are those of the words of each column, if all are known.
	bounds []interval.Interval
}

// keysOf prepares the operands of a key. domainOf gives the domain of a constant.
func (w *kernel) keysOf(kinds keyKinds, name string, key []harmony.Operand, domainOf func(i int) *domain.Domain) *keys {
	k := &keys{kernel: w, kinds: kinds, name: name}
	known := true
	for i, o := range key {
		s := w.operandArrays(o, domainOf(i))
		k.words = append(k.words, s.words)
		bound, ok := w.bounds(o, s)
		k.bounds, known = append(k.bounds, bound), known && ok
	}
	if !known {
		k.bounds = nil
	}
	return k
}

// mayBeWide reports whether the keys, of a number of columns, may be of form Wide.
// Keys of one column never are: they are a word.
func (k *keys) mayBeWide(columns int) bool {
	form, known := k.fixed(k.kinds.form, k.name, 0)
	return columns > 1 && (!known || abi.Form(form) == abi.Wide)
}

// byForm emits what form Wide asks for, or what the others do, or a choice where the
// form is a parameter.
func (k *keys) byForm(wide, packed func()) {
	_, known := k.fixed(k.kinds.form, k.name, 0)
	switch {
	case !k.mayBeWide(len(k.words)):
		packed()
	case known:
		wide()
	default:
		k.choose(k.isWide(), wide, packed)
	}
}

func (k *keys) isWide() value.Value {
	return k.Cur.NewICmp(enum.IPredEQ, k.form(), i64(int64(abi.Wide)))
}

func (k *keys) form() value.Value { return k.param(k.kinds.form, k.name, 0) }

// tableForm is the form of the table behind the packed key: the numbers of wide
// tuples are keys of form Direct.
func (k *keys) tableForm() value.Value {
	_, known := k.fixed(k.kinds.form, k.name, 0)
	switch {
	case !k.mayBeWide(len(k.words)):
		return k.form()
	case known:
		return i64(int64(abi.Direct))
	}
	return k.Cur.NewSelect(k.isWide(), i64(int64(abi.Direct)), k.form())
}

// find makes the packed key of every item in one word, and clears the flags of
// items whose key is outside of the bounds or, in a row set, is not there.
func (k *keys) find(flags *array) *array {
	packed := k.array(types.I64)
	k.byForm(func() {
		stride := i32(k.target.Items)
		k.call("rf_tile_wide_find", packed.ptr, flags.ptr, k.tuples(), stride, i32(len(k.words)),
			k.param(k.kinds.slots, k.name, 0), k.param(k.kinds.mask, k.name, 0), k.param(k.kinds.columns, k.name, 0), i32(0), k.items)
	}, func() { k.pack(packed, flags) })
	return packed
}

// tuples puts the key's columns one behind the other.
func (k *keys) tuples() value.Value {
	to := k.alloca(types.I64, k.target.Items*len(k.words))
	for c, words := range k.words {
		from := k.at(types.I64, to, i64(int64(c*k.target.Items)))
		column := &array{from, types.I64}
		k.eachItem(func(i value.Value) { k.set(column, i, k.get(words, i)) })
	}
	return to
}

// pack packs keys by shifts. Where those and the bits are known on a CPU, that is one
// loop for all columns.
func (k *keys) pack(packed, flags *array) {
	if len(k.words) == 0 {
		k.eachItem(func(i value.Value) { k.set(packed, i, i64(0)) })
		return
	}
	if !k.target.GPU {
		known := true
		for c := range k.words {
			for _, kind := range []abi.Kind{k.kinds.shift, k.kinds.bits} {
				_, ok := k.fixed(kind, k.name, c)
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
		k.call("rf_tile_pack", packed.ptr, flags.ptr, words.ptr,
			k.param(k.kinds.shift, k.name, c), k.param(k.kinds.base, k.name, c), k.param(k.kinds.bits, k.name, c), i32(first), k.items)
	}
}

// packItem packs the key of one item by shifts that are known.
func (k *keys) packItem(packed, flags *array, i value.Value) {
	var key, in value.Value
	for c, words := range k.words {
		shift, _ := k.fixed(k.kinds.shift, k.name, c)
		bits, _ := k.fixed(k.kinds.bits, k.name, c)
		offset := value.Value(k.Cur.NewSub(k.get(words, i), k.param(k.kinds.base, k.name, c)))
		if bits < 64 {
			in = k.both(in, k.Cur.NewICmp(enum.IPredULT, offset, constant.NewInt(types.I64, 1<<bits)))
		}
		if shift > 0 {
			offset = k.Cur.NewShl(offset, i64(shift&63))
		}
		if key != nil {
			offset = k.Cur.NewOr(key, offset)
		}
		key = offset
	}
	k.set(packed, i, key)
	if in != nil {
		k.set(flags, i, k.Cur.NewAnd(k.get(flags, i), k.Cur.NewZExt(in, types.I8)))
	}
}
