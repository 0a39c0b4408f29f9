package emit

import (
	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
	"github.com/redfoxdb/redfox/weaver/expr"
)

// sift looks at the set that the outputs of an expansion go to before it makes
// them the tile: those that are there are left out. Recursive rules find most
// tuples again, which then cost a loop of a few instructions in place of the
// registers, the key and the flags of an item.
//
// It is for the last expansion of a CPU's kernel with one insert, where nothing
// but the row and its match decides the tuple, and for bit sets. A set that
// others write may have a bit set later: the insert looks again.
type sift struct {
	*expansion
	insert *harmony.Insert
	// read are the loads and gathers behind the expansion, by what they define.
	read  map[*harmony.Reg]harmony.Stage
	outer map[*harmony.Reg]*ir.Stored // registers of the rows
	// rest is how many rounds are not sifted, because a round before them had
	// mostly new tuples.
	rest value.Value
}

// siftRest is how many rounds follow one of mostly new tuples unsifted.
const siftRest = 15

// siftOf returns how to sift the outputs of an expansion, or nil.
func (x *expansion) siftOf() *sift {
	w := x.kernel
	if w.Target.GPU || len(w.k.Sinks) != 1 {
		return nil
	}
	insert, ok := w.k.Sinks[0].(*harmony.Insert)
	if !ok || len(insert.Vals) == 0 {
		return nil
	}
	form, known := w.Fixed(abi.SetForm, insert.To.Name, 0)
	if known && abi.Form(form) != abi.Direct {
		return nil
	}
	for c := range insert.Vals {
		if _, ok := w.Fixed(abi.SetShift, insert.To.Name, c); !ok {
			return nil
		}
	}
	s := &sift{expansion: x, insert: insert, outer: w.tile.regs,
		read: map[*harmony.Reg]harmony.Stage{}}
	for _, stage := range w.work.Stages[x.stage+1:] {
		switch stage := stage.(type) {
		case *harmony.Load:
		case *harmony.Gather:
			if stage.Row != x.probe.Out {
				return nil
			}
		default:
			return nil
		}
		_, ofRows := w.k.Source.(*harmony.Rows)
		if !ofRows || w.k.PositionOf(stage) != nil || !w.Shape.ByRow(w.Shape.ColumnOf(stage)) {
			return nil
		}
		s.read[harmony.Def(stage)] = stage
	}
	for _, v := range insert.Vals {
		if v.Reg == nil {
			return nil
		}
		if from := w.tile.regs[v.Reg]; s.read[v.Reg] == nil &&
			(from == nil || from.High != nil || from.Present != nil) {
			return nil
		}
	}
	s.rest = x.Variable(types.I64, i64(0))
	x.Store(i64(0), s.rest)
	return s
}

// round leaves the outputs that may be new, in order.
func (s *sift) round(row, places *ir.Array) {
	w, name := s.kernel, s.insert.To.Name
	count := w.Variable(types.I64, i64(0))
	w.Store(w.tile.count, count)
	rest := w.Load(types.I64, s.rest)
	now := value.Value(w.Cur.NewICmp(enum.IPredEQ, rest, i64(0)))
	w.Store(w.Cur.NewSelect(now, i64(0), w.Cur.NewSub(rest, i64(1))), s.rest)
	look := func(in bitsOf) {
		w.Store(i64(0), count)
		s.eachMatch(places, func(i, place, match value.Value) {
			at, from := w.Load(types.I64, count), w.Get(row, i)
			absent := s.absent(row, match, i, in)
			w.Set(row, at, from)
			w.Set(places, at, place)
			w.Store(w.Cur.NewAdd(at, w.Cur.NewZExt(absent, types.I64)), count)
		})
		many := w.Cur.NewICmp(enum.IPredSGT, w.Cur.NewMul(w.Load(types.I64, count), i64(2)),
			w.tile.count)
		w.Store(w.Cur.NewSelect(many, i64(siftRest), i64(0)), s.rest)
	}
	table := w.Param(abi.SetTable, name, 0)
	direct := func() { look(bitsOf{words: table}) }
	if _, known := w.Fixed(abi.SetForm, name, 0); known {
		w.When(now, direct)
	} else {
		form := w.Param(abi.SetForm, name, 0)
		is := func(f abi.Form) value.Value {
			return w.Cur.NewAnd(now, w.Cur.NewICmp(enum.IPredEQ, form, i64(int64(f))))
		}
		w.When(is(abi.Direct), direct)
		w.When(is(abi.Numbered), func() { look(w.numberedBits(table)) })
	}
	w.setCount(w.Function, w.Load(types.I64, count))
}

