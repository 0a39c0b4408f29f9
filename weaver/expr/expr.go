package expr

import (
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// The types of words, truths and wide decimals.
var (
	I1   = types.I1
	I32  = types.I32
	I64  = types.I64
	I128 = types.I128
)

// Value is a value of one row.
type Value struct {
	Type scalar.Type
	// Word holds the 64 bits that scalar.Value.Bits has, as an i64; of a
	// boolean it is an i1. It is nil if Wide is set, and may be of a string
	// literal.
	Word value.Value
	// Wide is a decimal that may need more than 64 bits, as an i128.
	Wide value.Value
	// Present is an i1; nil says that there always is a value.
	Present value.Value
	// Lo and Hi bound the word, as a signed number, of every value that is
	// present.
	Lo, Hi  int64
	Bounded bool
	// Literal is the value of a constant of the program, whose word is a
	// parameter all the same.
	Literal *scalar.Value

	// wideBits is a size of Wide: -2^n <= Wide < 2^n; 0 stands for 127.
	wideBits int
	// low holds the low 32 bits of the word lowOf, as an i32; see Block.low.
	low, lowOf value.Value
}

// Block is where instructions go.
type Block struct {
	// Fn is the function; its module takes declarations of intrinsics, and its
	// first block variables.
	Fn *ir.Func
	// Cur is the block that instructions are added to.
	Cur *ir.Block
	// Call calls a primitive, which it declares on first use, and returns its
	// result.
	Call func(primitive string, args ...value.Value) value.Value
	// Fresh makes a name that the function does not have yet.
	Fresh func(prefix string) string
}

// function is how a function of the language is emitted.
type function struct {
	// takes says which overloads there are, beyond what the language has.
	takes func(result scalar.Type, args []scalar.Type) bool
	emit  func(b *Block, result scalar.Type, args []Value) Value
}

// Supported reports whether Apply has a native form of a call. Those with
// strings among their arguments have none, but for a unit of time: see
// LiteralArg.
func Supported(f *scalar.Func, result scalar.Type, args []scalar.Type) bool {
	fn, ok := functions[f.Name]
	if !ok || len(args) != f.Arity() || result.Kind == scalar.String {
		return false
	}
	unit, hasUnit := LiteralArg(f)
	for i, t := range args {
		if t.Kind == scalar.String && !(hasUnit && i == unit) {
			return false
		}
	}
	return fn.takes == nil || fn.takes(result, args)
}

// LiteralArg returns the argument that has to be a literal for Apply: the unit
// of datetime:part, datetime:add and datetime:subtract. Only its Literal is
// looked at.
func LiteralArg(f *scalar.Func) (arg int, ok bool) {
	arg, ok = unitArgs[f.Name]
	return arg, ok
}

// Apply emits a call that Supported accepts, with arguments of the signature's
// parameter types. It has no value where an argument has none, but for holds,
// which is false there.
func Apply(b *Block, f *scalar.Func, result scalar.Type, args []Value) Value {
	r := functions[f.Name].emit(b, result, args)
	r.Type = result
	if f.Name == "holds" {
		return r
	}
	present := make([]value.Value, 0, len(args)+1)
	for _, a := range args {
		present = append(present, a.Present)
	}
	r.Present = b.all(append(present, r.Present)...)
	return r
}

// Fits returns an i1 that says whether there is a value and it is within 64
// bits; nil if that is always so.
func Fits(b *Block, v Value) value.Value {
	if v.Wide == nil {
		return v.Present
	}
	return b.all(v.Present, b.fitsWord(v.Wide))
}

// Narrow returns a value that is known to fit 64 bits with a word.
func Narrow(b *Block, v Value) Value {
	if v.Wide != nil {
		v.Word, v.Wide = b.trunc(v.Wide, I64), nil
	}
	return v
}
