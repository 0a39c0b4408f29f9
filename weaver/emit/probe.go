package emit

import (
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
)

// probe emits a probe that finds one row at most.
func (w *kernel) probe(p *harmony.Probe) {
	found := w.liveCopy()
	k := w.keysOf(indexKey, p.Index.Name, p.Key, func(i int) *domain.Domain { return w.module.opts.Domains.Stage(p, i) })
	key := k.find(found)
	rows := w.look(k, p, key, found)
	if p.Kind == harmony.ProbeUnique {
		w.regs[p.Out] = &stored{words: rows}
	}
	if p.Kind == harmony.ProbeAbsent {
		// A key outside of what the index can hold is absent, too.
		before := w.liveFlags()
		w.eachItem(func(i value.Value) {
			w.set(found, i, w.Cur.NewAnd(w.get(before, i), w.Cur.NewXor(w.get(found, i), i8(1))))
		})
	}
	w.narrow(found)
}

// look leaves the flags of those keys that have a row, and returns the rows of a
// unique index.
func (w *kernel) look(k *keys, p *harmony.Probe, key, found *array) (rows *array) {
	x := p.Index.Name
	table, size := func() value.Value { return w.param(abi.IndexTable, x, 0) }, func() value.Value { return w.param(abi.IndexSize, x, 0) }
	switch p.Index.Kind {
	case harmony.Unique:
		rows = w.array(types.I64)
		w.call("rf_tile_find_unique", rows.ptr, found.ptr, key.ptr, k.tableForm(), table(), size(), w.items)
	case harmony.Multi:
		_, counts := w.matches(k, x, key, found)
		w.eachItem(func(i value.Value) {
			some := w.Cur.NewICmp(enum.IPredNE, w.get(counts, i), i64(0))
			w.setFlag(found, i, some)
		})
	case harmony.Exists:
		// The row set of form Wide has answered already.
		k.byForm(func() {}, func() {
			w.call("rf_tile_find_exists", found.ptr, key.ptr, k.form(), table(), size(), i32(0), w.items)
		})
	}
	return rows
}

// matches returns where the rows of each key begin in a multi index, and how many
// there are: none where the item is not live.
func (w *kernel) matches(k *keys, index string, key, live *array) (begins, counts *array) {
	begins, counts = w.array(types.I64), w.array(types.I64)
	w.call("rf_tile_find_multi", begins.ptr, counts.ptr, live.ptr, key.ptr, k.tableForm(),
		w.param(abi.IndexTable, index, 0), w.param(abi.IndexSize, index, 0), w.param(abi.IndexBegins, index, 0), w.items)
	return begins, counts
}

// expand emits a probe of a multi index and the rest of the kernel as a loop over
// rounds, each a tile of the rows found.
func (w *kernel) expand(p *harmony.Probe, stage int) error {
	live := w.liveCopy()
	k := w.keysOf(indexKey, p.Index.Name, p.Key, func(i int) *domain.Domain { return w.module.opts.Domains.Stage(p, i) })
	begins, counts := w.matches(k, p.Index.Name, k.find(live), live)

	tileRows := w.target.Threads * w.target.Items
	threads, items := i32(w.target.Threads), i32(w.target.Items)
	ends := w.shared.more(8 * (tileRows + 1))
	if !w.target.GPU {
		ends = w.alloca(types.I64, tileRows+1)
		w.clearWords(counts)
	}
	total := w.call("rf_expand_begin", ends, counts.ptr, w.scratchOf("rf_expand_begin"), threads, items)
	carried := w.shareRegs(stage, begins)

	position := w.positions[w.depth]
	w.depth++
	head, body, after := w.newBlock("rounds"), w.newBlock("round"), ir.NewBlock(w.fresh("rounds.done"))
	last := ir.NewBlock(w.fresh("round.next"))
	outer := w.next
	w.Cur.NewBr(head)
	w.Cur = head
	first := w.load(types.I64, position)
	w.Cur.NewCondBr(w.Cur.NewICmp(enum.IPredSLT, first, total), body, after)
	w.Cur = body
	if w.depth == len(w.positions) {
		w.checkGauges()
		w.countDropped()
	}
	row, nth, flags := w.array(types.I32), w.array(types.I64), w.array(types.I8)
	w.call("rf_expand_round", row.ptr, nth.ptr, flags.ptr, ends, first, total, threads, items)
	w.flags, w.drops = flags, true
	if !w.target.GPU {
		left := w.Cur.NewSub(total, first)
		full := i64(int64(w.target.Items))
		w.setCount(w.function, w.Cur.NewSelect(w.Cur.NewICmp(enum.IPredSLT, left, full), left, full))
		w.dense = true
	}
	w.carry(p, stage, carried, row, nth)
	w.next = last
	if err := w.rest(stage + 1); err != nil {
		return err
	}
	w.Cur.NewBr(last)

	w.place(last)
	w.countDropped()
	w.store(w.Cur.NewAdd(first, i64(int64(tileRows))), position)
	w.Cur.NewBr(head)
	w.place(after)
	w.store(i64(0), position)
	w.next = outer
	w.depth--
	return nil
}

