package emit

import (
	"fmt"
	"slices"

	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/primitives"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/weaver/fuse"
	"github.com/redfoxdb/redfox/weaver/target"
)

// mostStack bounds the arrays of a CPU's function, which stand on the stack of
// whichever thread calls it.
const mostStack = 2 << 20

// fewItems is the most rows a thread where more would cost more time to compile than
// they save: where nothing is known of the facts, as code for every width of every
// column and every form of every table is long, and unrolling makes it so many times
// longer; in the builds of indexes, which wait for atomics; over groups, whose
// results take long code and which are seldom many; into groups that may not all
// find a place in a block's shared memory; where tuples are long; and where a hash table
// is searched, for which more warps do as well as more rows a thread. Kernels that
// expand rows have as few, and few registers: they wait for random places of memory, and
// want many threads to do so (bench/history.md).
const fewItems = 4

// fewRegisters is the most registers of a thread with which a multiprocessor runs
// 1,024 threads. A kernel that is not lean would spill.
const fewRegisters = 64

// isLean reports whether a kernel does no more for a row than to find its matches and
// insert what it makes of them, as the rules of closures do.
func isLean(k *harmony.Kernel) bool {
	probes, reads := 0, 0
	for _, s := range k.Stages {
		switch s.(type) {
		case *harmony.Probe:
			probes++
		case *harmony.Load, *harmony.Gather:
			reads++
		}
	}
	return probes == 1 && reads <= 3 && len(k.Sinks) == 1
}

// isLeanGroup reports whether a kernel adds words to few groups' cells that it finds
// without a search. Sums of 128 bits and searches take more registers than a thread of
// so many has.
func (w *kernel) isLeanGroup() bool {
	s, ok := w.k.Sinks[0].(*harmony.Group)
	if !ok || len(w.k.Sinks) > 1 || len(s.To.Accs) > 2 || len(w.k.Stages) > 4 {
		return false
	}
	form, known := w.fixed(abi.GroupForm, s.To.Name, 0)
	return known && abi.Form(form) < abi.Hash && !slices.ContainsFunc(s.To.Accs, func(a harmony.Acc) bool {
		return a.Fn != queryplan.Count && a.Fn != queryplan.Min && a.Fn != queryplan.Max
	})
}

// groupParts is how many parts a tile has that is grouped by a key.
const groupParts = 4

// kernel is a kernel's function in the making.
type kernel struct {
	*function
	*tile
	k      *harmony.Kernel
	stages []harmony.Stage // in the order of work
	// last has the last stage that reads a register; that of sinks is len(stages).
	last     map[*harmony.Reg]int
	lastLoad int            // the last stage that loads from the source
	kept     []*harmony.Reg // those that are read behind all stages
	// large says that the block has a place for each of many groups, and largeThreads how
	// many threads it should have for that; see own.layLarge.
	large        bool
	largeThreads int
	// cut is the stage that has a queue before it, 0 if there is none; see queue.
	cut int
	// left is the share of the source's rows that is expected to come to the sinks.
	left float64

	number    value.Value   // of the tile at hand
	parts     int           // of a tile, one after the other
	positions []value.Value // variables, one for each expansion: the first output of its round
	// firstOutput and outputStep are where the first expansion begins in a tile, and
	// how far it is from round to round.
	firstOutput, outputStep value.Value
	depth                   int       // of expansions around the place at hand
	next                    *ir.Block // where a tile or round goes on when no row is left
	stop                    *ir.Block // leaves the function, to be called again
	stops                   bool      // whether something goes there
	fetched                 bool      // whether the tile's first loads and the gauges are done with
	// end emits what becomes of the rows that are left, and gauges has the gauges
	// that make room for it.
	end    func() error
	gauges []gauge
	// prologue ends before the first tile, and flushes are what a GPU's block does when
	// it leaves.
	prologue *ir.Block
	flushes  []func()
	// dropped is a variable with the decimals that the thread has dropped and that
	// are not counted yet, nil if there are none.
	dropped value.Value
}

