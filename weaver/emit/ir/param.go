package ir

import (
	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/weaver/expr"
)

// Fixed returns the constant that a parameter is.
func (f *Function) Fixed(kind abi.Kind, name string, index int) (int64, bool) {
	return f.Shape.Fixed(kind, name, index)
}

// Param returns a parameter: an address, or an i64. It is read in the
// function's first block.
func (f *Function) Param(kind abi.Kind, name string, index int) value.Value {
	if c, ok := f.Fixed(kind, name, index); ok {
		return I64(c)
	}
	p := abi.Param{Kind: kind, Var: name, Index: index}
	if v := f.params[p]; v != nil {
		return v
	}
	at := len(f.Entry.Params)
	f.Entry.Params = append(f.Entry.Params, p)
	switch {
	case !f.Target.GPU:
		t := types.Type(types.I64)
		if kind.IsAddress() {
			t = expr.Ptr()
		}
		f.params[p] = f.InFirst(func() value.Value {
			return f.Load(t, f.At(types.I64, f.words, I64(int64(at))))
		})
	case kind.IsAddress():
		f.params[p] = f.globalParam(f.Fresh("p"))
	default:
		v := llvm.NewParam(f.Fresh("p"), types.I64)
		f.fn.Params = append(f.fn.Params, v)
		f.params[p] = v
	}
	return f.params[p]
}

// globalParam adds a parameter that is an address in a GPU's global memory. It
// is declared as one: what LLVM derives from it needs no generic address.
func (f *Function) globalParam(name string) value.Value {
	v := llvm.NewParam(name, pointerTo{globalSpace})
	f.fn.Params = append(f.fn.Params, v)
	return f.InFirst(func() value.Value { return f.Generic(v) })
}

// Param32 is Param, as an i32.
func (f *Function) Param32(kind abi.Kind, name string, index int) value.Value {
	if c, ok := f.Fixed(kind, name, index); ok {
		return I32(int(c))
	}
	word := f.Param(kind, name, index)
	return f.InFirst(func() value.Value { return f.Cur.NewTrunc(word, types.I32) })
}

// InFirst emits something at the end of the first block.
func (f *Function) InFirst(emit func() value.Value) value.Value {
	here := f.Cur
	f.Cur = f.first
	v := emit()
	f.Cur = here
	return v
}

// Literal is a constant among the codes of a domain.
type literal struct {
	value  scalar.Value
	domain int
}

// Literal returns the number of a constant.
func (f *Function) Literal(v scalar.Value, d *domain.Domain) int {
	l := literal{value: v}
	if d != nil {
		l.domain = d.ID
	}
	at, ok := f.literals[l]
	if !ok {
		at = len(f.Entry.Literals)
		f.literals[l] = at
		f.Entry.Literals = append(f.Entry.Literals, abi.Literal{Value: v, Domain: l.domain})
	}
	return at
}

// Constant returns a constant of the program, whose words are parameters.
func (f *Function) Constant(v scalar.Value, d *domain.Domain) expr.Value {
	e := expr.Value{Type: v.Type, Literal: &v}
	if v.Type.Kind == scalar.String && d == nil {
		return e // it has no code; what takes it takes its text
	}
	at := f.Literal(v, d)
	word := f.Param(abi.LiteralWord, "", at)
	switch {
	case v.Type.Kind == scalar.Boolean:
		e.Word = f.InFirst(func() value.Value { return f.Cur.NewICmp(enum.IPredNE, word, I64(0)) })
	case !v.FitsWord():
		high := f.Param(abi.LiteralHigh, "", at)
		e.Wide = f.InFirst(func() value.Value { return f.Join(word, high) })
	default:
		e.Word = word
	}
	return e
}

// Join makes 128 bits of a low and a high word.
func (f *Function) Join(low, high value.Value) value.Value {
	top := f.Cur.NewShl(f.Cur.NewZExt(high, types.I128), IntOf(types.I128, 64))
	return f.Cur.NewOr(top, f.Cur.NewZExt(low, types.I128))
}
