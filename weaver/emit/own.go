package emit

import (
	"cmp"
	"math"
	"slices"

	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// A GPU's block keeps groups of its own: without a key in registers, else in a
// table in shared memory (primitives/src/own.h). Rows that find no place there
// go to the table of all blocks. Each block adds its groups to that table when
// it leaves.

// groupOnGPU adds the live rows to groups.
func (w *kernel) groupOnGPU(s *harmony.Group, how *shape.Group) error {
	accs := make([]*accumulator, len(s.To.Accs))
	words := make([]*ir.Array, len(accs))
	for i, a := range s.To.Accs {
		accs[i] = &accumulator{kernel: w, groups: s.To, index: i, acc: a, size: i64(0)}
		if a.Fn == queryplan.Count {
			continue
		}
		d := w.Module.Options.Domains.Sink(s, len(s.Key)+i)
		words[i] = w.operandArrays(s.Vals[i], d).Words
		switch {
		case !shape.IsExtreme(a):
		case d != nil && d.Grows:
			return accs[i].extremeOfStrings(words[i], d)
		default:
			words[i] = accs[i].ordered(words[i])
		}
	}
	switch how.How {
	case shape.InRegisters:
		if len(s.Key) > 0 {
			w.groupKey(s) // what its bounds drop is dropped
		}
		w.groupAll(s, how, accs, words)
	case shape.InCells:
		w.groupPrivately(s, how.Cells, accs, words)
	default:
		w.groupByKey(s, how.Table, accs, words)
	}
	return nil
}

// groupByKey adds the live rows to a block's own groups, if it has a table, and
// those that find no place there to the groups of all blocks.
func (w *kernel) groupByKey(s *harmony.Group, t *shape.Table, accs []*accumulator,
	words []*ir.Array) {
	g := s.To
	k, key := w.groupKey(s)
	live := w.liveFlags()
	// Rows of enter have groups that all blocks are to have, those of rest are
	// added to these.
	toAll := func(enter, rest *ir.Array) {
		slots, occupied := key, w.Param(abi.GroupOccupied, g.Name, 0)
		if form, ok := k.tableForm().(*constant.Int); !ok || abi.Form(form.X.Int64()) == abi.Hash {
			slots = w.Array(types.I64)
			w.Call("rf_tile_group_slots", slots.Ptr, enter.Ptr, key.Ptr, k.tableForm(),
				w.Param(abi.GroupTable, g.Name, 0),
				w.Param(abi.GroupSize, g.Name, 0), w.Param(abi.Gauge, g.Name, 0), occupied, i32(1),
				w.items)
		} else if at := slices.IndexFunc(accs, (*accumulator).canMark); at >= 0 {
			accs[at].marks = true
		} else {
			w.Call("rf_tile_cells_mark", occupied, slots.Ptr, rest.Ptr, w.items)
		}
		for i, a := range accs {
			a.slots, a.live = slots, rest
			a.add(words[i])
		}
	}
	if t == nil {
		toAll(live, live)
		return
	}
	o := w.newOwn(t, k, accs)
	places := w.Array(types.I32)
	numbered := func(marks value.Value) {
		live, key := o.share(live, key)
		w.Call("rf_own_numbered", places.Ptr, live.Ptr, key.Ptr, marks, o.copies, w.items)
	}
	if o.Fits {
		marks := o.words
		if o.Witness != nil {
			marks = null
		}
		numbered(marks)
		o.add(places, words)
		return
	}
	rest, enter := w.Array(types.I8), w.Array(types.I8)
	misses, some := w.Variable(types.I32, i32(0)), w.Variable(types.I32, i32(0))
	w.Store(i32(0), some)
	searched := func() {
		w.Store(w.Call("rf_own_places", places.Ptr, rest.Ptr, enter.Ptr, live.Ptr, key.Ptr, o.words,
			i32(o.Bits), i32(o.SlotBits), misses, w.items), some)
	}
	if form, ok := k.tableForm().(*constant.Int); ok && abi.Form(form.X.Int64()) == abi.Hash {
		searched()
	} else {
		w.Choose(w.Cur.NewICmp(enum.IPredSGE, o.copies, i32(0)), func() {
			numbered(o.words)
		}, searched)
	}
	o.add(places, words)
	w.When(w.Cur.NewICmp(enum.IPredNE, w.Load(types.I32, some), i32(0)), func() {
		toAll(enter, rest)
	})
}

// own is a block's own table of groups.
type own struct {
	*kernel
	*shape.Table
	accs []*accumulator
	// begin is where the table is, words its words, null if there are none, and
	// copies what rf_own_copies says.
	begin, words, copies value.Value
	// first is the group with which the block's share begins; see share.
	first value.Value
}

// newOwn makes room for a table, which the block clears before its first tile
// and adds to the groups of all blocks after its last one.
func (w *kernel) newOwn(t *shape.Table, k *keys, accs []*accumulator) *own {
	o := &own{kernel: w, Table: t, accs: accs}
	memory := &w.Shared
	if t.IsLarge() {
		memory = &w.Dynamic
	}
	w.Entry.Sharing = t.Sharing
	w.inPrologue(func() {
		o.begin = memory.More(o.Size)
		w.Call("rf_block_clear", o.begin, i64(int64(o.Size/8)), i64(0), i32(w.Target.Threads))
		o.words, o.copies = null, i32(0)
		if n := o.Sharing; n > 0 {
			member := w.Cur.NewURem(w.BlockNumber(), i64(int64(n)))
			o.first = w.Cur.NewMul(member, i64(int64(o.Places)))
		}
		if o.Slots > 0 {
			o.words = o.begin
			o.copies = w.Call("rf_own_copies", k.tableForm(), w.Param(abi.GroupSize, k.name, 0),
				i32(o.Bits))
		}
	})
	w.flushes = append(w.flushes, func() { o.flush(k) })
	return o
}

// share returns which rows are live and of the block's share, and the numbers
// that their groups have there.
func (o *own) share(live, key *ir.Array) (own, numbers *ir.Array) {
	if o.Sharing == 0 {
		return live, key
	}
	own, numbers = o.Array(types.I8), o.Array(types.I64)
	o.eachItem(func(i value.Value) {
		number := o.Cur.NewSub(o.Get(key, i), o.first)
		in := o.Cur.NewICmp(enum.IPredULT, number, i64(int64(o.Places)))
		o.Set(numbers, i, number)
		o.SetFlag(own, i, o.Cur.NewAnd(o.Flag(live, i), in))
	})
	return own, numbers
}

// shareOf returns where the block's share begins in memory with a number of
// words for each group.
func (o *own) shareOf(p value.Value, words int) value.Value {
	if o.Sharing == 0 {
		return p
	}
	return o.At(types.I64, p, o.Cur.NewMul(o.first, i64(int64(words))))
}

// part returns the address of a part of the table.
func (o *own) part(at int) value.Value { return o.At(types.I8, o.begin, i64(int64(at))) }

// add adds the rows that have places. Words are those of the accumulators.
func (o *own) add(places *ir.Array, words []*ir.Array) {
	all := i32(o.Places)
	if o.Count.Digits > 0 {
		o.Call("rf_own_count", o.part(o.Count.At), all, i32(o.Count.Digits), places.Ptr, o.items)
	}
	var slots, placed *ir.Array // places as what all blocks have, where floats ask for it
	for i, a := range o.accs {
		c := o.Accs[i]
		switch {
		case a.acc.Fn == queryplan.Count, a.shares(), c.Like < i:
		case shape.IsExtreme(a.acc):
			o.Call("rf_own_extreme", o.part(c.At), places.Ptr, words[i].Ptr, a.least(), o.items)
		case a.acc.In.Kind == scalar.Float:
			if slots == nil {
				slots, placed = o.Array(types.I64), o.Array(types.I8)
				o.eachItem(func(i value.Value) {
					place := o.Get(places, i)
					o.Set(slots, i, o.Cur.NewSExt(place, types.I64))
					o.SetFlag(placed, i, o.Cur.NewICmp(enum.IPredSGE, place, i32(0)))
				})
			}
			o.Call("rf_tile_cells_float", o.part(c.At), i32(abi.FloatSumWords), slots.Ptr,
				words[i].Ptr, placed.Ptr, i32(1), o.items)
		default:
			o.Call("rf_own_add", o.part(c.At), all, i32(c.Digits), places.Ptr, words[i].Ptr,
				a.unsigned(), o.items)
		}
	}
}

// flush adds what the table has to the cells of all blocks.
func (o *own) flush(k *keys) {
	all, slots, threads := i32(o.Places), i32(cmp.Or(o.Slots, o.Places)), i32(o.Target.Threads)
	witness, digits := value.Value(null), 0
	if o.Fits && o.Witness != nil {
		witness, digits = o.part(o.Witness.At), o.Witness.Digits
	}
	o.Call("rf_own_settle", o.words, slots, o.copies, k.tableForm(),
		o.Param(abi.GroupTable, k.name, 0),
		o.Param(abi.GroupSize, k.name, 0), o.shareOf(o.Param(abi.GroupOccupied, k.name, 0), 1),
		witness, i32(digits), threads)
	cells := func(a *accumulator, word int) value.Value {
		return o.shareOf(a.cells(word), a.stride())
	}
	sums := func(a *accumulator, word int, p shape.TablePart, unsigned value.Value, countOnly int) {
		o.Call("rf_own_pass_sums", cells(a, word), i32(a.stride()), o.part(p.At), all,
			i32(p.Digits), unsigned, i32(countOnly),
			o.words, slots, o.copies, threads)
	}
	for i, a := range o.accs {
		c := o.Accs[i]
		switch {
		case a.acc.Fn == queryplan.Count, a.shares():
		case shape.IsExtreme(a.acc):
			o.Call("rf_own_pass_extremes", cells(a, 0), o.part(c.At), a.least(), o.words, slots,
				o.copies, threads)
		case a.acc.In.Kind == scalar.Float:
			o.Call("rf_own_pass_words", cells(a, 0), i32(a.stride()), o.part(c.At),
				i32(abi.FloatSumWords), o.words, slots, o.copies, threads)
		default:
			sums(a, 0, c.TablePart, a.unsigned(), 0)
		}
		if shape.Counts(a.acc) {
			sums(a, a.stride()-1, o.Count, i32(1), 1)
		}
	}
}

// groupAll adds the live rows to the one group there is: in registers, but sums
// of floats in shared memory.
func (w *kernel) groupAll(s *harmony.Group, how *shape.Group, accs []*accumulator,
	words []*ir.Array) {
	live := w.liveFlags()
	rows := w.Variable(types.I64, i64(0))
	parts := make([][]value.Value, len(accs)) // variables
	kept := make([]value.Value, len(accs))    // sums of floats
	for i, a := range accs {
		switch {
		case a.acc.Fn == queryplan.Count, a.shares():
		case shape.IsExtreme(a.acc):
			parts[i] = []value.Value{w.Variable(types.I64,
				i64(abi.CellOf(a.acc.Fn, a.acc.In).Initial))}
		case a.acc.In.Kind == scalar.Float:
			const size = 8 * abi.FloatSumWords
			w.inPrologue(func() {
				kept[i] = w.Shared.More(size)
				w.Call("rf_block_clear", kept[i], i64(abi.FloatSumWords), i64(0),
					i32(w.Target.Threads))
			})
		default:
			parts[i] = []value.Value{w.Variable(types.I64, i64(0))}
			if !how.Accs[i].Fits {
				parts[i] = append(parts[i], w.Variable(types.I64, i64(0)))
			}
		}
	}
	grow := func(p, v value.Value) { w.Store(w.Cur.NewAdd(w.Load(types.I64, p), v), p) }
	tile := w.Variable(types.I32, i32(0)) // the rows of the tile at hand
	w.Store(i32(0), tile)
	w.eachItem(func(i value.Value) {
		in := w.Flag(live, i)
		w.Store(w.Cur.NewAdd(w.Load(types.I32, tile), w.Cur.NewZExt(in, types.I32)), tile)
		for k, a := range accs {
			p := parts[k]
			if p == nil {
				continue
			}
			word := w.Get(words[k], i)
			switch {
			case shape.IsExtreme(a.acc):
				before := w.Load(types.I64, p[0])
				better := w.Cur.NewAnd(in, w.Cur.NewICmp(a.beats(), word, before))
				w.Store(w.Cur.NewSelect(better, word, before), p[0])
			case len(p) == 1:
				grow(p[0], w.Cur.NewSelect(in, word, i64(0)))
			default:
				// The halves apart: no carry has to be kept.
				term := w.Cur.NewSelect(in, word, i64(0))
				grow(p[0], w.Cur.NewAnd(term, i64(math.MaxUint32)))
				if a.acc.In.Kind == scalar.Uint {
					grow(p[1], w.Cur.NewLShr(term, i64(32)))
				} else {
					grow(p[1], w.Cur.NewAShr(term, i64(32)))
				}
			}
		}
	})
	grow(rows, w.Cur.NewZExt(w.Load(types.I32, tile), types.I64))
	for i := range accs {
		if kept[i] != nil {
			slots := w.Array(types.I64)
			w.eachItem(func(i value.Value) { w.Set(slots, i, i64(0)) })
			w.Call("rf_tile_cells_float", kept[i], i32(abi.FloatSumWords), slots.Ptr, words[i].Ptr,
				live.Ptr, i32(1), w.items)
		}
	}
	w.flushes = append(w.flushes, func() { w.flushAll(s, accs, rows, parts, kept) })
}

// flushAll adds up what the threads have, and adds it to the cells.
func (w *kernel) flushAll(s *harmony.Group, accs []*accumulator, rows value.Value,
	parts [][]value.Value, kept []value.Value) {
	threads := i32(w.Target.Threads)
	reduce := func(name string, p value.Value) value.Value {
		return w.Call(name, w.Load(types.I64, p), w.ScratchOf(name), threads)
	}
	thread := w.Intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", types.I32)
	first := w.Cur.NewICmp(enum.IPredEQ, thread, i32(0))
	count := reduce("rf_block_sum_i64", rows)
	some := w.Cur.NewICmp(enum.IPredNE, count, i64(0))
	for i, a := range accs {
		p := parts[i]
		var total, high value.Value
		switch {
		case a.acc.Fn == queryplan.Count, a.shares(), kept[i] != nil:
		case a.acc.Fn == queryplan.Min:
			total = reduce("rf_block_min_i64", p[0])
		case a.acc.Fn == queryplan.Max:
			total = reduce("rf_block_max_i64", p[0])
		case len(p) == 1:
			total = reduce("rf_block_sum_i64", p[0])
			high = w.Cur.NewAShr(total, i64(63))
		default:
			sum := w.Cur.NewAdd(w.Cur.NewZExt(w.Load(types.I64, p[0]), types.I128),
				w.Cur.NewShl(w.Cur.NewSExt(w.Load(types.I64, p[1]), types.I128),
					ir.IntOf(types.I128, 32)))
			lo, hi := w.Variable(types.I64, i64(0)), w.Variable(types.I64, i64(0))
			w.Store(w.Cur.NewTrunc(sum, types.I64), lo)
			w.Store(w.Cur.NewTrunc(w.Cur.NewLShr(sum, ir.IntOf(types.I128, 64)), types.I64), hi)
			w.Call("rf_block_sum_i128", lo, hi, w.ScratchOf("rf_block_sum_i128"), threads)
			total, high = w.Load(types.I64, lo), w.Load(types.I64, hi)
		}
		w.When(w.Cur.NewAnd(first, some), func() {
			switch {
			case total == nil:
			case a.acc.Fn == queryplan.Min:
				w.Call("rf_cell_min", a.cells(0), total, i32(1))
			case a.acc.Fn == queryplan.Max:
				w.Call("rf_cell_max", a.cells(0), total, i32(1))
			default:
				w.Call("rf_cell_add_i128", a.cells(0), total, high, i32(1))
			}
			if shape.Counts(a.acc) {
				w.Call("rf_cell_add", a.cells(a.stride()-1), count, i32(1))
			}
			if i == 0 {
				w.Store(i64(1), w.Param(abi.GroupOccupied, s.To.Name, 0))
			}
		})
		if kept[i] != nil {
			w.Call("rf_block_add_words", a.cells(0), kept[i], i32(abi.FloatSumWords), threads)
		}
	}
	if len(accs) == 0 {
		w.When(w.Cur.NewAnd(first, some), func() {
			w.Store(i64(1), w.Param(abi.GroupOccupied, s.To.Name, 0))
		})
	}
}

// least returns 1 for a least value, else 0.
func (a *accumulator) least() value.Value {
	if a.acc.Fn == queryplan.Min {
		return i32(1)
	}
	return i32(0)
}

// beats is how a word compares that takes the place of an extreme.
func (a *accumulator) beats() enum.IPred {
	if a.acc.Fn == queryplan.Min {
		return enum.IPredSLT
	}
	return enum.IPredSGT
}

// unsigned returns 1 if the words are unsigned, else 0.
func (a *accumulator) unsigned() value.Value {
	if a.acc.In.Kind == scalar.Uint {
		return i32(1)
	}
	return i32(0)
}
