package emit

import (
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
)

// tile is the state of the rows at one place in a kernel.
//
// On a GPU count is the thread's constant number of items, and flags always say
// which are live. On a CPU only items below count may be live, and if the tile
// is dense all of them are.
type tile struct {
	start value.Value // i64: the source's row that the tile begins with
	rows  value.Value // i32: the source's rows in the tile
	count value.Value // i64
	items value.Value // i32: what primitives get: on a CPU count, rounded up to 32
	dense bool
	drops bool      // whether rows were dropped since the tile began
	flags *ir.Array // of live items; nil if the tile is dense and nothing asked for it yet
	// source has the source's rows of the items; nil while item i is still row
	// i of the tile.
	source *ir.Array
	regs   map[*harmony.Reg]*ir.Stored
}

// setCount notes how many items there may be from now on.
func (t *tile) setCount(f *ir.Function, count value.Value) {
	t.count = count
	if c, ok := count.(*constant.Int); ok {
		t.items = i32(int(c.X.Int64()))
		return
	}
	up := f.Cur.NewAnd(f.Cur.NewAdd(count, i64(31)), i64(^31))
	t.items = f.Cur.NewTrunc(up, types.I32)
}

// liveFlags returns the flags of the live items.
func (w *kernel) liveFlags() *ir.Array {
	if w.flags == nil {
		w.flags = w.Array(types.I8)
		w.Call("rf_tile_live", w.flags.Ptr, i32(0), w.Cur.NewTrunc(w.count, types.I32),
			i32(w.Target.Threads), w.items)
	}
	return w.flags
}

// liveCopy returns flags of the live items that may be changed.
func (w *kernel) liveCopy() *ir.Array {
	from, to := w.liveFlags(), w.Array(types.I8)
	w.eachItem(func(i value.Value) { w.Set(to, i, w.Get(from, i)) })
	return to
}

// eachItem emits a loop over all items that primitives look at, live or not.
func (w *kernel) eachItem(body func(i value.Value)) {
	n := w.count
	if !w.Target.GPU {
		n = w.Cur.NewZExt(w.items, types.I64)
	}
	w.Loop(n, body)
}

// narrow leaves only the items of flags live.
func (t *tile) narrow(flags *ir.Array) { t.flags, t.dense, t.drops = flags, false, true }