// bitsOf are the bits of a set, which has one for all tuples that there can be.
type bitsOf struct {
	words value.Value
	// The rest is about form Numbered, see primitives/src/tables.h.
	numbers, shift, rests value.Value
}

// numberedBits reads where the bits of a set of form Numbered are.
func (w *kernel) numberedBits(table value.Value) bitsOf {
	pointer := func(i int64) value.Value {
		return w.Load(expr.Ptr(), w.At(types.I64, table, i64(i)))
	}
	word := func(i int64) value.Value { return w.Load(types.I64, w.At(types.I64, table, i64(i))) }
	return bitsOf{words: pointer(0), numbers: pointer(1), shift: word(2), rests: word(3)}
}

// placeOf returns the bit of a key.
func (w *kernel) placeOf(in bitsOf, key value.Value) value.Value {
	if in.numbers == nil {
		return key
	}
	low := w.Cur.NewXor(w.Cur.NewShl(i64(-1), in.shift), i64(-1))
	n := w.Cur.NewZExt(w.loadShared(w.At(types.I32, in.numbers, w.Cur.NewAnd(key, low))),
		types.I64)
	line := w.Cur.NewAdd(w.Cur.NewMul(w.Cur.NewLShr(n, i64(abi.LineBits)), in.rests),
		w.Cur.NewLShr(key, in.shift))
	return w.Cur.NewOr(w.Cur.NewShl(line, i64(abi.LineBits)),
		w.Cur.NewAnd(n, i64(1<<abi.LineBits-1)))
}

// absent reports whether the tuple of an output is not in the set.
func (s *sift) absent(row *ir.Array, match, i value.Value, bits bitsOf) value.Value {
	w, name := s.kernel, s.insert.To.Name
	key := value.Value(i64(0))
	for c, v := range s.insert.Vals {
		shift, _ := w.Fixed(abi.SetShift, name, c)
		offset := w.Cur.NewSub(s.word(v.Reg, row, match, i), w.Param(abi.SetBase, name, c))
		key = w.Cur.NewOr(key, w.Cur.NewShl(offset, i64(shift&63)))
	}
	in := w.Cur.NewICmp(enum.IPredULT, key, w.Param(abi.SetSize, name, 0))
	key = w.placeOf(bits, w.Cur.NewSelect(in, key, i64(0)))
	word := w.loadShared(w.At(types.I32, bits.words, w.Cur.NewLShr(key, i64(5))))
	bit := w.Cur.NewLShr(word, w.Cur.NewAnd(w.Cur.NewTrunc(key, types.I32), i32(31)))
	there := w.Cur.NewAnd(in, w.Cur.NewTrunc(bit, types.I1))
	return w.Cur.NewXor(there, constant.True)
}

// word returns a register of an output.
func (s *sift) word(reg *harmony.Reg, row *ir.Array, match, i value.Value) value.Value {
	switch stage := s.read[reg].(type) {
	case *harmony.Gather:
		return s.EntryOf(s.Shape.ColumnOf(stage), match, nil)
	case *harmony.Load:
		return s.EntryOf(s.Shape.ColumnOf(stage), s.sourceRow(row, i), nil)
	}
	return s.item(types.I64, s.outer[reg].Words.Ptr, row, i)
}

// loadShared reads a word of 32 bits that other workers may write.
func (w *kernel) loadShared(p value.Value) value.Value {
	load := llvm.NewLoad(types.I32, p)
	load.Atomic, load.Ordering, load.Align = true, enum.AtomicOrderingMonotonic, 4
	w.Cur.Insts = append(w.Cur.Insts, load)
	return load
}
