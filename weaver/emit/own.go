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
	"github.com/redfoxdb/redfox/weaver/target"
)

// A GPU's block keeps groups of its own: without a key in registers, else in a table
// in shared memory (primitives/src/own.h). What finds no place there goes to the
// table of all blocks. Each block adds what it has kept when it leaves.

const (
	// ownMemory is what the tables of a block's own groups may take of its shared
	// memory: four or five such blocks are enough to keep the memory busy.
	ownMemory = 46 << 10
	// mostOwnBits says how many places are enough: a few thousand groups are many
	// enough for atomics of all blocks on their cells not to wait for each other.
	mostOwnBits = 11
	// slotBits says how many slots of a hash table there are for a place. With four, a
	// warp finds nearly all keys at once.
	slotBits = 2
	// leastOwnBits are the fewest places that are worth a look.
	leastOwnBits = 5
	// copyBits are spare places of groups with numbers, for the lanes of a warp.
	copyBits = 5
	// copyMemory is what a table with spare places may take: it leaves room for as many
	// blocks as there are registers for.
	copyMemory = 26 << 10
)

const (
	// queuedMemory is what the tables may take behind a queue, which few rows come to: the
	// rest of the memory caches what is looked up ahead of it.
	queuedMemory = 12 << 10
	// queuedShare is the share of a source's rows up to which those behind a queue are
	// added to the groups of all blocks, if their own would have to be searched.
	queuedShare = 0.02
)

// spillsGroups reports whether a GPU's block may meet groups that it has no place for.
func (w *kernel) spillsGroups() bool {
	for _, s := range w.k.Sinks {
		if s, ok := s.(*harmony.Group); ok && w.searchesGroup(s) {
			return true
		}
	}
	return false
}

// searchesGroup reports whether a GPU's block has to search for a row's group.
func (w *kernel) searchesGroup(s *harmony.Group) bool {
	k := &keys{kernel: w, kinds: groupKey, name: s.To.Name, words: make([]*array, len(s.Key))}
	most, ok := k.numbers()
	return len(s.Key) > 0 && !w.isOrdered(s.To) && (!ok || most > mostOwnBits) && !w.large
}

// groupOnGPU adds the live rows to groups.
func (w *kernel) groupOnGPU(s *harmony.Group) error {
	accs := make([]*accumulator, len(s.To.Accs))
	words := make([]*array, len(accs))
	for i, a := range s.To.Accs {
		accs[i] = &accumulator{kernel: w, groups: s.To, index: i, acc: a, size: i64(0)}
		if a.Fn == queryplan.Count {
			continue
		}
		d := w.module.opts.Domains.Sink(s, len(s.Key)+i)
		words[i] = w.operandArrays(s.Vals[i], d).words
		switch {
		case a.Fn != queryplan.Min && a.Fn != queryplan.Max:
		case d != nil && d.Grows:
			return accs[i].extremeOfStrings(words[i], d)
		default:
			words[i] = accs[i].ordered(words[i])
		}
	}
	if len(s.Key) == 0 {
		w.groupAll(s, accs, words)
		return nil
	}
	k := &keys{kernel: w, kinds: groupKey, name: s.To.Name, words: make([]*array, len(s.Key))}
	if most, ok := k.numbers(); ok && most == 0 {
		// All rows whose keys fit have the same one.
		w.groupKey(s)
		w.groupAll(s, accs, words)
		return nil
	}
	if !w.groupPrivately(s, accs, words) {
		w.groupByKey(s, accs, words)
	}
	return nil
}

