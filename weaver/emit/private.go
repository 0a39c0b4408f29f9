package emit

import (
	"slices"

	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Of few groups each thread of a GPU's block has cells of its own, in shared memory
// (primitives/src/private.h): to add a row takes no atomics, which would come one for
// each accumulator and, where sums are long, digit.

const (
	// enoughThreads keep a multiprocessor's memory busy with what they load, and
	// enoughProbing with what they wait for at random places.
	enoughThreads, enoughProbing = 512, 1536
	// blockShared is the shared memory that a block takes beside its own.
	blockShared = 1 << 10
	// mostPrivate groups are looked at.
	mostPrivate = 64
)

// field is what an accumulator has of a cell of 64 bits.
type field struct {
	cell int
	part int // as primitives/src/private.h numbers them
}

const (
	wholeCell = iota
	lowHalf
	highHalf
)

// privateCells are the cells that each thread has of each group.
type privateCells struct {
	accs    []field // of each accumulator that is not a count; those of the same operand share one
	rows    field   // the number of a group's rows, if counted
	counted bool
	witness field // not 0 once a group has had a row
	cells   int
	groups  int
}

// stride is how many words there are from place to place.
func (p *privateCells) stride(threads int) int { return p.cells * threads }

// bytes is what all cells of a thread take. Rows that are not live have a place behind
// those of the groups.
func (p *privateCells) bytes() int { return 8 * p.cells * (p.groups + 1) }

// layPrivate lays out the cells for a sink in blocks of so many threads; nil if there
// may be too many groups or a sum does not fit its cell.
//
// A thread gets every so many rows of a source and no more of a tile than its items, so
// that it adds up the rows there are by the number of threads, unless an expansion
// makes rows.
func (w *kernel) layPrivate(s *harmony.Group, threads int) *privateCells {
	if !w.target.GPU || len(s.Key) == 0 || slices.ContainsFunc(w.k.Stages, isExpansion) {
		return nil
	}
	k := &keys{kernel: w, kinds: groupKey, name: s.To.Name, words: make([]*array, len(s.Key))}
	size, known := w.fixed(abi.GroupSize, s.To.Name, 0)
	if most, ok := k.numbers(); !ok || most == 0 || !known || size <= 0 || size > mostPrivate {
		return nil
	}
	p := &privateCells{accs: make([]field, len(s.To.Accs)), groups: int(size)}
	var narrow []*field
	var positive *field
	rows := rowsAtMost / threads
	for i, a := range s.To.Accs {
		if a.Shares > 0 {
			continue
		}
		o := s.Vals[i]
		p.counted = p.counted || a.Fn == queryplan.Count || a.Fn == queryplan.Avg
		switch {
		case a.Fn == queryplan.Count:
			continue
		case a.In.Kind == scalar.Float:
			return nil
		case a.Fn.IsTotal():
			if !w.sumFits(o, rows) {
				return nil
			}
			if sameSum(s, i) < i {
				continue
			}
			lo, hi, _ := w.boundsOf(o)
			if lo >= 0 && hi < int64(threads) {
				// Rows times that is less than 2^32.
				narrow = append(narrow, &p.accs[i])
				continue
			}
			if positive == nil && lo > 0 {
				positive = &p.accs[i]
			}
		}
		p.accs[i].cell = p.cells
		p.cells++
	}
	if positive == nil || p.counted {
		p.counted, positive = true, &p.rows
		narrow = append(narrow, &p.rows)
	}
	for i, f := range narrow {
		f.cell, f.part = p.cells+i/2, lowHalf+i%2
	}
	p.cells += (len(narrow) + 1) / 2
	p.witness = *positive
	for i := range p.accs {
		if s.To.Accs[i].Fn.IsTotal() {
			p.accs[i] = p.accs[sameSum(s, i)]
		}
	}
	return p
}

// choosePrivate decides whether each thread has cells of its own for the groups that a
// kernel adds to; nil if not. Few rows come through a queue: for those the memory does more
// as a cache.
func (w *kernel) choosePrivate(s *harmony.Group) *privateCells {
	if len(w.k.Sinks) != 1 || w.cut > 0 {
		return nil
	}
	enough := enoughThreads
	if w.probes() {
		enough = enoughProbing
	}
	threads := w.target.Threads
	p := w.layPrivate(s, threads)
	if p == nil || w.target.MostShared()/(p.bytes()*threads+scratchReserve+blockShared)*threads < enough {
		return nil
	}
	return p
}

// probes reports whether rows are looked up.
func (w *kernel) probes() bool {
	return slices.ContainsFunc(w.k.Stages, func(s harmony.Stage) bool { _, ok := s.(*harmony.Probe); return ok })
}

// groupPrivately adds the live rows to the threads' own cells. It reports whether it
// does: there may be no room.
func (w *kernel) groupPrivately(s *harmony.Group, accs []*accumulator, words []*array) bool {
	p, threads := w.choosePrivate(s), w.target.Threads
	if p == nil || p.bytes()*threads > w.sharedRoom() {
		return false
	}
	size := p.bytes() * threads
	var kept, own value.Value // the block's words, and where the thread's begin
	w.inPrologue(func() {
		kept = w.dynamic.more(size)
		w.call("rf_block_clear", kept, i64(int64(size/8)), i64(0), i32(threads))
		thread := w.intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", types.I32)
		own = w.at(types.I64, kept, w.Cur.NewZExt(thread, types.I64))
	})
	_, key := w.groupKey(s)
	live := w.liveFlags()
	add := func() {
		w.eachItem(func(i value.Value) {
			in := w.flag(live, i)
			place := w.Cur.NewSelect(in, w.get(key, i), i64(int64(p.groups)))
			at := w.at(types.I64, own, w.Cur.NewMul(place, i64(int64(p.stride(threads)))))
			w.addPrivately(p, s, accs, at, func(k int) value.Value { return w.get(words[k], i) })
		})
	}
	if w.probes() {
		// Often no row of a warp is left. Behind filters alone a branch would keep the
		// loads from being begun together.
		any := value.Value(i8(0))
		for i := range w.target.Items {
			any = w.Cur.NewOr(any, w.get(live, i64(int64(i))))
		}
		w.when(w.Cur.NewICmp(enum.IPredNE, any, i8(0)), add)
	} else {
		add()
	}
	w.flushes = append(w.flushes, func() { w.flushPrivate(p, s, accs, kept) })
	return true
}

// addPrivately adds a row to the thread's cells at a place, whose first is at an address.
// All are read before the first is written: they are not waited for one by one.
func (w *kernel) addPrivately(p *privateCells, s *harmony.Group, accs []*accumulator, at value.Value, word func(int) value.Value) {
	cells, terms := make([]value.Value, p.cells), make([]value.Value, p.cells)
	addresses := make([]value.Value, p.cells)
	for c := range cells {
		addresses[c] = w.at(types.I64, at, i64(int64(c*w.target.Threads)))
		cells[c] = w.load(types.I64, addresses[c])
	}
	term := func(f field, v value.Value) {
		if f.part == highHalf {
			v = w.Cur.NewShl(v, i64(32))
		}
		if terms[f.cell] != nil {
			v = w.Cur.NewOr(terms[f.cell], v)
		}
		terms[f.cell] = v
	}
	for i, a := range accs {
		f := p.accs[i]
		switch {
		case a.acc.Fn == queryplan.Count, a.shares():
		case !a.acc.Fn.IsTotal():
			flipped := w.call("rf_private_extreme_word", word(i), a.least())
			cells[f.cell] = w.Cur.NewSelect(w.Cur.NewICmp(enum.IPredUGT, flipped, cells[f.cell]), flipped, cells[f.cell])
		case sameSum(s, i) == i:
			term(f, word(i))
		}
	}
	if p.counted {
		term(p.rows, i64(1))
	}
	for c, cell := range cells {
		if terms[c] != nil {
			cell = w.Cur.NewAdd(cell, terms[c])
		}
		w.store(cell, addresses[c])
	}
}

// flushPrivate adds what the threads have to the cells of all blocks.
func (w *kernel) flushPrivate(p *privateCells, s *harmony.Group, accs []*accumulator, kept value.Value) {
	threads := w.target.Threads
	groups, stride := i32(p.groups), i32(p.stride(threads))
	part := func(f field) value.Value { return w.at(types.I64, kept, i64(int64(f.cell*threads))) }
	mask := map[int]int64{wholeCell: -1, lowHalf: 1<<32 - 1, highHalf: -1 << 32}[p.witness.part]
	w.call("rf_private_settle", part(p.witness), i64(mask), groups, stride, w.param(abi.GroupOccupied, s.To.Name, 0), i32(threads))
	sums := func(a *accumulator, word int, f field, countOnly int) {
		w.call("rf_private_pass_sums", a.cells(word), i32(a.stride()), part(f), i32(f.part), groups, stride, i32(countOnly), i32(threads))
	}
	for i, a := range accs {
		switch f := p.accs[i]; {
		case a.acc.Fn == queryplan.Count, a.shares():
		case a.acc.Fn.IsTotal():
			sums(a, 0, f, 0)
		default:
			w.call("rf_private_pass_extremes", a.cells(0), part(f), groups, stride, a.least(), i32(threads))
		}
		if a.counts() {
			sums(a, a.stride()-1, p.rows, 1)
		}
	}
}

// sameSum returns the first accumulator that adds up the operand of accumulator i, which
// may be itself.
func sameSum(s *harmony.Group, i int) int {
	for k, a := range s.To.Accs[:i] {
		if a.Fn.IsTotal() && a.Shares == 0 && s.Vals[i].Reg != nil && s.Vals[k].Reg == s.Vals[i].Reg {
			return k
		}
	}
	return i
}
