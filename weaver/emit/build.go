package emit

import (
	"math"

	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// endOfBuild has rows enter the index. A row set of form Wide makes room for
// them.
func (w *kernel) endOfBuild() {
	x, role := w.Shape.Index, w.Entry.Role
	keys := &keys{kernel: w, kinds: shape.IndexKey, name: x.Name}
	if role != abi.BuildFill && w.Shape.MayBeWide(shape.IndexKey, x.Name, len(x.Key)) {
		w.addGauge(gauge{Param: abi.Param{Kind: abi.IndexWideGauge, Var: x.Name}, formed: true,
			form: abi.IndexForm, least: abi.Wide})
	}
	w.end = func() error {
		for _, r := range w.Shape.Key() {
			keys.words = append(keys.words, w.regs[r].Words)
		}
		w.enter(keys, x, role)
		return nil
	}
}

// enter enters the rows of a tile into an index.
func (w *kernel) enter(k *keys, x *harmony.Index, role abi.Role) {
	live := w.liveCopy()
	param := func(kind abi.Kind) value.Value { return w.Param(kind, x.Name, 0) }
	if role == abi.BuildFill {
		packed := k.find(live)
		spaced, taken := value.Value(i64(0)), value.Value(null)
		if w.Module.Options.Loops && w.Shape.Spaced(x.Name) {
			spaced, taken = w.spaced(x.Name), param(abi.IndexTaken)
		}
		w.Call("rf_tile_build_fill", packed.Ptr, w.rowNumbers().Ptr, live.Ptr, k.tableForm(),
			param(abi.IndexTable), param(abi.IndexSize),
			param(abi.IndexBegins), param(abi.IndexRows), spaced, taken,
			i32(w.Target.Threads), w.items)
		return
	}
	packed := w.Array(types.I64)
	k.byForm(func() {
		isNew := w.liveCopy()
		w.Call("rf_tile_wide_insert", packed.Ptr, isNew.Ptr, k.tuples(), i32(w.Target.Items),
			i32(len(k.words)),
			param(abi.IndexWideSlots), param(abi.IndexWideMask), param(abi.IndexWideColumns),
			param(abi.IndexWideGauge),
			i64(math.MaxInt64), i32(w.Target.Threads), w.items)
	}, func() { k.pack(packed, live) })
	switch {
	case role == abi.BuildCount:
		w.Call("rf_tile_build_count", packed.Ptr, live.Ptr, k.tableForm(), param(abi.IndexTable),
			param(abi.IndexSize), param(abi.IndexBegins), w.items)
	case x.Kind == harmony.Unique:
		build := "rf_tile_build_unique"
		if x.Version == harmony.Last {
			build = "rf_tile_build_last"
		}
		w.Call(build, packed.Ptr, w.rowNumbers().Ptr, live.Ptr, k.tableForm(),
			param(abi.IndexTable), param(abi.IndexSize), w.items)
	default:
		k.byForm(func() {}, func() {
			w.Call("rf_tile_build_exists", packed.Ptr, live.Ptr, k.form(), param(abi.IndexTable),
				param(abi.IndexSize), w.items)
		})
	}
}

// rowNumbers returns the source's rows of the items.
func (w *kernel) rowNumbers() *ir.Array {
	if w.source != nil {
		return w.source
	}
	rows := w.Array(types.I64)
	w.eachItem(func(i value.Value) {
		row := i
		if w.Target.GPU {
			row = w.Cur.NewSExt(w.Call("rf_tile_row", w.Cur.NewTrunc(i, types.I32),
				i32(w.Target.Threads)), types.I64)
		}
		w.Set(rows, i, w.Cur.NewAdd(w.start, row))
	})
	return rows
}