// groupByKey adds the live rows to a block's own groups, and those that find no place
// to the groups of all blocks.
func (w *kernel) groupByKey(s *harmony.Group, accs []*accumulator, words []*array) {
	g := s.To
	k, key := w.groupKey(s)
	live := w.liveFlags()
	// Rows of enter have groups that all blocks are to have, those of rest are added to
	// these.
	toAll := func(enter, rest *array) {
		slots, occupied := key, w.param(abi.GroupOccupied, g.Name, 0)
		if form, ok := k.tableForm().(*constant.Int); !ok || abi.Form(form.X.Int64()) == abi.Hash {
			slots = w.array(types.I64)
			w.call("rf_tile_group_slots", slots.ptr, enter.ptr, key.ptr, k.tableForm(), w.param(abi.GroupTable, g.Name, 0),
				w.param(abi.GroupSize, g.Name, 0), w.param(abi.Gauge, g.Name, 0), occupied, i32(1), w.items)
		} else if at := slices.IndexFunc(accs, (*accumulator).canMark); at >= 0 {
			accs[at].marks = true
		} else {
			w.call("rf_tile_cells_mark", occupied, slots.ptr, rest.ptr, w.items)
		}
		for i, a := range accs {
			a.slots, a.live = slots, rest
			a.add(words[i])
		}
	}
	o := w.newOwn(s, k, accs)
	if o == nil {
		toAll(live, live)
		return
	}
	places := w.array(types.I32)
	numbered := func(marks value.Value) {
		live, key := o.share(live, key)
		w.call("rf_own_numbered", places.ptr, live.ptr, key.ptr, marks, o.copies, w.items)
	}
	if o.fits {
		marks := o.words
		if o.witness != nil {
			marks = null
		}
		numbered(marks)
		o.add(places, words)
		return
	}
	rest, enter := w.array(types.I8), w.array(types.I8)
	misses, some := w.variable(types.I32, i32(0)), w.variable(types.I32, i32(0))
	w.store(i32(0), some)
	searched := func() {
		w.store(w.call("rf_own_places", places.ptr, rest.ptr, enter.ptr, live.ptr, key.ptr, o.words, i32(o.bits), i32(o.slotBits), misses, w.items), some)
	}
	if form, ok := k.tableForm().(*constant.Int); ok && abi.Form(form.X.Int64()) == abi.Hash {
		searched()
	} else {
		w.choose(w.Cur.NewICmp(enum.IPredSGE, o.copies, i32(0)), func() { numbered(o.words) }, searched)
	}
	o.add(places, words)
	w.when(w.Cur.NewICmp(enum.IPredNE, w.load(types.I32, some), i32(0)), func() { toAll(enter, rest) })
}

// own is a block's own table of groups.
type own struct {
	*kernel
	accs []*accumulator
	bits int // of places
	// slotBits are those of the table's words: more where keys are searched.
	slotBits int
	// places is how many there are, and slots how many words the table has for them, 0 if
	// groups are told by their places.
	places, slots int
	// begin is where the table is, words its words, null if there are none, and copies what
	// rf_own_copies says.
	begin, words, copies value.Value
	// first is the group with which the block's share begins; see share.
	first   value.Value
	fits    bool // whether every group has a place
	sink    *harmony.Group
	cells   []ownCells
	count   part  // the rows of a place, if an accumulator asks for them
	digits  []int // that sums of the accumulators would have
	witness *part // digits that are not all 0 if a place has had a row; nil: none are known
	size    int   // bytes
}

// part is a part of the table: digits of 32 bits, or words if there are none. None at
// all begins at 0, where the table's own words are.
type part struct{ at, digits int }

// ownCells are the cells of an accumulator in the table. Accumulators of the same operand share
// those of its sum.
type ownCells struct {
	part
	like int // the accumulator whose cells they are
}

// ownDigits is how many digits a sum of an operand has that a block keeps for itself.
// Blocks add less than 2^32 rows, unless expansions make them.
func (w *kernel) ownDigits(o harmony.Operand) int {
	switch {
	case w.entry.Expansions > 0:
		return 4
	case w.sumFits(o, rowsAtMost):
		return 2
	}
	return 3
}

// countDigits is how many a number of rows has.
func (w *kernel) countDigits() int {
	if w.entry.Expansions > 0 {
		return 2
	}
	return 1
}

// rowsAtMost bounds the rows of a source: they are numbered in 32 bits.
const rowsAtMost = 1 << 32

