package expr

import (
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Form is what a value consists of, without the words themselves.
type Form struct {
	Type     scalar.Type
	Wide     bool // needs 128 bits
	Optional bool // may be missing
	Lo, Hi   int64
	Bounded  bool          // whether Lo and Hi bound the word
	Literal  *scalar.Value // as Value has it

	wideBits int
}

// FormOf returns the form of what Apply returns for arguments of some forms. It
// applies the function to undefined words, in a block that is thrown away: the
// table of functions is the one place that says what they make.
func FormOf(f *scalar.Func, result scalar.Type, args []Form) Form {
	fn := ir.NewFunc("", types.Void)
	fn.Parent = ir.NewModule()
	word := value.Value(constant.NewUndef(I64))
	b := &Block{Fn: fn, Cur: fn.NewBlock(""),
		Call:  func(string, ...value.Value) value.Value { return word },
		Fresh: func(prefix string) string { return prefix },
	}
	values := make([]Value, len(args))
	for i, a := range args {
		v := Value{
			Type:     a.Type,
			Lo:       a.Lo,
			Hi:       a.Hi,
			Bounded:  a.Bounded,
			Literal:  a.Literal,
			wideBits: a.wideBits,
		}
		switch {
		case a.Wide:
			v.Wide = constant.NewUndef(I128)
		case a.Type.Kind == scalar.Boolean:
			v.Word = constant.NewUndef(I1)
		default:
			v.Word = word
		}
		if a.Optional {
			v.Present = constant.NewUndef(I1)
		}
		values[i] = v
	}
	r := Apply(b, f, result, values)
	return Form{
		Type:     r.Type,
		Wide:     r.Wide != nil,
		Optional: r.Present != nil,
		Lo:       r.Lo,
		Hi:       r.Hi,
		Bounded:  r.Bounded,
		wideBits: r.wideBits,
	}
}

// Stored returns the form that a value has once it is read again from where it
// was stored.
func (f Form) Stored() Form {
	f.Literal, f.wideBits = nil, 0
	return f
}
