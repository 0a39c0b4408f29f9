package emit

import (
	"math"

	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// endOfBuild has rows enter the index. A row set of form Wide makes room for them.
func (w *kernel) endOfBuild() {
	x, role := w.shape.Index, w.entry.Role
	keys := &keys{kernel: w, kinds: shape.IndexKey, name: x.Name}
	if role != abi.BuildFill && w.shape.MayBeWide(shape.IndexKey, x.Name, len(x.Key)) {
		w.addGauge(gauge{Param: abi.Param{Kind: abi.IndexWideGauge, Var: x.Name}, formed: true, form: abi.IndexForm, least: abi.Wide})
	}
	w.end = func() error {
		for _, r := range w.shape.Key() {
			keys.words = append(keys.words, w.regs[r].words)
		}
		w.enter(keys, x, role)
		return nil
	}
}

// enter enters the rows of a tile into an index.
func (w *kernel) enter(k *keys, x *harmony.Index, role abi.Role) {
	live := w.liveCopy()
	param := func(kind abi.Kind) value.Value { return w.param(kind, x.Name, 0) }
	if role == abi.BuildFill {
		packed := k.find(live)
		w.call("rf_tile_build_fill", packed.ptr, w.rowNumbers().ptr, live.ptr, k.tableForm(), param(abi.IndexTable), param(abi.IndexSize),
			param(abi.IndexBegins), param(abi.IndexRows), w.items)
		return
	}
	packed := w.array(types.I64)
	k.byForm(func() {
		isNew := w.liveCopy()
		w.call("rf_tile_wide_insert", packed.ptr, isNew.ptr, k.tuples(), i32(w.target.Items), i32(len(k.words)),
			param(abi.IndexWideSlots), param(abi.IndexWideMask), param(abi.IndexWideColumns), param(abi.IndexWideGauge),
			i64(math.MaxInt64), i32(w.target.Threads), w.items)
	}, func() { k.pack(packed, live) })
	switch {
	case role == abi.BuildCount:
		w.call("rf_tile_build_count", packed.ptr, live.ptr, k.tableForm(), param(abi.IndexTable), param(abi.IndexSize), param(abi.IndexBegins), w.items)
	case x.Kind == harmony.Unique:
		w.call("rf_tile_build_unique", packed.ptr, w.rowNumbers().ptr, live.ptr, k.tableForm(), param(abi.IndexTable), param(abi.IndexSize), w.items)
	default:
		k.byForm(func() {}, func() {
			w.call("rf_tile_build_exists", packed.ptr, live.ptr, k.form(), param(abi.IndexTable), param(abi.IndexSize), w.items)
		})
	}
}

// rowNumbers returns the source's rows of the items.
func (w *kernel) rowNumbers() *array {
	if w.source != nil {
		return w.source
	}
	rows := w.array(types.I64)
	w.eachItem(func(i value.Value) {
		row := i
		if w.target.GPU {
			row = w.Cur.NewSExt(w.call("rf_tile_row", w.Cur.NewTrunc(i, types.I32), i32(w.target.Threads)), types.I64)
		}
		w.set(rows, i, w.Cur.NewAdd(w.start, row))
	})
	return rows
}