// newOwn makes room for a table, and says what the block does with it before and
// after all tiles. It returns nil if there is no room for a useful one.
func (w *kernel) newOwn(s *harmony.Group, k *keys, accs []*accumulator) *own {
	g := s.To
	tables := 0
	for _, s := range w.k.Sinks {
		if s, ok := s.(*harmony.Group); ok && len(s.Key) > 0 {
			tables++
		}
	}
	room := min(ownMemory/tables, target.StaticShared-w.shared.size-scratchReserve)
	if w.cut > 0 {
		room = min(room, queuedMemory)
	}
	o := &own{kernel: w, accs: accs, sink: s}
	for _, v := range s.Vals {
		o.digits = append(o.digits, w.ownDigits(v))
	}
	memory := &w.shared
	most, numbered := k.numbers()
	switch {
	case numbered && o.layOut(min(most+copyBits, mostOwnBits), 0, min(room, copyMemory)) && most <= o.bits,
		numbered && most <= mostOwnBits && o.layOut(most, 0, room) && most == o.bits:
		o.fits = true
	case numbered && o.layLarge():
		memory = &w.dynamic
	case w.cut > 0 && w.left < queuedShare, !o.layOut(mostOwnBits-1, slotBits, room):
		return nil
	}
	w.inPrologue(func() {
		o.begin = memory.more(o.size)
		w.call("rf_block_clear", o.begin, i64(int64(o.size/8)), i64(0), i32(w.target.Threads))
		o.words, o.copies = null, i32(0)
		if n := w.entry.Sharing; n > 0 {
			member := w.Cur.NewURem(w.block(), i64(int64(n)))
			o.first = w.Cur.NewMul(member, i64(int64(o.places)))
		}
		if o.slots > 0 {
			o.words = o.begin
			o.copies = w.call("rf_own_copies", k.tableForm(), w.param(abi.GroupSize, g.Name, 0), i32(o.bits))
		}
	})
	w.flushes = append(w.flushes, func() { o.flush(g, k) })
	return o
}

// layOut places the parts of a table one behind the other, with as many places as
// there is room for, up to a number. It reports whether they are enough to be useful.
func (o *own) layOut(bits, slots, room int) bool {
	for ; bits >= leastOwnBits; bits-- {
		o.bits, o.slotBits = bits, bits+slots
		o.places, o.slots = 1<<o.bits, 1<<o.slotBits
		if o.place(); o.size <= room {
			return true
		}
	}
	return false
}

// place lays out the parts behind the table's words.
func (o *own) place() {
	places := o.places
	o.size, o.cells, o.count, o.witness = 0, make([]ownCells, len(o.accs)), part{}, nil
	take := func(bytes int) int {
		at := o.size
		o.size += (bytes + 15) / 16 * 16
		return at
	}
	if o.slots > 0 {
		take(8 * (o.slots + 1))
	}
	for i, a := range o.accs {
		c := &o.cells[i]
		if c.like = i; a.acc.Fn.IsTotal() {
			c.like = sameSum(o.sink, i)
		}
		switch {
		case a.acc.Fn == queryplan.Count, a.shares():
		case c.like < i:
			c.part = o.cells[c.like].part
		case a.acc.Fn == queryplan.Min, a.acc.Fn == queryplan.Max:
			c.at = take(8 * places)
		case a.acc.In.Kind == scalar.Float:
			c.at = take(8 * abi.FloatSumWords * places)
		default:
			c.digits = o.digits[i]
			c.at = take(4 * c.digits * places)
			if o.witness == nil && o.isPositive(o.sink.Vals[i]) {
				o.witness = &c.part
			}
		}
		if a.counts() && o.count.digits == 0 {
			o.count.digits = o.countDigits()
			o.count.at = take(4 * o.count.digits * places)
			o.witness = &o.count
		}
	}
}

// isPositive reports whether an operand is above 0, so that a sum of at least one, of
// digits that hold it, is not 0.
func (w *kernel) isPositive(o harmony.Operand) bool {
	lo, _, ok := w.boundsOf(o)
	return ok && lo > 0
}

// part returns the address of a part of the table.
func (o *own) part(at int) value.Value { return o.at(types.I8, o.begin, i64(int64(at))) }

// add adds the rows that have places. Words are those of the accumulators.
func (o *own) add(places *array, words []*array) {
	all := i32(o.places)
	if o.count.digits > 0 {
		o.call("rf_own_count", o.part(o.count.at), all, i32(o.count.digits), places.ptr, o.items)
	}
	var slots, placed *array // places as what all blocks have, where floats ask for it
	for i, a := range o.accs {
		c := o.cells[i]
		switch {
		case a.acc.Fn == queryplan.Count, a.shares(), c.like < i:
		case a.acc.Fn == queryplan.Min, a.acc.Fn == queryplan.Max:
			o.call("rf_own_extreme", o.part(c.at), places.ptr, words[i].ptr, a.least(), o.items)
		case a.acc.In.Kind == scalar.Float:
			if slots == nil {
				slots, placed = o.array(types.I64), o.array(types.I8)
				o.eachItem(func(i value.Value) {
					place := o.get(places, i)
					o.set(slots, i, o.Cur.NewSExt(place, types.I64))
					o.setFlag(placed, i, o.Cur.NewICmp(enum.IPredSGE, place, i32(0)))
				})
			}
			o.call("rf_tile_cells_float", o.part(c.at), i32(abi.FloatSumWords), slots.ptr, words[i].ptr, placed.ptr, i32(1), o.items)
		default:
			o.call("rf_own_add", o.part(c.at), all, i32(c.digits), places.ptr, words[i].ptr, a.unsigned(), o.items)
		}
	}
}

