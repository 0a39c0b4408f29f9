package emit

import (
	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// A queue (shape.Queue, primitives/src/queue.h) holds the numbers of the rows
// that the stages ahead of it leave. The stages behind it, and the sinks, take
// rows as soon as there are enough for all threads, so that few instructions
// and few waits for memory are spent on dead rows. They read what they need
// again by the row's number: for few rows, that costs less than to carry it.

// queueLooks is how many tiles a block begins after a look at the gauges, a
// power of two.
const queueLooks = 4

// queue is a kernel's queue in the making.
type queue struct {
	*kernel
	*shape.Queue
	mates int // the threads that share a queue
	// rows is the thread's queue, counts has a block's counters and is null for
	// a warp's.
	rows, counts value.Value
	// Variables: how many rows the queue has; whose turn the counters are; and
	// how many rows are worked on: a full batch, or any where the block is to
	// leave.
	count, turn, least value.Value
	// leave begins to leave the function: what is in the queue is worked off.
	leave *llvm.Block
}

// newQueue makes room for a queue.
func (w *kernel) newQueue() *queue {
	q := &queue{kernel: w, Queue: w.Shape.Queue, mates: w.Shape.Queue.Mates(w.Shape), counts: null,
		leave: w.NewBlock("leave")}
	w.Entry.Queued = q.Rows(w.Shape)
	warps := w.Target.Threads / q.mates
	rows := w.Entry.Queued / warps // of each queue
	w.inPrologue(func() {
		if !w.Target.GPU {
			q.rows, q.counts = w.Alloca(types.I32, rows), w.Alloca(types.I32, 4)
			return
		}
		q.rows = w.Dynamic.More(4 * warps * rows)
		if warps > 1 {
			thread := w.Intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", types.I32)
			warp := w.Cur.NewZExt(w.Cur.NewUDiv(thread, i32(32)), types.I64)
			q.rows = w.At(types.I32, q.rows, w.Cur.NewMul(warp, i64(int64(rows))))
			return
		}
		if q.mates > 32 {
			q.counts = w.Shared.More(16)
			w.Call("rf_block_clear", q.counts, i64(2), i64(0), i32(w.Target.Threads))
		}
	})
	q.count, q.turn, q.least = w.Variable(types.I32, i32(0)), w.Variable(types.I32,
		i32(0)), w.Variable(types.I32, i32(q.batch()))
	return q
}

// batch is how many rows are taken from the queue at a time.
func (q *queue) batch() int { return q.mates * q.Items }

// tiles emits what is done with a tile, from block body on, and goes on at
// latch, or at done where the block leaves.
func (q *queue) tiles(from, end value.Value, body, latch, done *llvm.Block) error {
	w := q.kernel
	drain := llvm.NewBlock(w.Fresh("queue"))
	q.leave.Insts = append(q.leave.Insts, &llvm.InstStore{Src: i32(1), Dst: q.least})
	q.leave.NewBr(drain)
	w.stop, w.next = q.leave, drain

	w.Cur = body
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

	w.Place(drain)
	w.work, w.end = q.Behind, last
	return q.drain(w.firstRow(from), latch, done)
}

// push puts the rows that are left of a tile into the queue.
func (q *queue) push() error {
	w := q.kernel
	turn := w.Load(types.I32, q.turn)
	first := w.Cur.NewSub(w.start, w.firstRow(w.Param(abi.RowsFrom, "", 0)))
	count := w.Call("rf_queue_push", q.rows, q.counts, turn, w.Load(types.I32, q.count),
		w.liveFlags().Ptr, first,
		i32(q.mates), i32(w.Target.Threads), w.items)
	w.Store(count, q.count)
	next := w.Cur.NewAdd(turn, i32(1))
	w.Store(w.Cur.NewSelect(w.Cur.NewICmp(enum.IPredEQ, next, i32(3)), i32(0), next), q.turn)
	return nil
}

// drain works on batches of rows as long as there are enough. The rows count
// from first.
func (q *queue) drain(first value.Value, latch, done *llvm.Block) error {
	w := q.kernel
	inside, after := w.NewBlock("batch"), llvm.NewBlock(w.Fresh("queue.low"))
	enough := func() value.Value {
		return w.Cur.NewICmp(enum.IPredSGE, w.Load(types.I32, q.count), w.Load(types.I32, q.least))
	}
	w.Cur.NewCondBr(enough(), inside, after)

	w.Cur = inside
	w.Target.Items = q.Items
	w.tile = &tile{drops: true, regs: map[*harmony.Reg]*ir.Stored{}}
	w.setCount(w.Function, i64(int64(q.Items)))
	w.source, w.flags = w.Array(types.I64), w.Array(types.I8)
	count := w.Load(types.I32, q.count)
	w.Call("rf_queue_take", w.source.Ptr, w.flags.Ptr, q.rows, count, i32(q.mates), i32(q.Items))
	w.eachItem(func(i value.Value) { w.Set(w.source, i, w.Cur.NewAdd(w.Get(w.source, i), first)) })
	left := w.Cur.NewSub(count, i32(q.batch()))
	w.Store(w.Cur.NewSelect(w.Cur.NewICmp(enum.IPredSGT, left, i32(0)), left, i32(0)), q.count)
	next := llvm.NewBlock(w.Fresh("batch.next"))
	w.next, w.fetched = next, true
	if err := w.rest(0); err != nil {
		return err
	}
	w.Cur.NewBr(next)
	w.Place(next)
	low := w.NewBlock("queue.met")
	w.Cur.NewCondBr(enough(), inside, low)
	w.Cur = low
	w.Call("rf_queue_meet", i32(q.mates))
	w.Cur.NewBr(after)

	w.Place(after)
	w.countDropped()
	leaves := w.Cur.NewICmp(enum.IPredSLT, w.Load(types.I32, q.least), i32(q.batch()))
	w.Cur.NewCondBr(leaves, done, latch)
	return nil
}
