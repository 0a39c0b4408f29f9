package emit

import (
	"slices"

	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/primitives"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// kernel is a kernel's function in the making.
type kernel struct {
	*function
	*tile
	k    *harmony.Kernel
	work *shape.Work // what is done with the tile at hand

	number    value.Value   // of the tile at hand
	positions []value.Value // variables, one for each expansion: the first output of its round
	// firstOutput is where the first expansion begins in a tile, and outputStep the
	// distance between its rounds.
	firstOutput, outputStep value.Value
	depth                   int       // of expansions around the place at hand
	next                    *ir.Block // where a tile or round goes on when no row is left
	stop                    *ir.Block // leaves the function, to be called again
	stops                   bool      // whether something goes there
	fetched                 bool      // whether the tile's first loads have been begun and the gauges read
	// end emits what becomes of the rows that are left, and gauges has the gauges
	// that make room for it.
	end    func() error
	gauges []gauge
	// prologue ends before the first tile, and flushes are what a GPU's block does when
	// it leaves.
	prologue *ir.Block
	flushes  []func()
	// dropped is a variable that counts the decimals that the thread has dropped since
	// the last countDropped; nil if there are none.
	dropped value.Value
}

// emit emits the function of a shape: a loop over the rows of the kernel's source,
// which go through its stages.
func (m *module) emit(f *shape.Function) error {
	w := &kernel{function: m.newFunction(f), tile: &tile{regs: map[*harmony.Reg]*stored{}}, k: f.Kernel, work: f.Work}
	if f.Index != nil {
		w.endOfBuild()
	} else {
		w.endOfKernel()
	}
	if err := w.emit(); err != nil {
		return err
	}
	if m.opts.Lines {
		w.markAs(f.Kernel.Span)
	}
	if err := w.finish(); err != nil {
		return err
	}
	m.functions = append(m.functions, w.function)
	m.abi.Entries = append(m.abi.Entries, w.entry)
	return nil
}

// endOfKernel has rows go to the sinks, whose gauges make room for them.
func (w *kernel) endOfKernel() {
	w.end = w.sinks
	for _, s := range w.k.Sinks {
		g := gauge{Param: abi.Param{Kind: abi.Gauge, Var: harmony.SinkTarget(s).ManagedName()}}
		// A limit is moved where the run is cancelled. A CPU looks at all gauges, a GPU
		// at those of groups that do not grow only where a tile can take long.
		if s, ok := s.(*harmony.Group); ok && w.target.GPU && !slices.ContainsFunc(w.k.Stages, shape.IsExpansion) {
			if len(s.Key) == 0 {
				continue // the group is there
			}
			g.formed, g.form, g.least = true, abi.GroupForm, abi.Hash
		}
		w.addGauge(g)
	}
}

// emit emits the loop over tiles.
func (w *kernel) emit() error {
	for _, s := range w.work.Steps {
		if s.Kind == shape.Expansion {
			w.entry.Expansions++
		}
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
	if w.shape.Queue != nil {
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
	} else if w.shape.Parts == 1 {
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

// eachPart emits a loop over the parts of a tile, and goes on to the end of the tile.
// A block looks at the gauges, and waits for all its threads, once for all parts.
func (w *kernel) eachPart(from, end value.Value) error {
	w.entry.Items *= w.shape.Parts
	w.checkGauges()
	after := w.next
	start := w.Cur
	head, body := w.newBlock("parts"), w.newBlock("part")
	first := start.NewMul(w.number, i64(int64(w.shape.Parts)))
	until := start.NewAdd(first, i64(int64(w.shape.Parts)))
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
	if w.shape.Queue == nil || len(w.gauges) == 0 {
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
	return w.target.GPU && !ofGroups && !w.fetched && w.shape.Parts == 1 && len(w.work.Steps) > 0 && w.work.Steps[0].Kind == shape.Run
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

// rest emits the steps from one on, and the sinks.
func (w *kernel) rest(from int) error {
	for i := from; i < len(w.work.Steps); i++ {
		step := w.work.Steps[i]
		switch s := w.work.Stages[step.From]; step.Kind {
		case shape.Host:
			if err := w.host(s.(*harmony.Map)); err != nil {
				return err
			}
		case shape.Expansion:
			return w.expand(s.(*harmony.Probe), i)
		case shape.Lookup:
			w.probe(s.(*harmony.Probe))
		case shape.Run:
			w.run(w.work.Stages[step.From:step.To], step.To)
		}
		if step.Compacts {
			w.compact(step.To)
		}
		w.mark(w.work.Stages[step.To-1])
	}
	return w.end()
}