// flush adds what the table has to the cells of all blocks.
func (o *own) flush(g *harmony.Groups, k *keys) {
	all, slots, threads := i32(o.places), i32(cmp.Or(o.slots, o.places)), i32(o.target.Threads)
	witness, digits := value.Value(null), 0
	if o.fits && o.witness != nil {
		witness, digits = o.part(o.witness.at), o.witness.digits
	}
	o.call("rf_own_settle", o.words, slots, o.copies, k.tableForm(), o.param(abi.GroupTable, g.Name, 0),
		o.param(abi.GroupSize, g.Name, 0), o.shareOf(o.param(abi.GroupOccupied, g.Name, 0), 1), witness, i32(digits), threads)
	cells := func(a *accumulator, word int) value.Value { return o.shareOf(a.cells(word), a.stride()) }
	sums := func(a *accumulator, word int, p part, unsigned value.Value, countOnly int) {
		o.call("rf_own_pass_sums", cells(a, word), i32(a.stride()), o.part(p.at), all, i32(p.digits), unsigned, i32(countOnly),
			o.words, slots, o.copies, threads)
	}
	for i, a := range o.accs {
		c := o.cells[i]
		switch {
		case a.acc.Fn == queryplan.Count, a.shares():
		case a.acc.Fn == queryplan.Min, a.acc.Fn == queryplan.Max:
			o.call("rf_own_pass_extremes", cells(a, 0), o.part(c.at), a.least(), o.words, slots, o.copies, threads)
		case a.acc.In.Kind == scalar.Float:
			o.call("rf_own_pass_words", cells(a, 0), i32(a.stride()), o.part(c.at), i32(abi.FloatSumWords), o.words, slots, o.copies, threads)
		default:
			sums(a, 0, c.part, a.unsigned(), 0)
		}
		if a.counts() {
			sums(a, a.stride()-1, o.count, i32(1), 1)
		}
	}
}

