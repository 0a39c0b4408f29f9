package emit

import (
	"slices"

	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

// A GPU's kernel that is expected to drop most of its rows is cut in two. The stages
// ahead of the cut look at whole tiles, and put the rows that they leave into a queue in
// shared memory (primitives/src/queue.h). Those behind it, and the sinks, work on rows of
// the queue as soon as there are enough for all threads: few instructions and few waits
// for memory are spent on rows that are not there. What is needed behind the cut is read,
// or found, again by the row's number: for few rows that costs less than to carry it.

const (
	// filteredItems are the rows that a thread has ahead of a queue, and probedItems if
	// they are looked up there: a multiprocessor's cache of 256 KB is also its shared memory,
	// and what is looked up is to stay in it beside the tiles and queues of all blocks.
	filteredItems = 8
	probedItems   = 4
	// behindItems are the rows that a thread has behind a queue.
	behindItems = 1
	// hostItems are a CPU's behind a queue.
	hostItems = 32
	// queueLooks is how many tiles a block begins after a look at the gauges, a power of two.
	queueLooks = 4
)

// queue is a kernel's queue in the making.
type queue struct {
	*kernel
	// mates is how many threads share a queue: those of a warp if nothing behind it is
	// done by all threads of a block together, else these. Each works on so many items.
	mates, items int
	// rows is the thread's queue, counts has a block's counters and is null for a warp's.
	rows, counts value.Value
	// Variables: how many rows the queue has; whose turn the counters are; and how many
	// rows are worked on: a full batch, or any where the block is to leave.
	count, turn, least value.Value
	// leave begins to leave the function: what is in the queue is worked off.
	leave *ir.Block
}

// newQueue makes room for a queue.
func (w *kernel) newQueue() *queue {
	q := &queue{kernel: w, mates: w.target.Threads, items: behindItems, counts: null, leave: w.newBlock("leave")}
	if !w.target.GPU {
		q.items = hostItems
	}
	warps := 1
	if w.target.GPU && w.isByWarps() {
		q.mates, warps = 32, w.target.Threads/32
	}
	rows := q.mates * (w.target.Items + q.items)
	w.entry.Queued = warps * rows
	w.inPrologue(func() {
		if !w.target.GPU {
			q.rows, q.counts = w.alloca(types.I32, rows), w.alloca(types.I32, 4)
			return
		}
		q.rows = w.dynamic.more(4 * warps * rows)
		if warps > 1 {
			thread := w.intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", types.I32)
			warp := w.Cur.NewZExt(w.Cur.NewUDiv(thread, i32(32)), types.I64)
			q.rows = w.at(types.I32, q.rows, w.Cur.NewMul(warp, i64(int64(rows))))
			return
		}
		if q.mates > 32 {
			q.counts = w.shared.more(16)
			w.call("rf_block_clear", q.counts, i64(2), i64(0), i32(w.target.Threads))
		}
	})
	q.count, q.turn, q.least = w.variable(types.I32, i32(0)), w.variable(types.I32, i32(0)), w.variable(types.I32, i32(q.batch()))
	return q
}

// isByWarps reports whether each warp may have a queue of its own: appending to a
// relation and entering tuples into row sets are done by all threads of a block together.
func (w *kernel) isByWarps() bool {
	wide := func(kinds keyKinds, name string, columns int) bool {
		return (&keys{kernel: w, kinds: kinds, name: name}).mayBeWide(columns)
	}
	for _, s := range w.k.Sinks {
		if g, ok := s.(*harmony.Group); !ok || wide(groupKey, g.To.Name, len(g.Key)) {
			return false
		}
	}
	return true
}

// batch is how many rows are taken from the queue at a time.
func (q *queue) batch() int { return q.mates * q.items }

// tiles emits what is done with a tile, from block body on, and goes on at latch, or at
// done where the block leaves.
func (q *queue) tiles(from, end value.Value, body, latch, done *ir.Block) error {
	w := q.kernel
	ahead, behind := w.ahead(w.cut), w.behind(w.cut)
	drain := ir.NewBlock(w.fresh("queue"))
	q.leave.Insts = append(q.leave.Insts, &ir.InstStore{Src: i32(1), Dst: q.least})
	q.leave.NewBr(drain)
	w.stop, w.next = q.leave, drain

	w.Cur = body
	w.setStages(ahead)
	w.begin(from, end, w.number)
	if !w.canFetch() {
		w.checkGauges()
	}
	last := w.end
	w.end = q.push
	if err := w.rest(0); err != nil {
		return err
	}
	w.Cur.NewBr(drain)

	w.place(drain)
	w.setStages(behind)
	for _, r := range w.kept {
		w.last[r] = len(behind)
	}
	w.end = last
	return q.drain(w.firstRow(from), latch, done)
}

// push puts the rows that are left of a tile into the queue.
func (q *queue) push() error {
	w := q.kernel
	turn := w.load(types.I32, q.turn)
	first := w.Cur.NewSub(w.start, w.firstRow(w.param(abi.RowsFrom, "", 0)))
	count := w.call("rf_queue_push", q.rows, q.counts, turn, w.load(types.I32, q.count), w.liveFlags().ptr, first,
		i32(q.mates), i32(w.target.Threads), w.items)
	w.store(count, q.count)
	next := w.Cur.NewAdd(turn, i32(1))
	w.store(w.Cur.NewSelect(w.Cur.NewICmp(enum.IPredEQ, next, i32(3)), i32(0), next), q.turn)
	return nil
}

// drain works on batches of rows as long as there are enough. The rows count from first.
func (q *queue) drain(first value.Value, latch, done *ir.Block) error {
	w := q.kernel
	inside, after := w.newBlock("batch"), ir.NewBlock(w.fresh("queue.low"))
	enough := func() value.Value {
		return w.Cur.NewICmp(enum.IPredSGE, w.load(types.I32, q.count), w.load(types.I32, q.least))
	}
	w.Cur.NewCondBr(enough(), inside, after)

	w.Cur = inside
	w.target.Items = q.items
	w.tile = &tile{drops: true, regs: map[*harmony.Reg]*stored{}}
	w.setCount(w.function, i64(int64(q.items)))
	w.source, w.flags = w.array(types.I64), w.array(types.I8)
	count := w.load(types.I32, q.count)
	w.call("rf_queue_take", w.source.ptr, w.flags.ptr, q.rows, count, i32(q.mates), i32(q.items))
	w.eachItem(func(i value.Value) { w.set(w.source, i, w.Cur.NewAdd(w.get(w.source, i), first)) })
	left := w.Cur.NewSub(count, i32(q.batch()))
	w.store(w.Cur.NewSelect(w.Cur.NewICmp(enum.IPredSGT, left, i32(0)), left, i32(0)), q.count)
	next := ir.NewBlock(w.fresh("batch.next"))
	w.next, w.fetched = next, true
	if err := w.rest(0); err != nil {
		return err
	}
	w.Cur.NewBr(next)
	w.place(next)
	low := w.newBlock("queue.met")
	w.Cur.NewCondBr(enough(), inside, low)
	w.Cur = low
	w.call("rf_queue_meet", i32(q.mates))
	w.Cur.NewBr(after)

	w.place(after)
	w.countDropped()
	leaves := w.Cur.NewICmp(enum.IPredSLT, w.load(types.I32, q.least), i32(q.batch()))
	w.Cur.NewCondBr(leaves, done, latch)
	return nil
}

// loadShare is the share of rows from which on a column is read for all of a tile, at
// once with the others: a chunk of four rows is read whole, and a sector of memory has up to
// 32 rows.
const loadShare = 0.1

// ahead returns the stages that a kernel has ahead of a queue that is cut in before one of
// them. The loads that not only few rows come to are first: so all are begun together.
func (w *kernel) ahead(cut int) []harmony.Stage {
	shares := w.module.shares(w.stages[:cut])
	var first, rest []harmony.Stage
	for i, s := range w.stages[:cut] {
		if _, ok := s.(*harmony.Load); ok && shares[i] >= loadShare {
			first = append(first, s)
		} else {
			rest = append(rest, s)
		}
	}
	return append(first, rest...)
}

// behind returns the stages that a kernel has behind a queue that is cut in before one of
// them: with those that find again what is needed of the stages before. Those only drop
// rows that have been dropped.
func (w *kernel) behind(cut int) []harmony.Stage {
	needed := map[*harmony.Reg]bool{}
	for _, r := range w.kept {
		needed[r] = true
	}
	for _, s := range w.stages[cut:] {
		for _, r := range harmony.Uses(s) {
			needed[r] = true
		}
	}
	var again []harmony.Stage
	for i := cut - 1; i >= 0; i-- {
		s := w.stages[i]
		r := harmony.Def(s)
		if n, ok := s.(*harmony.Need); ok {
			r = n.Reg
		}
		if !needed[r] {
			continue
		}
		again = append(again, s)
		for _, r := range harmony.Uses(s) {
			needed[r] = true
		}
	}
	slices.Reverse(again)
	return append(again, w.stages[cut:]...)
}