// clearWords clears the words of a CPU's items that fill up the tile, so that all
// of it can be summed up.
func (w *kernel) clearWords(a *array) {
	from := w.Cur.NewZExt(w.items, types.I64)
	bytes := w.Cur.NewMul(w.Cur.NewSub(i64(int64(w.target.Items)), from), i64(8))
	w.intrinsic("llvm.memset.p0.i64", types.Void, w.at(types.I64, a.ptr, from), i8(0), bytes, constant.False)
}

// shared is a register whose items all threads can read, in the order of rows.
type shared struct {
	reg     *harmony.Reg // nil: the begins of matches, or the source's rows
	from    *stored
	words   value.Value
	high    value.Value // null if there is none
	present value.Value
}

// carriedRegs are the values that cross an expansion.
type carriedRegs struct {
	begins value.Value
	source value.Value // nil if the items' rows are those of the tile, or nothing loads any more
	regs   []shared
}

// shareRegs makes the values that are needed behind an expansion readable by row.
func (w *kernel) shareRegs(stage int, begins *array) *carriedRegs {
	c := &carriedRegs{begins: w.share(begins)}
	if w.source != nil && w.lastLoad > stage {
		c.source = w.share(w.source)
	}
	for _, reg := range w.liveRegs(stage + 1) {
		from := w.regs[reg]
		s := shared{reg: reg, from: from, words: w.share(from.words)}
		if from.high != nil {
			s.high = w.share(from.high)
		}
		if from.present != nil {
			s.present = w.shareFlags(from.present)
		}
		c.regs = append(c.regs, s)
	}
	return c
}

// share returns the address of an array's items in the order of the tile's rows. A
// CPU's are in that order.
func (w *kernel) share(a *array) value.Value {
	if !w.target.GPU {
		return a.ptr
	}
	to := w.shared.more(8 * w.target.Threads * w.target.Items)
	w.call("rf_tile_share", to, a.ptr, i32(w.target.Threads), i32(w.target.Items))
	return to
}

// shareFlags is share for bytes, which then are words.
func (w *kernel) shareFlags(a *array) value.Value {
	if !w.target.GPU {
		return a.ptr
	}
	words := w.array(types.I64)
	w.eachItem(func(i value.Value) { w.set(words, i, w.Cur.NewZExt(w.get(a, i), types.I64)) })
	return w.share(words)
}

// carry gives the items of a round the registers of the rows that they come from,
// and the row that the probe found.
func (w *kernel) carry(p *harmony.Probe, stage int, c *carriedRegs, row, nth *array) {
	regs := map[*harmony.Reg]*stored{}
	for _, s := range c.regs {
		to := &stored{typ: s.from.typ, words: w.array(types.I64), lo: s.from.lo, hi: s.from.hi, bounded: s.from.bounded}
		if s.high != nil {
			to.high = w.array(types.I64)
		}
		if s.present != nil {
			to.present = w.array(types.I8)
		}
		regs[s.reg] = to
	}
	var source *array
	if w.lastLoad > stage {
		source = w.array(types.I64)
	}
	places := w.array(types.I64)
	w.loop(w.count, func(i value.Value) {
		r := w.Cur.NewZExt(w.get(row, i), types.I64)
		at := func(p value.Value) value.Value { return w.load(types.I64, w.at(types.I64, p, r)) }
		w.set(places, i, w.Cur.NewAdd(at(c.begins), w.get(nth, i)))
		if source != nil {
			if c.source != nil {
				w.set(source, i, at(c.source))
			} else {
				w.set(source, i, w.Cur.NewAdd(w.start, r))
			}
		}
		for _, s := range c.regs {
			to := regs[s.reg]
			w.set(to.words, i, at(s.words))
			if s.high != nil {
				w.set(to.high, i, at(s.high))
			}
			switch {
			case s.present == nil:
			case w.target.GPU:
				w.set(to.present, i, w.Cur.NewTrunc(at(s.present), types.I8))
			default:
				w.set(to.present, i, w.load(types.I8, w.at(types.I8, s.present, r)))
			}
		}
	})
	w.source = source
	w.regs = regs
	if w.last[p.Out] > 0 {
		rows := w.array(types.I64)
		w.call("rf_tile_match_rows", rows.ptr, w.liveFlags().ptr, places.ptr, w.param(abi.IndexRows, p.Index.Name, 0), w.items)
		w.regs[p.Out] = &stored{words: rows}
	}
}