// groupAll adds the live rows to the one group there is: in registers, but sums of
// floats in shared memory.
func (w *kernel) groupAll(s *harmony.Group, accs []*accumulator, words []*array) {
	live := w.liveFlags()
	rows := w.variable(types.I64, i64(0))
	parts := make([][]value.Value, len(accs)) // variables
	kept := make([]value.Value, len(accs))    // sums of floats
	for i, a := range accs {
		switch {
		case a.acc.Fn == queryplan.Count, a.shares():
		case a.acc.Fn == queryplan.Min, a.acc.Fn == queryplan.Max:
			parts[i] = []value.Value{w.variable(types.I64, i64(abi.CellOf(a.acc.Fn, a.acc.In).Initial))}
		case a.acc.In.Kind == scalar.Float:
			const size = 8 * abi.FloatSumWords
			w.inPrologue(func() {
				kept[i] = w.shared.more(size)
				w.call("rf_block_clear", kept[i], i64(abi.FloatSumWords), i64(0), i32(w.target.Threads))
			})
		default:
			parts[i] = []value.Value{w.variable(types.I64, i64(0))}
			if !w.sumFits(s.Vals[i], mostThreadRows) {
				parts[i] = append(parts[i], w.variable(types.I64, i64(0)))
			}
		}
	}
	grow := func(p, v value.Value) { w.store(w.Cur.NewAdd(w.load(types.I64, p), v), p) }
	tile := w.variable(types.I32, i32(0)) // the rows of the tile at hand
	w.store(i32(0), tile)
	w.eachItem(func(i value.Value) {
		in := w.flag(live, i)
		w.store(w.Cur.NewAdd(w.load(types.I32, tile), w.Cur.NewZExt(in, types.I32)), tile)
		for k, a := range accs {
			p := parts[k]
			if p == nil {
				continue
			}
			word := w.get(words[k], i)
			switch {
			case a.acc.Fn == queryplan.Min, a.acc.Fn == queryplan.Max:
				before := w.load(types.I64, p[0])
				better := w.Cur.NewAnd(in, w.Cur.NewICmp(a.beats(), word, before))
				w.store(w.Cur.NewSelect(better, word, before), p[0])
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
	grow(rows, w.Cur.NewZExt(w.load(types.I32, tile), types.I64))
	for i := range accs {
		if kept[i] != nil {
			slots := w.array(types.I64)
			w.eachItem(func(i value.Value) { w.set(slots, i, i64(0)) })
			w.call("rf_tile_cells_float", kept[i], i32(abi.FloatSumWords), slots.ptr, words[i].ptr, live.ptr, i32(1), w.items)
		}
	}
	w.flushes = append(w.flushes, func() { w.flushAll(s, accs, rows, parts, kept) })
}

// mostThreadRows bounds the rows that one thread adds up.
const mostThreadRows = 1 << 31

// flushAll adds up what the threads have, and adds it to the cells.
func (w *kernel) flushAll(s *harmony.Group, accs []*accumulator, rows value.Value, parts [][]value.Value, kept []value.Value) {
	threads := i32(w.target.Threads)
	reduce := func(name string, p value.Value) value.Value {
		return w.call(name, w.load(types.I64, p), w.scratchOf(name), threads)
	}
	thread := w.intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", types.I32)
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
			sum := w.Cur.NewAdd(w.Cur.NewZExt(w.load(types.I64, p[0]), types.I128),
				w.Cur.NewShl(w.Cur.NewSExt(w.load(types.I64, p[1]), types.I128), intOf(types.I128, 32)))
			lo, hi := w.variable(types.I64, i64(0)), w.variable(types.I64, i64(0))
			w.store(w.Cur.NewTrunc(sum, types.I64), lo)
			w.store(w.Cur.NewTrunc(w.Cur.NewLShr(sum, intOf(types.I128, 64)), types.I64), hi)
			w.call("rf_block_sum_i128", lo, hi, w.scratchOf("rf_block_sum_i128"), threads)
			total, high = w.load(types.I64, lo), w.load(types.I64, hi)
		}
		w.when(w.Cur.NewAnd(first, some), func() {
			switch {
			case total == nil:
			case a.acc.Fn == queryplan.Min:
				w.call("rf_cell_min", a.cells(0), total, i32(1))
			case a.acc.Fn == queryplan.Max:
				w.call("rf_cell_max", a.cells(0), total, i32(1))
			default:
				w.call("rf_cell_add_i128", a.cells(0), total, high, i32(1))
			}
			if a.counts() {
				w.call("rf_cell_add", a.cells(a.stride()-1), count, i32(1))
			}
			if i == 0 {
				w.store(i64(1), w.param(abi.GroupOccupied, s.To.Name, 0))
			}
		})
		if kept[i] != nil {
			w.call("rf_block_add_words", a.cells(0), kept[i], i32(abi.FloatSumWords), threads)
		}
	}
}

// counts reports whether the accumulator has a number of rows, as its last word.
func (a *accumulator) counts() bool {
	return a.acc.Fn == queryplan.Count || a.acc.Fn == queryplan.Avg && !a.shares()
}

// least says as a number whether the accumulator is a least value.
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

// unsigned says as a number whether the words are unsigned.
func (a *accumulator) unsigned() value.Value {
	if a.acc.In.Kind == scalar.Uint {
		return i32(1)
	}
	return i32(0)
}

// numbers returns of how many bits packed keys of form Direct are, if that is known.
func (k *keys) numbers() (int, bool) {
	if form, known := k.fixed(k.kinds.form, k.name, 0); !known || abi.Form(form) != abi.Direct {
		return 0, false
	}
	return k.packedBits()
}

// packedBits returns of how many bits packed keys are, if that is known.
func (k *keys) packedBits() (int, bool) {
	most := 0
	for c := range k.words {
		shift, known := k.fixed(k.kinds.shift, k.name, c)
		bits, also := k.fixed(k.kinds.bits, k.name, c)
		if !known || !also {
			return 0, false
		}
		most = max(most, int(shift+bits))
	}
	return most, true
}
