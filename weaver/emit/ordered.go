package emit

import (
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
)

// orderedSlots gives the live items the slots of groups whose keys come in
// order: an item belongs to the last group, or begins the next one. The cursor
// of the gauge counts them. There is room for as many new groups as a tile has
// items.
//
// A packed key is below the number of keys and thus never all ones, which
// stands for the key before the first.
func (w *kernel) orderedSlots(g *harmony.Groups, key *ir.Array) *ir.Array {
	slots, live := w.Array(types.I64), w.liveFlags()
	table, gauge := w.Param(abi.GroupTable, g.Name, 0), w.Param(abi.Gauge, g.Name, 0)
	last, cursor := w.Variable(types.I64, i64(-1)), w.Variable(types.I64, i64(0))
	count := w.Load(types.I64, gauge)
	w.Store(count, cursor)
	w.Store(i64(-1), last)
	w.When(w.Cur.NewICmp(enum.IPredNE, count, i64(0)), func() {
		w.Store(w.Load(types.I64, w.At(types.I64, table, w.Cur.NewSub(count, i64(1)))), last)
	})
	// A branch for each new group could not be foreseen: the key is written
	// where the next group's will be, again and again, and the cursor moves
	// past the first of each.
	w.eachItem(func(i value.Value) {
		in, word, before := w.Flag(live, i), w.Get(key, i), w.Load(types.I64, last)
		n := w.Load(types.I64, cursor)
		w.Store(word, w.At(types.I64, table, n))
		begins := w.Cur.NewAnd(in, w.Cur.NewICmp(enum.IPredNE, word, before))
		n = w.Cur.NewAdd(n, w.Cur.NewZExt(begins, types.I64))
		w.Store(n, cursor)
		w.Store(w.Cur.NewSelect(in, word, before), last)
		w.Set(slots, i, w.Cur.NewSelect(in, w.Cur.NewSub(n, i64(1)), i64(0)))
	})
	w.Store(w.Load(types.I64, cursor), gauge)
	return slots
}
