package emit

import (
	"slices"

	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// kernel is a kernel's function in the making.
type kernel struct {
	*ir.Function
	*tile
	k    *harmony.Kernel
	work *shape.Work // what is done with the tile at hand

	number    value.Value   // of the tile at hand
	positions []value.Value // variables, one for each expansion: the first output of its round
	// firstOutput is where the first expansion begins in a tile, and outputStep
	// the distance between its rounds.
	firstOutput, outputStep value.Value

	donation *donation   // or nil
	depth    int         // of expansions around the place at hand
	next     *llvm.Block // where a tile or round goes on when no row is left
	stop     *llvm.Block // leaves the function, to be called again
	stops    bool        // whether something goes there
	// whether the tile's first loads have been begun and the gauges read
	fetched bool
	// end emits what becomes of the rows that are left, and gauges has the
	// gauges that make room for it.
	end    func() error
	gauges []gauge
	// prologue ends before the first tile, and flushes are what a GPU's block
	// does when it leaves.
	prologue *llvm.Block
	flushes  []func()
	// dropped is a variable that counts the decimals that the thread has
	// dropped since the last countDropped; nil if there are none.
	dropped value.Value
}

// emit emits the function of a shape: a loop over the rows of the kernel's
// source, which go through its stages.
func emit(m *ir.Module, f *shape.Function) error {
	w := &kernel{Function: m.NewFunction(f), tile: &tile{regs: map[*harmony.Reg]*ir.Stored{}},
		k: f.Kernel, work: f.Work}
	if f.Index != nil {
		w.endOfBuild()
	} else {
		w.endOfKernel()
	}
	if err := w.emit(); err != nil {
		return err
	}
	if m.Options.Lines {
		w.MarkAs(f.Kernel.Span)
	}
	return m.Add(w.Function)
}

// endOfKernel has rows go to the sinks, whose gauges make room for them.
func (w *kernel) endOfKernel() {
	w.end = w.sinks
	for _, s := range w.k.Sinks {
		g := gauge{Param: abi.Param{Kind: abi.Gauge, Var: harmony.SinkTarget(s).ManagedName()}}
		// A limit is moved where the run is cancelled. A CPU looks at all
		// gauges, a GPU at those of groups that do not grow only where a tile
		// can take long.
		if s, ok := s.(*harmony.Group); ok && w.Target.GPU &&
			!slices.ContainsFunc(w.k.Stages, shape.IsExpansion) {
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
			w.Entry.Expansions++
		}
	}
	until, step := w.readState()
	from, end := w.Param(abi.RowsFrom, "", 0), w.Param(abi.RowsUntil, "", 0)

	head, body, done := w.NewBlock("tiles"), w.NewBlock("tile"), llvm.NewBlock(w.Fresh("done"))
	w.next, w.stop = llvm.NewBlock(w.Fresh("next")), done
	if !w.Target.GPU || w.donation != nil {
		w.stop = llvm.NewBlock(w.Fresh("stop"))
	}
	w.prologue = w.Cur
	at := head.NewPhi(llvm.NewIncoming(w.number, w.Cur))
	w.Cur.NewBr(head)
	exit := done
	var q *queue
	if w.Shape.Queue != nil {
		q = w.newQueue()
		exit = q.leave
	}
	d := w.donation
	if d != nil {
		exit = llvm.NewBlock(w.Fresh("seek"))
		w.Cur = head
		until = d.word(workUntil)
	}
	more := head.NewICmp(enum.IPredSLT, at, until)
	head.NewCondBr(more, body, exit)
	w.number, w.Cur = at, body
	latch := w.next
	if q != nil {
		if err := q.tiles(from, end, body, latch, done); err != nil {
			return err
		}
	} else if w.Shape.Parts == 1 {
		w.begin(from, end, at)
		if w.Entry.Expansions == 0 && !w.canFetch() {
			w.checkGauges()
		}
		if err := w.rest(0); err != nil {
			return err
		}
		w.Cur.NewBr(latch)
	} else if err := w.eachPart(from, end); err != nil {
		return err
	}

	w.Place(latch)
	if q == nil {
		w.countDropped()
	}
	if d != nil {
		step = d.word(workStep)
	}
	at.Incs = append(at.Incs, llvm.NewIncoming(w.Cur.NewAdd(at, step), w.Cur))
	w.Cur.NewBr(head)
	if d != nil {
		number, from := d.take(exit, head, done)
		at.Incs = append(at.Incs, llvm.NewIncoming(number, from))
		if w.Target.GPU {
			w.Place(w.stop)
			d.quit()
			w.Cur.NewBr(done)
		}
	}

	if q != nil {
		w.leave(done, func() value.Value { return w.Cur.NewZExt(more, types.I64) })
		return nil
	}
	w.leave(done, func() value.Value { return i64(0) })
	if w.stops && !w.Target.GPU {
		w.leave(w.stop, func() value.Value {
			if d != nil {
				d.quit()
			}
			return i64(1)
		})
	}
	return nil
}

// eachPart emits a loop over the parts of a tile, and goes on to the end of the
// tile. A block looks at the gauges, and waits for all its threads, once for
// all parts.
func (w *kernel) eachPart(from, end value.Value) error {
	w.Entry.Items *= w.Shape.Parts
	w.checkGauges()
	after := w.next
	start := w.Cur
	head, body := w.NewBlock("parts"), w.NewBlock("part")
	first := start.NewMul(w.number, i64(int64(w.Shape.Parts)))
	until := start.NewAdd(first, i64(int64(w.Shape.Parts)))
	start.NewBr(head)
	part := head.NewPhi(llvm.NewIncoming(first, start))
	w.Cur = head
	size := i64(int64(w.Target.Threads * w.Target.Items))
	begins := w.Cur.NewAdd(w.firstRow(from), w.Cur.NewMul(part, size))
	left := w.Cur.NewAnd(w.Cur.NewICmp(enum.IPredSLT, part, until),
		w.Cur.NewICmp(enum.IPredSLT, begins, end))
	w.Cur.NewCondBr(left, body, after)
	w.Cur, w.next = body, llvm.NewBlock(w.Fresh("part.next"))
	w.begin(from, end, part)
	next := w.next
	if err := w.rest(0); err != nil {
		return err
	}
	w.Cur.NewBr(next)
	w.Place(next)
	part.Incs = append(part.Incs, llvm.NewIncoming(w.Cur.NewAdd(part, i64(1)), w.Cur))
	w.Cur.NewBr(head)
	w.next = after
	return nil
}

// readState reads the worker's state: at gets its tile. A GPU's threads all do,
// before one of them can write it.
func (w *kernel) readState() (until, step value.Value) {
	if w.Shape.Donates() {
		w.donation = w.newDonation()
	}
	state := w.LocateState()
	word := func(i int) value.Value {
		return w.Load(types.I64, w.At(types.I64, state, i64(int64(i))))
	}
	w.number, until, step = word(0), word(1), word(2)
	for i := range w.Entry.Expansions {
		p := w.Variable(types.I64, i64(0))
		w.Store(word(3+i), p)
		w.positions = append(w.positions, p)
	}
	if n := w.Entry.StateWords(); w.Entry.Expansions > 0 {
		tile := i64(int64(w.Target.Threads * w.Target.Items))
		stride := word(n - 1)
		w.firstOutput = word(n - 2)
		w.outputStep = w.Cur.NewSelect(w.Cur.NewICmp(enum.IPredEQ, stride, i64(0)), tile, stride)
	}
	if d := w.donation; d != nil {
		d.begin(word, w.outputStep)
	}
	w.Barrier()
	return until, step
}

// leave ends the function: one thread writes the state, a CPU's function
// returns a word.
func (w *kernel) leave(b *llvm.Block, result func() value.Value) {
	w.Place(b)
	for _, flush := range w.flushes {
		flush()
	}
	write := func() {
		w.Store(w.number, w.Located)
		for i, p := range w.positions {
			w.Store(w.Load(types.I64, p), w.At(types.I64, w.Located, i64(int64(3+i))))
		}
		if w.donation != nil {
			w.donation.write()
		}
	}
	if !w.Target.GPU {
		write()
		w.Cur.NewRet(result())
		return
	}
	w.byOne(write)
	w.Cur.NewRet(nil)
}

// checkGauges leaves the function if one of the gauges asks for it. With a
// queue it looks at them at the first of every queueLooks tiles: to look, all
// threads of a block wait for each other.
func (w *kernel) checkGauges() {
	if w.Shape.Queue == nil || len(w.gauges) == 0 {
		w.lookAtGauges()
		return
	}
	w.Entry.Queued += (queueLooks - 1) * w.Target.Threads * w.Target.Items
	tiles := w.Variable(types.I32, i32(0)) // since the last look
	n := w.Load(types.I32, tiles)
	next := w.Cur.NewAnd(w.Cur.NewAdd(n, i32(1)), i32(queueLooks-1))
	w.Store(next, tiles)
	w.When(w.Cur.NewICmp(enum.IPredEQ, n, i32(0)), w.lookAtGauges)
}

// lookAtGauges leaves the function if one of the gauges asks for it.
func (w *kernel) lookAtGauges() {
	gauges := w.gauges
	if w.donation != nil {
		w.donation.look()
		gauges = gauges[1:]
	}
	for _, g := range gauges {
		w.stops = true
		room := w.room(g)
		goOn := w.NewBlock("room")
		w.Cur.NewCondBr(w.Cur.NewICmp(enum.IPredNE, room, i32(0)), goOn, w.stop)
		w.Cur = goOn
	}
}

// canFetch reports whether a GPU's tile begins with loads. These are begun
// before the gauges are looked at, so that a block waits once for both.
func (w *kernel) canFetch() bool {
	_, ofGroups := w.k.Source.(*harmony.GroupRows)
	return w.Target.GPU && !ofGroups && !w.fetched && w.Shape.Parts == 1 && len(w.work.Steps) > 0 &&
		w.work.Steps[0].Kind == shape.Run
}

// gauge is a gauge that a kernel looks at. If formed is set, the variable grows
// in forms from least on only, and the parameter form holds its form.
type gauge struct {
	abi.Param
	formed bool
	form   abi.Kind
	least  abi.Form
}

// addGauge notes that a kernel looks at a gauge.
func (w *kernel) addGauge(g gauge) {
	if g.formed {
		form, known := w.Fixed(g.form, g.Var, 0)
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
		return w.Call("rf_block_room", w.Param(g.Kind, g.Var, g.Index), i32(w.Target.Threads))
	}
	if !g.formed {
		return ask()
	}
	room := w.Variable(types.I32, i32(1))
	w.Store(i32(1), room)
	grows := w.Cur.NewICmp(enum.IPredSGE, w.Param(g.form, g.Var, 0), i64(int64(g.least)))
	w.When(grows, func() { w.Store(ask(), room) })
	return w.Load(types.I32, room)
}

// inPrologue emits something without a branch that is done once, before the
// first tile.
func (w *kernel) inPrologue(emit func()) {
	here := w.Cur
	w.Cur = w.prologue
	emit()
	w.Cur = here
}

// firstRow returns the row that the first tile begins with.
func (w *kernel) firstRow(from value.Value) value.Value {
	if w.Target.GPU {
		return w.Cur.NewAnd(from, i64(^(abi.Chunk - 1)))
	}
	return from
}

// begin sets up a tile, or a part of one, by its number.
func (w *kernel) begin(from, end, number value.Value) {
	size := i64(int64(w.Target.Threads * w.Target.Items))
	w.start = w.Cur.NewAdd(w.firstRow(from), w.Cur.NewMul(number, size))
	left := w.Cur.NewSub(end, w.start)
	rows := w.Cur.NewSelect(w.Cur.NewICmp(enum.IPredSLT, left, size), left, size)
	w.rows = w.Cur.NewTrunc(rows, types.I32)
	if !w.Target.GPU {
		w.setCount(w.Function, rows)
		w.dense = true
	} else {
		w.setCount(w.Function, i64(int64(w.Target.Items)))
		w.flags = w.Array(types.I8)
		before := w.Cur.NewSub(from, w.start)
		skip := w.Cur.NewSelect(w.Cur.NewICmp(enum.IPredSGT, before, i64(0)), before, i64(0))
		w.Call("rf_tile_live", w.flags.Ptr, w.Cur.NewTrunc(skip, types.I32), w.rows,
			i32(w.Target.Threads), w.items)
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

// mark gives the instructions that have no place yet that of a stage or a sink.
func (w *kernel) mark(work any) {
	if w.Module.Options.Lines {
		w.MarkAs(w.k.PlaceOf(work))
	}
}
