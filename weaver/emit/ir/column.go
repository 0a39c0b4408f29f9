package ir

import (
	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/weaver/expr"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// ColumnWords are the parameters of a column.
type ColumnWords struct{ Data, Base, Step, Width value.Value }

// ColumnWords returns the parameters of a column; a column without width has no
// data.
func (f *Function) ColumnWords(c shape.Column) ColumnWords {
	p := ColumnWords{
		Data:  Null,
		Base:  f.Param(c.Base, c.Name, c.Index),
		Step:  f.Param(c.Step, c.Name, c.Index),
		Width: f.Param32(c.Width, c.Name, c.Index),
	}
	if width, known := f.Fixed(c.Width, c.Name, c.Index); !known || width > 0 {
		p.Data = f.Param(c.Data, c.Name, c.Index)
	}
	return p
}

// Both returns the conjunction of two truths, of which nil is true.
func (f *Function) Both(a, b value.Value) value.Value {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return f.Cur.NewAnd(a, b)
}

// Truth returns a truth as a value.
func (f *Function) Truth(a value.Value) value.Value {
	if a == nil {
		return constant.True
	}
	return a
}

// WordValue makes a value of a word that is always there.
func WordValue(f *Function, t scalar.Type, word value.Value) expr.Value {
	v := expr.Value{Type: t, Word: word}
	if t.Kind == scalar.Boolean {
		v.Word = f.Cur.NewICmp(enum.IPredNE, word, I64(0))
	}
	return v
}

// EntryOf reads one entry of a column. Where the guard does not hold the row is
// anything and the word unspecified.
func (f *Function) EntryOf(c shape.Column, row, guard value.Value) value.Value {
	p := f.ColumnWords(c)
	data := p.Data
	width, known := f.Fixed(c.Width, c.Name, c.Index)
	if known && width == 0 {
		return p.Base
	}
	if !known || abi.PackedBits(width) > 0 {
		if f.Target.GPU && guard != nil {
			word := f.Variable(types.I64, I64(0))
			f.Store(p.Base, word)
			f.When(guard, func() { f.Store(f.EntryOf(c, row, nil), word) })
			return f.Load(types.I64, word)
		}
		if guard != nil {
			row = f.Cur.NewSelect(guard, row, I64(0))
			data = f.ChoosePointer(guard, data)
		}
		return f.Call("rf_column_word", data, p.Width, p.Base, p.Step, row)
	}
	t := types.NewInt(uint64(8 * width))
	word := f.LoadIf(t, guard, f.At(t, data, row))
	if width < 8 {
		word = f.Cur.NewZExt(word, types.I64)
	}
	return f.Cur.NewAdd(p.Base, f.Cur.NewMul(p.Step, word))
}

// LoadIf reads what is at p where the guard holds, or it is nil; else the value
// is any of memory's. A GPU has no memory of its own to read then, short of a
// stack, and branches.
func (f *Function) LoadIf(t *types.IntType, guard, p value.Value) value.Value {
	switch {
	case guard == nil:
		return f.Load(t, p)
	case !f.Target.GPU:
		return f.Load(t, f.ChoosePointer(guard, p))
	}
	zero := constant.NewInt(t, 0)
	v := f.Variable(t, zero)
	f.Store(zero, v)
	f.When(guard, func() { f.Store(f.Load(t, p), v) })
	return f.Load(t, v)
}

// ChoosePointer is p where the guard holds, else the address of two words that
// are 0.
func (f *Function) ChoosePointer(guard, p value.Value) value.Value {
	if f.nowhere == nil {
		f.nowhere = f.Alloca(types.I64, 2)
		f.InFirst(func() value.Value {
			f.Store(I64(0), f.nowhere)
			f.Store(I64(0), f.At(types.I64, f.nowhere, I64(1)))
			return nil
		})
	}
	s := &llvm.InstSelect{Cond: guard, ValueTrue: p, ValueFalse: f.nowhere, Typ: expr.Ptr()}
	f.Cur.Insts = append(f.Cur.Insts, s)
	return s
}
