package emit

import (
	"fmt"
	"math"

	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

// build emits the functions that make an index, once for all its builds. One whose keys
// are row numbers needs none.
func (m *module) build(x *harmony.Index) error {
	if m.built[x] {
		return nil
	}
	m.built[x] = true
	if m.opts.Fix != nil && x.Kind != harmony.Multi {
		form, known := m.opts.Fix(symbol("build_", x.Name), abi.Param{Kind: abi.IndexForm, Var: x.Name})
		if known && abi.Form(form) == abi.None {
			return nil
		}
	}
	if x.Kind != harmony.Multi {
		return m.buildEntry(x, abi.BuildInsert, "build_")
	}
	if err := m.buildEntry(x, abi.BuildCount, "count_"); err != nil {
		return err
	}
	return m.buildEntry(x, abi.BuildFill, "fill_")
}

// buildEntry emits a kernel that loads the key of each row and enters it.
func (m *module) buildEntry(x *harmony.Index, role abi.Role, prefix string) error {
	k := &harmony.Kernel{Name: prefix + x.Name, Source: &harmony.Rows{Rel: x.Of, Version: x.Version}, Span: x.Span}
	var key []harmony.Operand
	for _, col := range x.Key {
		r := &harmony.Reg{Type: x.Of.Cols[col].Type}
		k.Stages = append(k.Stages, &harmony.Load{Out: r, Col: col})
		key = append(key, harmony.Operand{Reg: r})
	}
	e := abi.Entry{Symbol: symbol(prefix, x.Name), Role: role, Of: x.Name}
	err := m.emitEntry(e, k, func(w *kernel) {
		for _, o := range key {
			w.keep(o.Reg)
		}
		keys := &keys{kernel: w, kinds: indexKey, name: x.Name}
		if role != abi.BuildFill && keys.mayBeWide(len(key)) {
			w.addGauge(gauge{Param: abi.Param{Kind: abi.IndexWideGauge, Var: x.Name}, formed: true, form: abi.IndexForm, least: abi.Wide})
		}
		w.end = func() error {
			for _, o := range key {
				keys.words = append(keys.words, w.regs[o.Reg].words)
			}
			w.enter(keys, x, role)
			return nil
		}
	})
	if err != nil {
		return fmt.Errorf("index %s: %w", x.Name, err)
	}
	return nil
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
