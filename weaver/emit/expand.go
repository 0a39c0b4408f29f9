package emit

import (
	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// expansion is a probe of a multi index: the rows of a tile become the rows of
// several, its rounds.
type expansion struct {
	*kernel
	probe *harmony.Probe
	stage int // of the probe
	// ends has, for each row of the tile, the number of outputs of the rows
	// before it, and one word more; total is the number of all, or the
	// output at which the block stops.
	ends  value.Value
	total value.Value
	// begins has where the matches of each row begin in the index, and regs
	// what else is needed behind the probe.
	begins value.Value
	source value.Value // the source's rows; nil if they are the tile's, or nothing loads any more
	regs   []shared
	// row is a CPU's variable: the row of the tile that the round begins in, or
	// one before it.
	row value.Value
	// sift leaves out outputs that are not new; nil if it cannot.
	sift *sift
	// bits takes matches as bits; nil if the kernel only takes rows.
	bits *bitRows
}

// expand emits a probe of a multi index, which is a step, and the rest of the
// kernel as a loop over rounds.
func (w *kernel) expand(p *harmony.Probe, at int) error {
	live := w.liveCopy()
	k := w.keysOf(shape.IndexKey, p.Index.Name, p.Key, func(i int) *domain.Domain {
		return w.Module.Options.Domains.Stage(p, i)
	})
	packed := k.find(live)
	begins, counts := w.matches(k, p.Index.Name, packed, live)
	x := &expansion{kernel: w, probe: p, stage: w.work.Steps[at].From}
	x.begin(begins, counts)
	donates := w.donation != nil && w.depth < w.donation.levels
	if w.depth+1 == len(w.positions) {
		x.sift = x.siftOf()
		x.bits = x.bitRowsOf(k, packed, live)
	}

	position := w.positions[w.depth]
	w.depth++
	head, body, after := w.NewBlock("rounds"), w.NewBlock("round"),
		llvm.NewBlock(w.Fresh("rounds.done"))
	last := llvm.NewBlock(w.Fresh("round.next"))
	outer := w.next
	w.Cur.NewBr(head)
	w.Cur = head
	first := w.Load(types.I64, position)
	if donates {
		x.total = w.donation.word(workEnd + w.depth - 1)
	}
	w.Cur.NewCondBr(w.Cur.NewICmp(enum.IPredSLT, first, x.total), body, after)
	w.Cur = body
	if w.depth == len(w.positions) {
		w.checkGauges()
		w.countDropped()
	}
	x.round(first)
	w.mark(p)
	w.next = last
	if err := w.rest(at + 1); err != nil {
		return err
	}
	w.Cur.NewBr(last)

	w.Place(last)
	w.countDropped()
	w.depth--
	start, step := value.Value(i64(0)), value.Value(i64(int64(w.Target.Threads*w.Target.Items)))
	switch {
	case w.depth > 0:
	case donates:
		step = w.donation.word(workOutputStep)
	default:
		start, step = w.firstOutput, w.outputStep
	}
	next := value.Value(w.Cur.NewAdd(first, step))
	if b := x.bits; b != nil {
		next = w.Cur.NewSelect(b.on, w.Load(types.I64, b.next), next)
	}
	w.Store(next, position)
	w.Cur.NewBr(head)
	w.Place(after)
	if w.depth == 0 && donates {
		start = w.donation.word(workFirst)
	}
	w.Store(start, position)
	w.next = outer
	return nil
}

// begin sums up the matches of the tile's rows, and makes what is needed behind
// the probe readable by row.
func (x *expansion) begin(begins, counts *ir.Array) {
	rows := x.Target.Threads * x.Target.Items
	if x.Target.GPU {
		x.ends = x.Shared.More(8 * (rows + 1))
	} else {
		x.ends = x.Alloca(types.I64, rows+1)
		x.row = x.Variable(types.I64, i64(0))
		x.Store(i64(0), x.row)
	}
	x.total = x.Call("rf_expand_begin", x.ends, counts.Ptr, x.ScratchOf("rf_expand_begin"),
		i32(x.Target.Threads), x.items)
	if d := x.donation; d != nil && x.depth < d.levels {
		d.setEnd(x.depth, x.total)
	}
	x.begins = x.share(begins)
	if x.tile.source != nil && x.work.LastLoad > x.stage {
		x.source = x.share(x.tile.source)
	}
	for _, reg := range x.liveRegs(x.stage + 1) {
		from := x.tile.regs[reg]
		s := shared{reg: reg, from: from, words: x.share(from.Words)}
		if from.High != nil {
			s.high = x.share(from.High)
		}
		if from.Present != nil {
			s.present = x.shareFlags(from.Present)
		}
		x.regs = append(x.regs, s)
	}
}

// round makes the tile that of the outputs from first on.
func (x *expansion) round(first value.Value) {
	w := x.kernel
	w.drops = true
	places := w.Array(types.I64) // in the index
	var row *ir.Array
	switch {
	case w.Target.GPU:
		var nth *ir.Array
		row, nth, w.flags = w.Array(types.I32), w.Array(types.I64), w.Array(types.I8)
		w.Call("rf_expand_round", row.Ptr, nth.Ptr, w.flags.Ptr, x.ends, first, x.total,
			i32(w.Target.Threads), w.items)
		w.Loop(w.tile.count, func(i value.Value) {
			w.Set(places, i, w.Cur.NewAdd(x.item(types.I64, x.begins, row, i), w.Get(nth, i)))
		})
	case x.bits != nil:
		row = x.roundOfBits(first)
	default:
		row, places = x.roundOfRows(first)
	}
	x.carry(row)
	if b := x.bits; b != nil {
		w.tile.regs[b.gather.Out] = &ir.Stored{Type: b.gather.Out.Type, Words: b.words}
	} else if w.work.Last[x.probe.Out] > x.stage {
		w.tile.regs[x.probe.Out] = &ir.Stored{Words: x.matched(places)}
	}
}

// roundOfRows is round for a CPU whose matches are rows.
func (x *expansion) roundOfRows(first value.Value) (row, places *ir.Array) {
	w := x.kernel
	left, full := w.Cur.NewSub(x.total, first), i64(int64(w.Target.Items))
	w.setCount(w.Function,
		w.Cur.NewSelect(w.Cur.NewICmp(enum.IPredSLT, left, full), left, full))
	w.flags, w.dense = nil, true
	row, places = x.fill(first)
	if x.sift != nil {
		x.sift.round(row, places)
	}
	return row, places
}

// roundOfBits is round for matches that may be bits or rows. In either case
// the column that the tuple has from the match is read.
func (x *expansion) roundOfBits(first value.Value) (row *ir.Array) {
	w, b := x.kernel, x.bits
	count := w.Variable(types.I64, i64(0))
	w.Choose(b.on, func() { w.Store(b.round(first), count) }, func() {
		from, places := x.roundOfRows(first)
		c := w.Shape.ColumnOf(b.gather)
		x.eachMatch(places, func(i, _, match value.Value) {
			w.Set(b.found, i, w.Get(from, i))
			w.Set(b.words, i, w.EntryOf(c, match, nil))
		})
		w.Store(w.tile.count, count)
	})
	w.setCount(w.Function, w.Load(types.I64, count))
	w.flags, w.dense = nil, true
	return b.found
}

// chunk is how many outputs fill writes at once.
const chunk = 8

// fill gives a CPU's items the rows that they come from, and their places in
// the index. Each row of the tile with matches writes chunks, the last of which
// the next row overwrites as far as it is too long: there is no branch for a
// row of up to eight matches.
func (x *expansion) fill(first value.Value) (row, places *ir.Array) {
	w := x.kernel
	n := w.Target.Items + chunk
	row, places = &ir.Array{Ptr: w.Alloca(types.I32, n),
		Elem: types.I32}, &ir.Array{Ptr: w.Alloca(types.I64, n), Elem: types.I64}
	// The row that the round begins in: behind that of the last round, or
	// anywhere if the function goes on after a stop.
	w.While(func() value.Value {
		next := w.Cur.NewAdd(w.Load(types.I64, x.row), i64(1))
		return w.Cur.NewICmp(enum.IPredSLE, x.end(next), first)
	}, func() { w.Store(w.Cur.NewAdd(w.Load(types.I64, x.row), i64(1)), x.row) })

	at := w.Variable(types.I64, i64(0))
	from := w.Variable(types.I64, i64(0))
	w.Store(i64(0), from)
	w.While(func() value.Value {
		return w.Cur.NewICmp(enum.IPredSLT, w.Load(types.I64, from), w.tile.count)
	}, func() {
		r := w.Load(types.I64, x.row)
		begin := w.Load(types.I64, w.At(types.I64, x.begins, r))
		next := w.Cur.NewAdd(r, i64(1))
		base := w.Cur.NewAdd(w.Cur.NewSub(begin, x.end(r)), first)
		until := w.Cur.NewSub(x.end(next), first)
		end := w.Cur.NewSelect(w.Cur.NewICmp(enum.IPredSLT, until, w.tile.count), until,
			w.tile.count)
		w.Store(w.Load(types.I64, from), at)
		w.Repeat(func() value.Value {
			i := w.Load(types.I64, at)
			w.setChunk(row, i, w.Cur.NewTrunc(r, types.I32), 0)
			w.setChunk(places, i, w.Cur.NewAdd(base, i), 1)
			following := w.Cur.NewAdd(i, i64(chunk))
			w.Store(following, at)
			return w.Cur.NewICmp(enum.IPredSLT, following, end)
		})
		w.Store(end, from)
		done := w.Cur.NewICmp(enum.IPredSLE, until, w.tile.count)
		w.Store(w.Cur.NewSelect(done, next, r), x.row)
	})
	return row, places
}

// end returns an element of ends.
func (x *expansion) end(i value.Value) value.Value {
	return x.Load(types.I64, x.At(types.I64, x.ends, i))
}

// setChunk stores first, first + step and so on to a chunk of elements.
func (w *kernel) setChunk(a *ir.Array, i, first value.Value, step int64) {
	t := types.NewVector(chunk, a.Elem)
	zero := constant.NewUndef(t)
	one := w.Cur.NewInsertElement(zero, first, i32(0))
	v := value.Value(w.Cur.NewShuffleVector(one, zero,
		constant.NewZeroInitializer(types.NewVector(chunk, types.I32))))
	if step != 0 {
		var offsets []constant.Constant
		for k := range int64(chunk) {
			offsets = append(offsets, constant.NewInt(a.Elem, k*step))
		}
		v = w.Cur.NewAdd(v, constant.NewVector(t, offsets...))
	}
	store := &llvm.InstStore{Src: v, Dst: w.At(a.Elem, a.Ptr, i),
		Align: llvm.Align(a.Elem.BitSize / 8)}
	w.Cur.Insts = append(w.Cur.Insts, store)
}

// matched returns the rows that stand at places of the index. Without an array
// of rows, places are rows.
func (x *expansion) matched(places *ir.Array) *ir.Array {
	w, rows := x.kernel, x.Array(types.I64)
	if w.Target.GPU {
		w.Call("rf_tile_match_rows", rows.Ptr, w.liveFlags().Ptr, places.Ptr,
			w.Param(abi.IndexRows, x.probe.Index.Name, 0), w.items)
		return rows
	}
	x.eachMatch(places, func(i, _, match value.Value) { w.Set(rows, i, match) })
	return rows
}

// eachMatch emits a loop over a CPU's items, with the place of each in the
// index and the row that stands there.
func (x *expansion) eachMatch(places *ir.Array, body func(i, place, match value.Value)) {
	w, from := x.kernel, x.Param(abi.IndexRows, x.probe.Index.Name, 0)
	word := &llvm.InstPtrToInt{From: from, To: types.I64}
	w.Cur.Insts = append(w.Cur.Insts, word)
	w.Choose(w.Cur.NewICmp(enum.IPredEQ, word, i64(0)), func() {
		w.Loop(w.tile.count, func(i value.Value) {
			place := w.Get(places, i)
			body(i, place, place)
		})
	}, func() {
		w.Loop(w.tile.count, func(i value.Value) {
			place := w.Get(places, i)
			body(i, place,
				w.Cur.NewZExt(w.Load(types.I32, w.At(types.I32, from, place)), types.I64))
		})
	})
}

// shared is a register whose items all threads can read, in the order of rows.
type shared struct {
	reg     *harmony.Reg // nil: the begins of matches, or the source's rows
	from    *ir.Stored
	words   value.Value
	high    value.Value // or null
	present value.Value
}

// share returns the address of an array's items in the order of the tile's
// rows. A CPU's are in that order.
func (w *kernel) share(a *ir.Array) value.Value {
	if !w.Target.GPU {
		return a.Ptr
	}
	to := w.Shared.More(8 * w.Target.Threads * w.Target.Items)
	w.Call("rf_tile_share", to, a.Ptr, i32(w.Target.Threads), i32(w.Target.Items))
	return to
}

// shareFlags is share for bytes, which then are words.
func (w *kernel) shareFlags(a *ir.Array) value.Value {
	if !w.Target.GPU {
		return a.Ptr
	}
	words := w.Array(types.I64)
	w.eachItem(func(i value.Value) { w.Set(words, i, w.Cur.NewZExt(w.Get(a, i), types.I64)) })
	return w.share(words)
}

// item reads what the row that an item comes from has at p.
func (x *expansion) item(t *types.IntType, p value.Value, row *ir.Array,
	i value.Value) value.Value {
	return x.Load(t, x.At(t, p, x.Cur.NewZExt(x.Get(row, i), types.I64)))
}

// sourceRow returns the source's row of an item of a round.
func (x *expansion) sourceRow(row *ir.Array, i value.Value) value.Value {
	if x.source != nil {
		return x.item(types.I64, x.source, row, i)
	}
	return x.Cur.NewAdd(x.start, x.Cur.NewZExt(x.Get(row, i), types.I64))
}

// carry gives the items of a round the registers of the rows that they come
// from.
func (x *expansion) carry(row *ir.Array) {
	w := x.kernel
	regs := map[*harmony.Reg]*ir.Stored{}
	for _, s := range x.regs {
		to := &ir.Stored{Type: s.from.Type, Words: w.Array(types.I64), Lo: s.from.Lo, Hi: s.from.Hi,
			Bounded: s.from.Bounded}
		if s.high != nil {
			to.High = w.Array(types.I64)
		}
		if s.present != nil {
			to.Present = w.Array(types.I8)
		}
		regs[s.reg] = to
	}
	var source *ir.Array
	if w.work.LastLoad > x.stage {
		source = w.Array(types.I64)
	}
	w.Loop(w.tile.count, func(i value.Value) {
		word := func(p value.Value) value.Value { return x.item(types.I64, p, row, i) }
		if source != nil {
			w.Set(source, i, x.sourceRow(row, i))
		}
		for _, s := range x.regs {
			to := regs[s.reg]
			w.Set(to.Words, i, word(s.words))
			if s.high != nil {
				w.Set(to.High, i, word(s.high))
			}
			switch {
			case s.present == nil:
			case w.Target.GPU:
				w.Set(to.Present, i, w.Cur.NewTrunc(word(s.present), types.I8))
			default:
				w.Set(to.Present, i, x.item(types.I8, s.present, row, i))
			}
		}
	})
	w.source, w.tile.regs = source, regs
}
