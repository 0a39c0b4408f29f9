package emit

import (
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// probe emits a probe that finds one row at most.
func (w *kernel) probe(p *harmony.Probe) {
	found := w.liveCopy()
	k := w.keysOf(shape.IndexKey, p.Index.Name, p.Key, func(i int) *domain.Domain {
		return w.Module.Options.Domains.Stage(p, i)
	})
	rows, ok := w.lookNarrow(k, p, found)
	if !ok {
		rows = w.look(k, p, k.find(found), found)
	}
	if p.Kind == harmony.ProbeUnique {
		w.regs[p.Out] = &ir.Stored{Words: rows}
	}
	if p.Kind == harmony.ProbeAbsent {
		// A key outside of what the index can hold is absent, too.
		before := w.liveFlags()
		w.eachItem(func(i value.Value) {
			w.Set(found, i, w.Cur.NewAnd(w.Get(before, i), w.Cur.NewXor(w.Get(found, i), i8(1))))
		})
	}
	w.narrow(found)
}

// look leaves the flags of those keys that have a row, and returns the rows of
// a unique index.
func (w *kernel) look(k *keys, p *harmony.Probe, key, found *ir.Array) (rows *ir.Array) {
	x := p.Index.Name
	table, size := func() value.Value {
		return w.Param(abi.IndexTable, x, 0)
	}, func() value.Value { return w.Param(abi.IndexSize, x, 0) }
	switch p.Index.Kind {
	case harmony.Unique:
		rows = w.Array(types.I64)
		w.Call("rf_tile_find_unique", rows.Ptr, found.Ptr, key.Ptr, k.tableForm(), table(), size(),
			w.items)
	case harmony.Multi:
		_, counts := w.matches(k, x, key, found)
		w.eachItem(func(i value.Value) {
			some := w.Cur.NewICmp(enum.IPredNE, w.Get(counts, i), i64(0))
			w.SetFlag(found, i, some)
		})
	case harmony.Exists:
		// The row set of form Wide has answered already.
		k.byForm(func() {}, func() {
			w.Call("rf_tile_find_exists", found.Ptr, key.Ptr, k.form(), table(), size(), i32(0),
				w.items)
		})
	}
	return rows
}

// matches returns where the rows of each key begin in a multi index, and how
// many there are: none where the item is not live.
func (w *kernel) matches(k *keys, index string, key, live *ir.Array) (begins, counts *ir.Array) {
	begins, counts = w.Array(types.I64), w.Array(types.I64)
	w.Call("rf_tile_find_multi", begins.Ptr, counts.Ptr, live.Ptr, key.Ptr, k.tableForm(),
		w.Param(abi.IndexTable, index, 0), w.Param(abi.IndexSize, index, 0),
		w.Param(abi.IndexBegins, index, 0), w.spaced(index), w.items)
	return begins, counts
}

// spaced returns whether a multi index is spaced.
func (w *kernel) spaced(index string) value.Value {
	if !w.Shape.Spaced(index) {
		return i64(0)
	}
	return w.Param(abi.IndexSpaced, index, 0)
}
