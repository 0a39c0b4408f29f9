package emit

import (
	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// fewGroups is the number of groups up to which a CPU goes through a tile once
// for each of them: a loop that adds up all accumulators under one mask is
// vectorised, which adding each row to its cells is not.
const fewGroups = 8

// summand is an accumulator whose operands' sum over a tile fits a word.
type summand struct {
	*accumulator
	words *ir.Array // nil: counts
}

// summands returns the accumulators of a sink that addFew takes, by their
// places.
func (w *kernel) summands(s *harmony.Group, g *shape.Group, slots *ir.Array,
	size value.Value) map[int]*summand {
	out := map[int]*summand{}
	for i, a := range s.To.Accs {
		sum := &summand{accumulator: &accumulator{kernel: w, groups: s.To, index: i, acc: a,
			slots: slots, live: w.liveFlags(), size: size}}
		switch {
		case a.Shares > 0:
			continue
		case a.Fn == queryplan.Count:
		case !g.Accs[i].Fits:
			continue
		default:
			sum.words = w.regs[s.Vals[i].Reg].Words
		}
		out[i] = sum
	}
	return out
}

// add adds to the cells of any number of groups.
func (s *summand) add() {
	if s.words == nil {
		s.count(0)
		return
	}
	s.addWords(s.words)
}

// addFew adds the live rows of a tile to sums, and marks groups that have a
// row, if there are few groups; otherwise it does what many says.
func (w *kernel) addFew(g *harmony.Groups, sums []*summand, slots *ir.Array, size value.Value,
	many func()) {
	one := func() { w.addGroups(g, sums, slots, size) }
	if len(g.Keys) == 0 {
		one()
		return
	}
	few := w.Cur.NewICmp(enum.IPredULT, w.Cur.NewSub(size, i64(1)), i64(fewGroups))
	w.Choose(few, one, many)
}

// addGroups goes through the tile for each group.
func (w *kernel) addGroups(g *harmony.Groups, sums []*summand, slots *ir.Array, size value.Value) {
	live := w.liveFlags()
	w.Loop(size, func(group value.Value) {
		totals := make([]value.Value, len(sums))
		var rows value.Value
		w.reduce(len(sums)+1, func(i value.Value, before []value.Value) []value.Value {
			in := w.Flag(live, i)
			if len(g.Keys) > 0 {
				in = w.Cur.NewAnd(in, w.Cur.NewICmp(enum.IPredEQ, w.Get(slots, i), group))
			}
			after := []value.Value{w.Cur.NewAdd(before[0], w.Cur.NewZExt(in, types.I64))}
			for k, s := range sums {
				next := before[k+1]
				if s.words != nil {
					next = w.Cur.NewAdd(next, w.Cur.NewSelect(in, w.Get(s.words, i), i64(0)))
				}
				after = append(after, next)
			}
			return after
		}, func(result []value.Value) { rows, totals = result[0], result[1:] })
		w.When(w.Cur.NewICmp(enum.IPredNE, rows, i64(0)), func() {
			w.Store(i64(1), w.At(types.I64, w.Param(abi.GroupOccupied, g.Name, 0), group))
			for k, s := range sums {
				s.addTotal(group, totals[k], rows)
			}
		})
	})
}

// addTotal adds the sum and the number of rows to the cells of a group.
func (s *summand) addTotal(group, total, rows value.Value) {
	cell := s.At(types.I64, s.cells(0), s.Cur.NewMul(group, i64(int64(s.stride()))))
	count := func(word int) {
		s.Call("rf_cell_add", s.At(types.I64, cell, i64(int64(word))), rows, s.shared())
	}
	if s.words == nil {
		count(0)
		return
	}
	s.Call("rf_cell_add_i128", cell, total, s.Cur.NewAShr(total, i64(63)), s.shared())
	if s.acc.Fn == queryplan.Avg {
		count(s.stride() - 1)
	}
}

// reduce emits a loop over the live items' places that carries n words, from 0.
func (w *kernel) reduce(n int, body func(i value.Value, before []value.Value) []value.Value,
	use func(result []value.Value)) {
	start := w.Cur
	head, inside, after := w.NewBlock("loop"), w.NewBlock("item"), w.NewBlock("after")
	start.NewBr(head)
	i := head.NewPhi(llvm.NewIncoming(i64(0), start))
	carried := make([]*llvm.InstPhi, n)
	values := make([]value.Value, n)
	for k := range carried {
		carried[k] = head.NewPhi(llvm.NewIncoming(i64(0), start))
		values[k] = carried[k]
	}
	head.NewCondBr(head.NewICmp(enum.IPredSLT, i, w.tile.count), inside, after)
	w.Cur = inside
	for k, v := range body(i, values) {
		carried[k].Incs = append(carried[k].Incs, llvm.NewIncoming(v, w.Cur))
	}
	i.Incs = append(i.Incs, llvm.NewIncoming(w.Cur.NewAdd(i, i64(1)), w.Cur))
	w.Cur.NewBr(head)
	w.Cur = after
	use(values)
}
