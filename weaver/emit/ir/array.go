package ir

import (
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/weaver/expr"
)

// Array has an element for each item that a thread holds.
type Array struct {
	Ptr  value.Value
	Elem *types.IntType
}

// FlagPadding is the room behind an array of flags, so that those of the items
// that fill up a count are cleared by one store.
const FlagPadding = 32

// Array makes an array of a thread's items. An array of bytes has room for
// flags.
func (f *Function) Array(elem *types.IntType) *Array {
	n := f.Target.Items
	if elem == types.I8 && !f.Target.GPU {
		n += FlagPadding
	}
	return &Array{f.Alloca(elem, n), elem}
}

// Get reads an element.
func (f *Function) Get(a *Array, i value.Value) value.Value {
	return f.Load(a.Elem, f.At(a.Elem, a.Ptr, i))
}

// Set writes an element.
func (f *Function) Set(a *Array, i, v value.Value) { f.Store(v, f.At(a.Elem, a.Ptr, i)) }

// Flag reads an element of an array of bytes as a truth.
func (f *Function) Flag(a *Array, i value.Value) value.Value {
	return f.Cur.NewICmp(enum.IPredNE, f.Get(a, i), I8(0))
}

// SetFlag writes a truth to an element of an array of bytes.
func (f *Function) SetFlag(a *Array, i, v value.Value) { f.Set(a, i, f.Cur.NewZExt(v, types.I8)) }

// Stored is a register whose items stand in arrays.
type Stored struct {
	Type    scalar.Type
	Words   *Array
	High    *Array // upper halves of 128 bits, nil if the register fits words
	Present *Array // bytes; nil if there always is a value
	// Lo and Hi bound the words, if bounded.
	Lo, Hi  int64
	Bounded bool
}

// Read returns a register's value of item i from its arrays.
func (f *Function) Read(r *Stored, i value.Value) expr.Value {
	v := expr.Value{Type: r.Type}
	word := f.Get(r.Words, i)
	switch {
	case r.High != nil:
		v.Wide = f.Join(word, f.Get(r.High, i))
	case r.Type.Kind == scalar.Boolean:
		v.Word = f.Cur.NewICmp(enum.IPredNE, word, I64(0))
	default:
		v.Word = word
	}
	if r.Present != nil {
		v.Present = f.Flag(r.Present, i)
	}
	v.Lo, v.Hi, v.Bounded = r.Lo, r.Hi, r.Bounded
	return v
}

// NewStored makes arrays for a register whose values are like v.
func (f *Function) NewStored(v expr.Value) *Stored {
	r := &Stored{Type: v.Type, Words: f.Array(types.I64), Lo: v.Lo, Hi: v.Hi, Bounded: v.Bounded}
	if v.Wide != nil {
		r.High = f.Array(types.I64)
	}
	if v.Present != nil {
		r.Present = f.Array(types.I8)
	}
	return r
}

// Write puts a value into a register's arrays.
func (f *Function) Write(r *Stored, i value.Value, v expr.Value) {
	switch {
	case v.Wide != nil:
		f.Set(r.Words, i, f.Cur.NewTrunc(v.Wide, types.I64))
		f.Set(r.High, i, f.Cur.NewTrunc(f.Cur.NewLShr(v.Wide, IntOf(types.I128, 64)), types.I64))
	default:
		f.Set(r.Words, i, f.Word(v))
	}
	if v.Present != nil {
		f.SetFlag(r.Present, i, v.Present)
	}
}

// Word returns the 64 bits of a value as columns keep them.
func (f *Function) Word(v expr.Value) value.Value {
	if v.Type.Kind == scalar.Boolean {
		return f.Cur.NewZExt(v.Word, types.I64)
	}
	return v.Word
}

// IntOf returns a constant of a type.
func IntOf(t *types.IntType, v int64) value.Value { return constant.NewInt(t, v) }

// Arrays returns all arrays of a register.
func (r *Stored) Arrays() []*Array {
	out := []*Array{r.Words}
	if r.High != nil {
		out = append(out, r.High)
	}
	if r.Present != nil {
		out = append(out, r.Present)
	}
	return out
}
