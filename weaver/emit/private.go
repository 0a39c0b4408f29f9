package emit

import (
	"slices"

	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// groupPrivately adds the live rows to the threads' own cells.
func (w *kernel) groupPrivately(s *harmony.Group, p *shape.Cells, accs []*accumulator,
	words []*ir.Array) {
	threads := w.Target.Threads
	size := p.Bytes() * threads
	var kept, own value.Value // the block's words, and where the thread's begin
	w.inPrologue(func() {
		kept = w.Dynamic.More(size)
		w.Call("rf_block_clear", kept, i64(int64(size/8)), i64(0), i32(threads))
		thread := w.Intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", types.I32)
		own = w.At(types.I64, kept, w.Cur.NewZExt(thread, types.I64))
	})
	_, key := w.groupKey(s)
	live := w.liveFlags()
	add := func() {
		w.eachItem(func(i value.Value) {
			in := w.Flag(live, i)
			place := w.Cur.NewSelect(in, w.Get(key, i), i64(int64(p.Groups)))
			at := w.At(types.I64, own, w.Cur.NewMul(place, i64(int64(p.Cells*threads))))
			w.addPrivately(p, s, accs, at, func(k int) value.Value { return w.Get(words[k], i) })
		})
	}
	if slices.ContainsFunc(w.work.Steps, func(s shape.Step) bool {
		return s.Kind == shape.Lookup
	}) {
		// Often no row of a warp is left. Behind filters alone a branch would
		// keep the loads from being begun together.
		any := value.Value(i8(0))
		for i := range w.Target.Items {
			any = w.Cur.NewOr(any, w.Get(live, i64(int64(i))))
		}
		w.When(w.Cur.NewICmp(enum.IPredNE, any, i8(0)), add)
	} else {
		add()
	}
	w.flushes = append(w.flushes, func() { w.flushPrivate(p, s, accs, kept) })
}

// addPrivately adds a row to the thread's cells at a place, whose first is at
// an address. All are read before the first is written: they are not waited for
// one by one.
func (w *kernel) addPrivately(p *shape.Cells, s *harmony.Group, accs []*accumulator, at value.Value,
	word func(int) value.Value) {
	cells, terms := make([]value.Value, p.Cells), make([]value.Value, p.Cells)
	addresses := make([]value.Value, p.Cells)
	for c := range cells {
		addresses[c] = w.At(types.I64, at, i64(int64(c*w.Target.Threads)))
		cells[c] = w.Load(types.I64, addresses[c])
	}
	term := func(f shape.Field, v value.Value) {
		if f.Part == shape.HighHalf {
			v = w.Cur.NewShl(v, i64(32))
		}
		if terms[f.Cell] != nil {
			v = w.Cur.NewOr(terms[f.Cell], v)
		}
		terms[f.Cell] = v
	}
	for i, a := range accs {
		f := p.Accs[i]
		switch {
		case a.acc.Fn == queryplan.Count, a.shares():
		case !a.acc.Fn.IsTotal():
			flipped := w.Call("rf_private_extreme_word", word(i), a.least())
			cells[f.Cell] = w.Cur.NewSelect(w.Cur.NewICmp(enum.IPredUGT, flipped, cells[f.Cell]),
				flipped, cells[f.Cell])
		case shape.SameSum(s, i) == i:
			term(f, word(i))
		}
	}
	if p.Counted {
		term(p.Rows, i64(1))
	}
	for c, cell := range cells {
		if terms[c] != nil {
			cell = w.Cur.NewAdd(cell, terms[c])
		}
		w.Store(cell, addresses[c])
	}
}

// flushPrivate adds what the threads have to the cells of all blocks.
func (w *kernel) flushPrivate(p *shape.Cells, s *harmony.Group, accs []*accumulator,
	kept value.Value) {
	threads := w.Target.Threads
	groups, stride := i32(p.Groups), i32(p.Cells*threads)
	part := func(f shape.Field) value.Value {
		return w.At(types.I64, kept, i64(int64(f.Cell*threads)))
	}
	mask := map[int]int64{shape.WholeCell: -1, shape.LowHalf: 1<<32 - 1,
		shape.HighHalf: -1 << 32}[p.Witness.Part]
	w.Call("rf_private_settle", part(p.Witness), i64(mask), groups, stride,
		w.Param(abi.GroupOccupied, s.To.Name, 0), i32(threads))
	sums := func(a *accumulator, word int, f shape.Field, countOnly int) {
		w.Call("rf_private_pass_sums", a.cells(word), i32(a.stride()), part(f), i32(f.Part), groups,
			stride, i32(countOnly), i32(threads))
	}
	for i, a := range accs {
		switch f := p.Accs[i]; {
		case a.acc.Fn == queryplan.Count, a.shares():
		case a.acc.Fn.IsTotal():
			sums(a, 0, f, 0)
		default:
			w.Call("rf_private_pass_extremes", a.cells(0), part(f), groups, stride, a.least(),
				i32(threads))
		}
		if shape.Counts(a.acc) {
			sums(a, a.stride()-1, p.Rows, 1)
		}
	}
}