// kernel emits a kernel. On a GPU it takes the tile as large as the estimate of
// package fuse and the shared memory allow.
func (m *module) kernel(k *harmony.Kernel) error {
	err := m.emitEntry(abi.Entry{Symbol: symbol("", k.Name), Role: abi.Kernel, Of: k.Name}, k, func(w *kernel) {
		w.end = w.sinks
		for _, s := range k.Sinks {
			for _, o := range harmony.SinkOperands(s) {
				w.keep(o.Reg)
			}
			g := gauge{Param: abi.Param{Kind: abi.Gauge, Var: harmony.SinkTarget(s).ManagedName()}}
			// A limit is moved where the run is cancelled. A CPU looks at all gauges, a GPU
			// at those of groups that do not grow only where a tile can take long.
			if s, ok := s.(*harmony.Group); ok && w.target.GPU && !slices.ContainsFunc(k.Stages, isExpansion) {
				if len(s.Key) == 0 {
					continue // the group is there
				}
				g.formed, g.form, g.least = true, abi.GroupForm, abi.Hash
			}
			w.addGauge(g)
		}
	})
	if err != nil {
		return fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	return nil
}

// cut returns the stage before which a kernel has a queue, see chooseCut, the items of a
// thread ahead of it, and the share of the source's rows that is expected to come to the
// kernel's sinks.
func (m *module) cut(entry abi.Entry, k *harmony.Kernel) (at, items int, left float64) {
	if !m.opts.Cut && (!m.opts.Target.GPU || m.opts.Fix == nil) || entry.Role != abi.Kernel {
		return 0, 0, 1 // what is not needed is not asked: code depends on the answers
	}
	w := &kernel{function: m.newFunction(&entry, m.opts.Target), tile: &tile{}, k: k}
	w.schedule()
	for _, s := range k.Sinks {
		for _, o := range harmony.SinkOperands(s) {
			w.keep(o.Reg)
		}
	}
	shares := m.shares(w.stages)
	at, items = w.chooseCut(shares), filteredItems
	if slices.ContainsFunc(w.stages[:at], isRandom) {
		items = probedItems
	}
	return at, items, shares[len(w.stages)]
}

// emitEntry emits a function over the rows of a kernel's source, which go through
// its stages. The setup says what happens to them then. A tile that needs more memory
// than there is gets smaller.
func (m *module) emitEntry(entry abi.Entry, k *harmony.Kernel, setup func(w *kernel)) error {
	to := m.opts.Target
	cut, items, left := m.cut(entry, k)
	switch {
	case cut > 0 && to.GPU:
		to.Items = min(to.Items, items)
	case to.GPU:
		to.Items = min(to.Items, fuse.EstimateOf(k, to.Budget).Items)
		_, ofGroups := k.Source.(*harmony.GroupRows)
		if m.opts.Fix == nil || ofGroups || entry.Role != abi.Kernel || slices.ContainsFunc(k.Stages, isExpansion) {
			to.Items = min(to.Items, fewItems)
		}
	}
	large := false
	for first := true; ; first = false {
		e := entry
		w := &kernel{function: m.newFunction(&e, to), tile: &tile{regs: map[*harmony.Reg]*stored{}}, k: k}
		w.schedule()
		w.cut, w.left, w.large = cut, left, large
		shared := to.MostShared()
		if to.GPU && w.findsRuns() {
			if first && to.Threads < runThreads {
				to.Threads = runThreads
				continue
			}
			w.registers = fewRegisters
			shared = min(shared, runShared)
		}
		if to.GPU && cut == 0 && to.Items > fewItems && (w.spillsGroups() || w.searches() || w.holdsMuch()) {
			to.Items = fewItems
			continue
		}
		w.parts = 1
		if to.GPU && cut == 0 && entry.Role == abi.Kernel && !slices.ContainsFunc(k.Stages, isExpansion) && w.spillsGroups() {
			w.parts = groupParts
			if w.isLeanGroup() {
				w.registers = fewRegisters
			}
		}
		setup(w)
		if err := w.emit(); err != nil {
			return err
		}
		w.finish()
		if w.large && !large {
			// What it is searched with is not needed, and more threads may be.
			large, to.Threads = true, w.largeThreads
			continue
		}
		switch {
		case !to.GPU && w.stack > mostStack && to.Items > 32:
			to.Items /= 2
		case !to.GPU || e.Scratch <= shared && w.scratch.size+w.shared.size <= target.StaticShared:
			m.add(w.function)
			return nil
		case to.Items > abi.Chunk:
			to.Items /= 2
		case to.Threads > 32:
			to.Threads /= 2
		default:
			return &UnsupportedError{
				What: fmt.Sprintf("a block of kernel %s needs %d bytes of shared memory and has %d", k.Name, e.Scratch, shared),
				Span: k.Span,
			}
		}
	}
}

// emit emits the loop over tiles.
func (w *kernel) emit() error {
	for _, s := range w.stages {
		if isExpansion(s) {
			w.entry.Expansions++
		}
	}
	if w.target.GPU && w.entry.Expansions > 0 && w.module.opts.Fix != nil && isLean(w.k) {
		w.registers = fewRegisters
	}
	until, step := w.readState()
	from, end := w.param(abi.RowsFrom, "", 0), w.param(abi.RowsUntil, "", 0)

	head, body, done := w.newBlock("tiles"), w.newBlock("tile"), ir.NewBlock(w.fresh("done"))
	w.next, w.stop = ir.NewBlock(w.fresh("next")), done
	if !w.target.GPU {
		w.stop = ir.NewBlock(w.fresh("stop"))
	}
	w.prologue = w.Cur
	at := head.NewPhi(ir.NewIncoming(w.number, w.Cur))
	w.Cur.NewBr(head)
	exit := done
	var q *queue
	if w.cut > 0 {
		q = w.newQueue()
		exit = q.leave
	}
	more := head.NewICmp(enum.IPredSLT, at, until)
	head.NewCondBr(more, body, exit)
	w.number, w.Cur = at, body
	latch := w.next
	if q != nil {
		if err := q.tiles(from, end, body, latch, done); err != nil {
			return err
		}
	} else if w.parts == 1 {
		w.begin(from, end, at)
		if w.entry.Expansions == 0 && !w.canFetch() {
			w.checkGauges()
		}
		if err := w.rest(0); err != nil {
			return err
		}
		w.Cur.NewBr(latch)
	} else if err := w.eachPart(from, end); err != nil {
		return err
	}

	w.place(latch)
	if q == nil {
		w.countDropped()
	}
	at.Incs = append(at.Incs, ir.NewIncoming(w.Cur.NewAdd(at, step), w.Cur))
	w.Cur.NewBr(head)

	if q != nil {
		w.leave(done, func() value.Value { return w.Cur.NewZExt(more, types.I64) })
		return nil
	}
	w.leave(done, func() value.Value { return i64(0) })
	if w.stops && w.stop != done {
		w.leave(w.stop, func() value.Value { return i64(1) })
	}
	return nil
}

// mostHeld is how many words of the tuples that a kernel makes a thread's registers hold,
// two for each, beside what it needs to make them.
const mostHeld = 56

// holdsMuch reports whether the rows of a thread become tuples of more words than
// its registers hold. What goes to groups is added column by column.
func (w *kernel) holdsMuch() bool {
	words := 0
	for _, s := range w.k.Sinks {
		if _, ok := s.(*harmony.Group); !ok {
			words = max(words, len(harmony.SinkOperands(s)))
		}
	}
	return words*w.target.Items > mostHeld
}

// searches reports whether a stage or a sink may look for keys in a hash table.
func (w *kernel) searches() bool {
	hashed := func(kind abi.Kind, name string) bool {
		form, known := w.fixed(kind, name, 0)
		return !known || abi.Form(form) >= abi.Hash
	}
	for _, s := range w.stages {
		if p, ok := s.(*harmony.Probe); ok && hashed(abi.IndexForm, p.Index.Name) {
			return true
		}
	}
	for _, s := range w.k.Sinks {
		if s, ok := s.(*harmony.Insert); ok && hashed(abi.SetForm, s.To.Name) {
			return true
		}
	}
	return false
}

// eachPart emits a loop over the parts of a tile, and goes on to the end of the tile.
// A block looks at the gauges, and waits for all its threads, once for all parts.
func (w *kernel) eachPart(from, end value.Value) error {
	w.entry.Items *= w.parts
	w.checkGauges()
	after := w.next
	start := w.Cur
	head, body := w.newBlock("parts"), w.newBlock("part")
	first := start.NewMul(w.number, i64(int64(w.parts)))
	until := start.NewAdd(first, i64(int64(w.parts)))
	start.NewBr(head)
	part := head.NewPhi(ir.NewIncoming(first, start))
	w.Cur = head
	size := i64(int64(w.target.Threads * w.target.Items))
	begins := w.Cur.NewAdd(w.firstRow(from), w.Cur.NewMul(part, size))
	left := w.Cur.NewAnd(w.Cur.NewICmp(enum.IPredSLT, part, until), w.Cur.NewICmp(enum.IPredSLT, begins, end))
	w.Cur.NewCondBr(left, body, after)
	w.Cur, w.next = body, ir.NewBlock(w.fresh("part.next"))
	w.begin(from, end, part)
	next := w.next
	if err := w.rest(0); err != nil {
		return err
	}
	w.Cur.NewBr(next)
	w.place(next)
	part.Incs = append(part.Incs, ir.NewIncoming(w.Cur.NewAdd(part, i64(1)), w.Cur))
	w.Cur.NewBr(head)
	w.next = after
	return nil
}

// isExpansion reports whether a stage makes several rows of one.
func isExpansion(s harmony.Stage) bool {
	p, ok := s.(*harmony.Probe)
	return ok && p.Kind == harmony.ProbeMulti
}

// place puts a block that was made before at the end of the function, and goes on
// there.
func (f *function) place(b *ir.Block) {
	b.Parent = f.fn
	f.fn.Blocks = append(f.fn.Blocks, b)
	f.Cur = b
}

// readState reads the worker's state: at gets its tile. A GPU's threads all do,
// before one of them can write it.
func (w *kernel) readState() (until, step value.Value) {
	state := w.locateState()
	word := func(i int) value.Value { return w.load(types.I64, w.at(types.I64, state, i64(int64(i)))) }
	w.number, until, step = word(0), word(1), word(2)
	for i := range w.entry.Expansions {
		p := w.variable(types.I64, i64(0))
		w.store(word(3+i), p)
		w.positions = append(w.positions, p)
	}
	if n := w.entry.StateWords(); w.entry.Expansions > 0 {
		tile := i64(int64(w.target.Threads * w.target.Items))
		stride := word(n - 1)
		w.firstOutput = word(n - 2)
		w.outputStep = w.Cur.NewSelect(w.Cur.NewICmp(enum.IPredEQ, stride, i64(0)), tile, stride)
	}
	w.barrier()
	return until, step
}

// locateState returns the address of the worker's or the block's state.
func (f *function) locateState() value.Value {
	if f.target.GPU {
		f.located = f.at(types.I64, f.state, f.Cur.NewMul(f.block(), i64(int64(f.entry.StateWords()))))
	} else {
		f.located = f.state
	}
	return f.located
}

// block returns the number of a GPU's block.
func (f *function) block() value.Value {
	return f.Cur.NewZExt(f.intrinsic("llvm.nvvm.read.ptx.sreg.ctaid.x", types.I32), types.I64)
}

// leave ends the function: one thread writes the state, a CPU's function returns a
// word.
func (w *kernel) leave(b *ir.Block, result func() value.Value) {
	w.place(b)
	for _, flush := range w.flushes {
		flush()
	}
	write := func() {
		w.store(w.number, w.located)
		for i, p := range w.positions {
			w.store(w.load(types.I64, p), w.at(types.I64, w.located, i64(int64(3+i))))
		}
	}
	if !w.target.GPU {
		write()
		w.Cur.NewRet(result())
		return
	}
	thread := w.intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", types.I32)
	w.when(w.Cur.NewICmp(enum.IPredEQ, thread, i32(0)), write)
	w.Cur.NewRet(nil)
}

// checkGauges leaves the function if one of the gauges asks for it. With a queue it looks
// at them at the first of every queueLooks tiles: to look, all threads of a block wait for
// each other.
func (w *kernel) checkGauges() {
	if w.cut == 0 || len(w.gauges) == 0 {
		w.lookAtGauges()
		return
	}
	w.entry.Queued += (queueLooks - 1) * w.target.Threads * w.target.Items
	tiles := w.variable(types.I32, i32(0)) // since the last look
	n := w.load(types.I32, tiles)
	next := w.Cur.NewAnd(w.Cur.NewAdd(n, i32(1)), i32(queueLooks-1))
	w.store(next, tiles)
	w.when(w.Cur.NewICmp(enum.IPredEQ, n, i32(0)), w.lookAtGauges)
}

// lookAtGauges leaves the function if one of the gauges asks for it.
func (w *kernel) lookAtGauges() {
	for _, g := range w.gauges {
		w.stops = true
		room := w.room(g)
		goOn := w.newBlock("room")
		w.Cur.NewCondBr(w.Cur.NewICmp(enum.IPredNE, room, i32(0)), goOn, w.stop)
		w.Cur = goOn
	}
}

// canFetch reports whether a GPU's tile begins with loads. These are begun before
// the gauges are looked at, so that a block waits once for both.
func (w *kernel) canFetch() bool {
	_, ofGroups := w.k.Source.(*harmony.GroupRows)
	return w.target.GPU && !ofGroups && !w.fetched && w.parts == 1 && len(w.stages) > 0 && w.inRun(w.stages[0])
}

// gauge is a gauge that a kernel looks at. Where only some forms of what it is of
// grow, those from least on, formed is the parameter that says which it is.
type gauge struct {
	abi.Param
	formed bool
	form   abi.Kind
	least  abi.Form
}

// addGauge notes that a kernel looks at a gauge.
func (w *kernel) addGauge(g gauge) {
	if g.formed {
		form, known := w.fixed(g.form, g.Var, 0)
		if known && abi.Form(form) < g.least {
			return
		}
		g.formed = !known
	}
	if !slices.Contains(w.gauges, g) {
		w.gauges = append(w.gauges, g)
	}
}

// room asks a gauge whether there is room.
func (w *kernel) room(g gauge) value.Value {
	ask := func() value.Value {
		return w.call("rf_block_room", w.param(g.Kind, g.Var, g.Index), i32(w.target.Threads))
	}
	if !g.formed {
		return ask()
	}
	room := w.variable(types.I32, i32(1))
	w.store(i32(1), room)
	grows := w.Cur.NewICmp(enum.IPredSGE, w.param(g.form, g.Var, 0), i64(int64(g.least)))
	w.when(grows, func() { w.store(ask(), room) })
	return w.load(types.I32, room)
}

// scratchOf returns memory for a collective primitive.
func (f *function) scratchOf(name string) value.Value {
	p, _ := primitives.Lookup(name)
	if size := p.Scratch(f.target.Threads, f.target.Items); size > 0 {
		return f.scratch.at(0, size)
	}
	return null
}

// inPrologue emits something without a branch that is done once, before the first
// tile.
func (w *kernel) inPrologue(emit func()) {
	here := w.Cur
	w.Cur = w.prologue
	emit()
	w.Cur = here
}

// firstRow returns the row that the first tile begins with.
func (w *kernel) firstRow(from value.Value) value.Value {
	if w.target.GPU {
		return w.Cur.NewAnd(from, i64(^(abi.Chunk - 1)))
	}
	return from
}

// begin sets up a tile, or a part of one, by its number.
func (w *kernel) begin(from, end, number value.Value) {
	size := i64(int64(w.target.Threads * w.target.Items))
	w.start = w.Cur.NewAdd(w.firstRow(from), w.Cur.NewMul(number, size))
	left := w.Cur.NewSub(end, w.start)
	rows := w.Cur.NewSelect(w.Cur.NewICmp(enum.IPredSLT, left, size), left, size)
	w.rows = w.Cur.NewTrunc(rows, types.I32)
	if !w.target.GPU {
		w.setCount(w.function, rows)
		w.dense = true
	} else {
		w.setCount(w.function, i64(int64(w.target.Items)))
		w.flags = w.array(types.I8)
		before := w.Cur.NewSub(from, w.start)
		skip := w.Cur.NewSelect(w.Cur.NewICmp(enum.IPredSGT, before, i64(0)), before, i64(0))
		w.call("rf_tile_live", w.flags.ptr, w.Cur.NewTrunc(skip, types.I32), w.rows, i32(w.target.Threads), w.items)
	}
	if s, ok := w.k.Source.(*harmony.GroupRows); ok {
		w.beginGroups(s.Groups)
	}
}

// rest emits the stages from one on, and the sinks.
func (w *kernel) rest(from int) error {
	for i := from; i < len(w.stages); {
		if m, ok := w.stages[i].(*harmony.Map); ok && w.isHost(m) {
			if err := w.host(m); err != nil {
				return err
			}
			i++
			continue
		}
		if p, ok := w.stages[i].(*harmony.Probe); ok {
			if isExpansion(p) {
				return w.expand(p, i)
			}
			w.probe(p)
			i++
			w.compact(i)
			continue
		}
		end := w.endOfRun(i)
		w.run(w.stages[i:end], end)
		drops := isDrop(w.stages[end-1])
		i = end
		if drops {
			w.compact(i)
		}
	}
	return w.end()
}
