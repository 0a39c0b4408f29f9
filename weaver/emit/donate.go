package emit

import (
	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// donation has a kernel's blocks share work at a board
// (primitives/src/donate.h). A block that sees another wait gives half of its
// tiles or of the outermost expansion that has rounds left. A block that is
// through takes what is given: it goes through the tile again, up to the round
// with which the other one would have gone on.
//
// The words that describe the block's work are in shared memory, because
// registers would limit the number of threads. One thread writes them while the
// others wait.
type donation struct {
	*kernel
	levels int
	board  value.Value
	work   value.Value // the block's words, as donate::Work has them
}

// Places of words in donate::Work.
const (
	workFound = iota
	workNumber
	workUntil
	workStep
	workFirst
	workOutputStep
	workAt    // of each level
	workEnd   = workAt + shape.DonationLevels
	workLimit = workEnd + shape.DonationLevels
)

// newDonation makes the board a parameter, which the state depends on, and room
// for the block's words.
func (w *kernel) newDonation() *donation {
	d := &donation{kernel: w, levels: min(w.Entry.Expansions, shape.DonationLevels),
		board: w.Param(abi.Board, "", 0)}
	if w.Target.GPU {
		d.work = w.Shared.More(shape.DonationBytes)
	} else {
		d.work = w.Alloca(types.I64, shape.DonationBytes/8)
	}
	return d
}

// byOne emits what one thread of the block does.
func (w *kernel) byOne(body func()) {
	if !w.Target.GPU {
		body()
		return
	}
	thread := w.Intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", types.I32)
	w.When(w.Cur.NewICmp(enum.IPredEQ, thread, i32(0)), body)
}

// place returns the address of one of the block's words.
func (d *donation) place(i int) value.Value { return d.At(types.I64, d.work, i64(int64(i))) }

// word reads one of the block's words.
func (d *donation) word(i int) value.Value { return d.Load(types.I64, d.place(i)) }

// begin takes over what the block's state says. A barrier has to follow.
func (d *donation) begin(state func(word int) value.Value, outputStep value.Value) {
	d.byOne(func() {
		words := d.Entry.StateWords()
		d.Store(state(1), d.place(workUntil))
		d.Store(state(2), d.place(workStep))
		d.Store(state(words-2), d.place(workFirst))
		d.Store(outputStep, d.place(workOutputStep))
		for k := range d.levels {
			d.Store(state(3+d.Entry.Expansions+k), d.place(workLimit+k))
		}
		d.Call("rf_donate_enter", d.board)
	})
}

// setEnd notes where a level ends: at the total, or at the limit that came with
// taken work, which holds for one loop. A barrier has to follow.
func (d *donation) setEnd(level int, total value.Value) {
	d.byOne(func() {
		limit := d.Cur.NewXor(d.word(workLimit+level), i64(-1)) // of none the highest
		below := d.Cur.NewICmp(enum.IPredULT, limit, total)
		d.Store(d.Cur.NewSelect(below, limit, total), d.place(workEnd+level))
		d.Store(i64(0), d.place(workLimit+level))
	})
}

// look leaves the function if the first gauge asks for it, and gives work to
// another block that waits.
func (d *donation) look() {
	w := d.kernel
	w.stops = true
	g := w.gauges[0]
	at := w.Param(g.Kind, g.Var, g.Index)
	if g.formed {
		grows := w.Cur.NewICmp(enum.IPredSGE, w.Param(g.form, g.Var, 0), i64(int64(g.least)))
		at = w.Cur.NewSelect(grows, at, null)
	}
	seen := w.Call("rf_donate_look", at, d.board, i32(w.Target.Threads))
	bit := func(n int) value.Value {
		return w.Cur.NewICmp(enum.IPredNE, w.Cur.NewAnd(seen, i32(n)), i32(0))
	}
	goOn := w.NewBlock("room")
	w.Cur.NewCondBr(bit(1), goOn, w.stop)
	w.Cur = goOn
	w.When(bit(2), func() {
		d.byOne(func() {
			w.Store(w.number, d.place(workNumber))
			for k := range d.levels {
				w.Store(w.Load(types.I64, w.positions[k]), d.place(workAt+k))
			}
			w.CallRarely("rf_donate_give", d.board, d.work, i32(d.levels),
				i64(int64(w.Target.Threads*w.Target.Items)))
		})
		w.Barrier()
	})
}

// take emits, from block seek on, how the block gets work when it has none
// left. It goes on at head with the number of a tile, which it returns with the
// block it comes from, or at done.
func (d *donation) take(seek, head, done *llvm.Block) (number value.Value, from *llvm.Block) {
	w := d.kernel
	w.Place(seek)
	w.Barrier() // the words may still be read
	d.byOne(func() { w.CallRarely("rf_donate_take", d.board, d.work, i32(d.levels)) })
	w.Barrier()
	got := w.NewBlock("donated")
	w.Cur.NewCondBr(w.Cur.NewICmp(enum.IPredNE, d.word(workFound), i64(0)), got, done)
	w.Cur = got
	for k, p := range w.positions {
		at := value.Value(i64(0))
		if k < d.levels {
			at = d.word(workAt + k)
		}
		w.Store(at, p)
	}
	number = d.word(workNumber)
	w.Cur.NewBr(head)
	return number, w.Cur
}

// quit leaves the board in the middle of the work.
func (d *donation) quit() { d.byOne(func() { d.CallRarely("rf_donate_quit", d.board) }) }

// write writes what the state has beside the positions.
func (d *donation) write() {
	w := d.kernel
	put := func(v value.Value, at int) { w.Store(v, w.At(types.I64, w.Located, i64(int64(at)))) }
	put(d.word(workUntil), 1)
	for k := range d.levels {
		put(w.Cur.NewXor(d.word(workEnd+k), i64(-1)), 3+w.Entry.Expansions+k)
	}
	put(d.word(workFirst), w.Entry.StateWords()-2)
}
