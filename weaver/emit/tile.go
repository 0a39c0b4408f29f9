package emit

import (
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/weaver/expr"
)

// array has an element for each item that a thread holds.
type array struct {
	ptr  value.Value
	elem *types.IntType
}

// flagPadding is the room behind an array of flags, so that those of the items
// that fill up a count are cleared by one store.
const flagPadding = 32

// array makes an array of a thread's items. One of bytes has room for flags.
func (f *function) array(elem *types.IntType) *array {
	n := f.target.Items
	if elem == types.I8 && !f.target.GPU {
		n += flagPadding
	}
	return &array{f.alloca(elem, n), elem}
}

func (f *function) get(a *array, i value.Value) value.Value {
	return f.load(a.elem, f.at(a.elem, a.ptr, i))
}

func (f *function) set(a *array, i, v value.Value) { f.store(v, f.at(a.elem, a.ptr, i)) }

// flag reads an element of an array of bytes as a truth, and setFlag writes one.
func (f *function) flag(a *array, i value.Value) value.Value {
	return f.Cur.NewICmp(enum.IPredNE, f.get(a, i), i8(0))
}

func (f *function) setFlag(a *array, i, v value.Value) { f.set(a, i, f.Cur.NewZExt(v, types.I8)) }

// stored is a register whose items stand in arrays.
type stored struct {
	typ     scalar.Type
	words   *array
	high    *array // upper halves of 128 bits, nil if the register fits words
	present *array // bytes; nil if there always is a value
	// lo and hi bound the words, if bounded.
	lo, hi  int64
	bounded bool
}

// tile is the state of the rows at one place in a kernel.
//
// On a GPU count is the thread's constant number of items, and flags always say
// which are live. On a CPU only items below count may be live, and if the tile is
// dense all of them are.
type tile struct {
	start value.Value // i64: the source's row that the tile begins with
	rows  value.Value // i32: the source's rows in the tile
	count value.Value // i64
	items value.Value // i32: what primitives get: on a CPU count, rounded up to 32
	dense bool
	drops bool   // whether rows were dropped since the tile began
	flags *array // of live items; nil if the tile is dense and nothing asked for it yet
	// source has the source's rows of the items; nil while item i is still row i of
	// the tile.
	source *array
	regs   map[*harmony.Reg]*stored
}

// setCount notes how many items there may be from now on.
func (t *tile) setCount(f *function, count value.Value) {
	t.count = count
	if c, ok := count.(*constant.Int); ok {
		t.items = i32(int(c.X.Int64()))
		return
	}
	up := f.Cur.NewAnd(f.Cur.NewAdd(count, i64(31)), i64(^31))
	t.items = f.Cur.NewTrunc(up, types.I32)
}

// liveFlags returns the flags of the live items.
func (w *kernel) liveFlags() *array {
	if w.flags == nil {
		w.flags = w.array(types.I8)
		w.call("rf_tile_live", w.flags.ptr, i32(0), w.Cur.NewTrunc(w.count, types.I32), i32(w.target.Threads), w.items)
	}
	return w.flags
}

// liveCopy returns flags of the live items that may be changed.
func (w *kernel) liveCopy() *array {
	from, to := w.liveFlags(), w.array(types.I8)
	w.eachItem(func(i value.Value) { w.set(to, i, w.get(from, i)) })
	return to
}

// eachItem emits a loop over all items that primitives look at, live or not.
func (w *kernel) eachItem(body func(i value.Value)) {
	n := w.count
	if !w.target.GPU {
		n = w.Cur.NewZExt(w.items, types.I64)
	}
	w.loop(n, body)
}

// narrow says that only the items of flags are live from now on.
func (t *tile) narrow(flags *array) { t.flags, t.dense, t.drops = flags, false, true }

// read returns a register's value of item i from its arrays.
func (f *function) read(r *stored, i value.Value) expr.Value {
	v := expr.Value{Type: r.typ}
	word := f.get(r.words, i)
	switch {
	case r.high != nil:
		v.Wide = f.join(word, f.get(r.high, i))
	case r.typ.Kind == scalar.Boolean:
		v.Word = f.Cur.NewICmp(enum.IPredNE, word, i64(0))
	default:
		v.Word = word
	}
	if r.present != nil {
		v.Present = f.flag(r.present, i)
	}
	v.Lo, v.Hi, v.Bounded = r.lo, r.hi, r.bounded
	return v
}

// newStored makes arrays for a register whose values are like v.
func (f *function) newStored(v expr.Value) *stored {
	r := &stored{typ: v.Type, words: f.array(types.I64), lo: v.Lo, hi: v.Hi, bounded: v.Bounded}
	if v.Wide != nil {
		r.high = f.array(types.I64)
	}
	if v.Present != nil {
		r.present = f.array(types.I8)
	}
	return r
}

// write puts a value into a register's arrays.
func (f *function) write(r *stored, i value.Value, v expr.Value) {
	switch {
	case v.Wide != nil:
		f.set(r.words, i, f.Cur.NewTrunc(v.Wide, types.I64))
		f.set(r.high, i, f.Cur.NewTrunc(f.Cur.NewLShr(v.Wide, intOf(types.I128, 64)), types.I64))
	default:
		f.set(r.words, i, f.word(v))
	}
	if v.Present != nil {
		f.setFlag(r.present, i, v.Present)
	}
}

// word returns the 64 bits of a value as columns keep them.
func (f *function) word(v expr.Value) value.Value {
	if v.Type.Kind == scalar.Boolean {
		return f.Cur.NewZExt(v.Word, types.I64)
	}
	return v.Word
}

func intOf(t *types.IntType, v int64) value.Value { return constant.NewInt(t, v) }
