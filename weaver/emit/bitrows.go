package emit

import (
	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
)

// bitRows is a second form of a CPU's last expansion: the matches of a row are
// bits, of which a round takes those whose tuples no earlier match has found
// (primitives/src/bitrows.h). Where relations are dense, a rule finds most
// tuples hundreds of times, and 64 of them then cost one operation.
//
// It is for a kernel with one insert, in whose tuples one column comes from the
// match and the others from the row. The engine chooses between the forms, by
// the parameter IndexBitRows.
type bitRows struct {
	*expansion
	insert *harmony.Insert
	col    int             // of the tuple, that comes from the match
	gather *harmony.Gather // which reads it

	on           value.Value // whether the engine has chosen bit rows
	width        int64       // words of the bits
	keys, rests  *ir.Array
	live         *ir.Array
	count        value.Value // rows of the tile
	next         value.Value // variable: where the next round begins
	found, words *ir.Array   // rows of the tile, and the column's words
}

// maxBitRow is the most bits of a column whose words become bits.
const maxBitRow = 20

// bitRowsOf returns how to expand by bit rows, or nil if the kernel is not for
// them. The keys of the probe are packed, and live says which are in range.
func (x *expansion) bitRowsOf(k *keys, packed, live *ir.Array) *bitRows {
	w := x.kernel
	if w.Target.GPU || len(w.k.Sinks) != 1 || k.mayBeWide() {
		return nil
	}
	insert, ok := w.k.Sinks[0].(*harmony.Insert)
	if !ok || len(insert.Vals) < 2 {
		return nil
	}
	if form, known := w.Fixed(abi.SetForm, insert.To.Name, 0); known &&
		abi.Form(form) != abi.Direct && abi.Form(form) != abi.Hash {
		return nil
	}
	b := &bitRows{expansion: x, insert: insert, keys: packed, live: live, count: w.tile.count}
	loads := map[*harmony.Reg]*harmony.Load{}
	for _, stage := range w.work.Stages[x.stage+1:] {
		if w.k.PositionOf(stage) != nil {
			return nil
		}
		switch stage := stage.(type) {
		case *harmony.Load:
			if _, ofRows := w.k.Source.(*harmony.Rows); !ofRows {
				return nil
			}
			loads[stage.Out] = stage
		case *harmony.Gather:
			if stage.Row != x.probe.Out || b.gather != nil {
				return nil
			}
			b.gather = stage
		default:
			return nil
		}
	}
	if b.gather == nil || !w.Shape.ByRow(w.Shape.ColumnOf(b.gather)) || !b.findColumn() ||
		!b.readsRows(loads) {
		return nil
	}
	b.begin(loads)
	return b
}

// findColumn finds the one column of the tuple that comes from the match, and
// how many words its bits take.
func (b *bitRows) findColumn() bool {
	b.col = -1
	for c, v := range b.insert.Vals {
		_, known := b.Fixed(abi.SetShift, b.insert.To.Name, c)
		_, also := b.Fixed(abi.SetBits, b.insert.To.Name, c)
		if v.Reg == nil || !known || !also {
			return false
		}
		if v.Reg == b.gather.Out {
			if b.col >= 0 {
				return false
			}
			b.col = c
		}
	}
	if b.col < 0 {
		return false
	}
	bits, _ := b.Fixed(abi.SetBits, b.insert.To.Name, b.col)
	b.width = (1<<bits + 63) / 64
	return bits <= maxBitRow
}

// readsRows reports whether the other columns are plain words of the row.
func (b *bitRows) readsRows(loads map[*harmony.Reg]*harmony.Load) bool {
	for c, v := range b.insert.Vals {
		if c == b.col {
			continue
		}
		if load := loads[v.Reg]; load != nil {
			if !b.Shape.ByRow(b.Shape.ColumnOf(load)) {
				return false
			}
		} else if s := b.tile.regs[v.Reg]; s == nil || s.High != nil || s.Present != nil {
			return false
		}
	}
	return true
}

// begin packs the tile's other columns of the tuple, without a gap for the one
// that comes from the match. Rows of words out of bounds are not live, as no
// tuple has them.
func (b *bitRows) begin(loads map[*harmony.Reg]*harmony.Load) {
	w, to := b.kernel, b.insert.To.Name
	rows := w.Param(abi.IndexBitRows, b.probe.Index.Name, b.gather.Col)
	word := &llvm.InstPtrToInt{From: rows, To: types.I64}
	w.Cur.Insts = append(w.Cur.Insts, word)
	b.on = w.Cur.NewICmp(enum.IPredNE, word, i64(0))
	b.rests, b.found, b.words = w.Array(types.I64), w.Array(types.I32), w.Array(types.I64)
	b.next = w.Variable(types.I64, i64(0))
	gap, _ := w.Fixed(abi.SetShift, to, b.col)
	bits, _ := w.Fixed(abi.SetBits, to, b.col)
	w.When(b.on, func() {
		w.Loop(b.count, func(i value.Value) {
			rest, in := value.Value(i64(0)), value.Value(nil)
			for c, v := range b.insert.Vals {
				if c == b.col {
					continue
				}
				var at value.Value
				if load := loads[v.Reg]; load != nil {
					row := value.Value(w.Cur.NewAdd(w.start, i))
					if w.tile.source != nil {
						row = w.Get(w.tile.source, i)
					}
					at = w.EntryOf(w.Shape.ColumnOf(load), row, nil)
				} else {
					at = w.Get(w.tile.regs[v.Reg].Words, i)
				}
				shift, _ := w.Fixed(abi.SetShift, to, c)
				size, _ := w.Fixed(abi.SetBits, to, c)
				offset := value.Value(w.Cur.NewSub(at, w.Param(abi.SetBase, to, c)))
				in = w.Both(in, w.Cur.NewICmp(enum.IPredULT, offset, i64(1<<size)))
				if shift > gap {
					shift -= bits
				}
				rest = w.Cur.NewOr(rest, w.Cur.NewShl(offset, i64(shift&63)))
			}
			w.Set(b.rests, i, rest)
			w.SetFlag(b.live, i, w.Cur.NewAnd(w.Flag(b.live, i), in))
		})
	})
	b.total = w.Cur.NewSelect(b.on, w.Cur.NewMul(b.count, i64(b.width)), b.total)
}

// round takes the items from first on, and returns their number.
func (b *bitRows) round(first value.Value) value.Value {
	w, to := b.kernel, b.insert.To.Name
	w.Store(first, b.next)
	return w.Call("rf_bitrows_round", b.found.Ptr, b.words.Ptr, b.next, b.keys.Ptr, b.rests.Ptr,
		b.live.Ptr, w.Param(abi.IndexBitRows, b.probe.Index.Name, b.gather.Col),
		w.Param(abi.SetSeen, to, b.col), i64(b.width), w.Param(abi.SetBase, to, b.col), b.count,
		i32(w.Target.Items))
}
