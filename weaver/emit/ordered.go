package emit

import (
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

// orderedSlots gives the live items the slots of groups whose keys come in order: an
// item belongs to the last group, or begins the next one. The cursor of the gauge
// counts them. There is room for as many new groups as a tile has items.
//
// A packed key is below the number of keys and thus never all ones, which stands for
// the key before the first.
func (w *kernel) orderedSlots(g *harmony.Groups, key *array) *array {
	slots, live := w.array(types.I64), w.liveFlags()
	table, gauge := w.param(abi.GroupTable, g.Name, 0), w.param(abi.Gauge, g.Name, 0)
	last, cursor := w.variable(types.I64, i64(-1)), w.variable(types.I64, i64(0))
	count := w.load(types.I64, gauge)
	w.store(count, cursor)
	w.store(i64(-1), last)
	w.when(w.Cur.NewICmp(enum.IPredNE, count, i64(0)), func() {
		w.store(w.load(types.I64, w.at(types.I64, table, w.Cur.NewSub(count, i64(1)))), last)
	})
	// A branch for each new group could not be foreseen: the key is written where the
	// next group's will be, again and again, and the cursor moves past the first of each.
	w.eachItem(func(i value.Value) {
		in, word, before := w.flag(live, i), w.get(key, i), w.load(types.I64, last)
		n := w.load(types.I64, cursor)
		w.store(word, w.at(types.I64, table, n))
		begins := w.Cur.NewAnd(in, w.Cur.NewICmp(enum.IPredNE, word, before))
		n = w.Cur.NewAdd(n, w.Cur.NewZExt(begins, types.I64))
		w.store(n, cursor)
		w.store(w.Cur.NewSelect(in, word, before), last)
		w.set(slots, i, w.Cur.NewSelect(in, w.Cur.NewSub(n, i64(1)), i64(0)))
	})
	w.store(w.load(types.I64, cursor), gauge)
	return slots
}
