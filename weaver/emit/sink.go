package emit

import (
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// sinks emits what becomes of the rows that are left.
func (w *kernel) sinks() error {
	for _, s := range w.k.Sinks {
		switch s := s.(type) {
		case *harmony.Store:
			w.appendRows(s.To, w.columnsOf(s, s.Vals))
		case *harmony.Insert:
			w.insert(s)
		case *harmony.Group:
			if err := w.group(s); err != nil {
				return err
			}
		}
		w.mark(s)
	}
	return nil
}

// columnsOf returns the words of a sink's operands.
func (w *kernel) columnsOf(s harmony.Sink, vals []harmony.Operand) []*ir.Array {
	out := make([]*ir.Array, len(vals))
	for i, o := range vals {
		out[i] = w.operandArrays(o, w.Module.Options.Domains.Sink(s, i)).Words
	}
	return out
}

// appendRows appends the live rows to a relation. A dense tile needs no ranks.
func (w *kernel) appendRows(to *harmony.Relation, vals []*ir.Array) {
	gauge := w.Param(abi.Gauge, to.Name, 0)
	if !w.dense {
		w.appendLive(to, vals, w.liveFlags())
		return
	}
	first := w.Call("rf_block_reserve", gauge, w.count, null, i32(1))
	for i, words := range vals {
		c := shape.RelationColumn(to, i)
		if w.Shape.ByRow(c) {
			w.appendColumn(c, first, w.count, func(i value.Value) value.Value {
				return w.Get(words, i)
			})
			continue
		}
		p := w.ColumnWords(c)
		count := w.Cur.NewTrunc(w.count, types.I32)
		w.Call("rf_tile_store", p.Data, p.Width, p.Base, words.Ptr, first, count, i32(1), w.items)
	}
}

// appendColumn writes words to a CPU's column of known width, from row first
// on.
func (w *kernel) appendColumn(c shape.Column, first, count value.Value,
	word func(i value.Value) value.Value) {
	width, _ := w.Fixed(c.Width, c.Name, c.Index)
	if width == 0 {
		return
	}
	p, t := w.ColumnWords(c), types.NewInt(uint64(8*width))
	to := w.At(t, p.Data, first)
	w.Loop(count, func(i value.Value) {
		offset := value.Value(w.Cur.NewSub(word(i), p.Base))
		if width < 8 {
			offset = w.Cur.NewTrunc(offset, t)
		}
		w.Store(offset, w.At(t, to, i))
	})
}

// appendLive appends the rows that flags say to a relation.
func (w *kernel) appendLive(to *harmony.Relation, vals []*ir.Array, flags *ir.Array) {
	known := !w.Target.GPU // also of a relation without columns
	for i := range vals {
		known = known && w.Shape.ByRow(shape.RelationColumn(to, i))
	}
	if known {
		w.appendSelected(to, vals, flags)
		return
	}
	rank, total := w.rank(flags)
	w.When(w.Cur.NewICmp(enum.IPredNE, total, i32(0)), func() {
		first := w.Call("rf_block_reserve", w.Param(abi.Gauge, to.Name, 0),
			w.Cur.NewZExt(total, types.I64),
			w.ScratchOf("rf_block_reserve"), i32(w.Target.Threads))
		for i, words := range vals {
			c := shape.RelationColumn(to, i)
			if width, known := w.Fixed(c.Width, c.Name, c.Index); known && width == 0 {
				continue
			}
			p := w.ColumnWords(c)
			w.Call("rf_tile_append", p.Data, w.Param(c.Width, c.Name, c.Index), p.Base, first,
				words.Ptr, rank.Ptr, flags.Ptr, w.items)
		}
	})
}

// appendSelected is appendLive for a CPU's columns of known widths.
func (w *kernel) appendSelected(to *harmony.Relation, vals []*ir.Array, flags *ir.Array) {
	items, total := w.selectLive(flags)
	w.When(w.Cur.NewICmp(enum.IPredNE, total, i64(0)), func() {
		first := w.Call("rf_block_reserve", w.Param(abi.Gauge, to.Name, 0), total, null, i32(1))
		for i, words := range vals {
			w.appendColumn(shape.RelationColumn(to, i), first, total,
				func(i value.Value) value.Value {
					return w.Get(words, w.Cur.NewZExt(w.Get(items, i), types.I64))
				})
		}
	})
}

// insert adds the live rows to a derived relation, unless they are there.
func (w *kernel) insert(s *harmony.Insert) {
	name := s.To.Name
	vals := w.columnsOf(s, s.Vals)
	if form, known := w.Fixed(abi.SetForm, name, 0); known && abi.Form(form) == abi.None &&
		w.dense {
		w.appendRows(s.To, vals)
		return
	}
	isNew := w.liveCopy()
	k := &keys{kernel: w, kinds: shape.SetKey, name: name, words: vals}
	table, size := func() value.Value {
		return w.Param(abi.SetTable, name, 0)
	}, func() value.Value { return w.Param(abi.SetSize, name, 0) }
	k.byForm(func() {
		numbers := w.Array(types.I64)
		w.Call("rf_tile_wide_insert", numbers.Ptr, isNew.Ptr, k.tuples(), i32(w.Target.Items),
			i32(len(vals)), table(), size(),
			w.Param(abi.SetColumns, name, 0), w.Param(abi.Gauge, name, 0),
			constant.NewInt(types.I64, 1<<63-1), i32(w.Target.Threads), w.items)
	}, func() {
		if form, known := w.Fixed(abi.SetForm, name, 0); !known || abi.Form(form) != abi.None {
			packed := w.Array(types.I64)
			k.pack(packed, isNew)
			w.Call("rf_tile_insert", isNew.Ptr, packed.Ptr, k.form(), table(), size(),
				w.setShared(name), w.items)
		}
		w.appendLive(s.To, vals, isNew)
	})
}

// setShared returns 1 if other workers write a set at the same time.
func (w *kernel) setShared(name string) value.Value {
	if w.Target.GPU {
		return i32(1)
	}
	return w.Param32(abi.SetShared, name, 0)
}
