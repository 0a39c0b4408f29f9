package expr

import (
	"fmt"

	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// opaque is the type ptr. Package types only has pointers to something, which
// LLVM does not read any more from version 17 on.
type opaque struct{}

func (opaque) String() string              { return "ptr" }
func (opaque) LLString() string            { return "ptr" }
func (opaque) Name() string                { return "" }
func (opaque) SetName(string)              {}
func (opaque) Equal(other types.Type) bool { return other == types.Type(opaque{}) }

// Ptr returns the type of pointers, ptr.
func Ptr() types.Type { return opaque{} }

// pointer is a value that is printed with the type ptr.
type pointer struct{ value.Value }

func (p pointer) Type() types.Type { return opaque{} }
func (p pointer) String() string   { return fmt.Sprintf("ptr %s", p.Ident()) }

// AsPtr returns an address that package ir gives a typed pointer type, such as
// a global's or an alloca's, as a value of type ptr.
func AsPtr(v value.Value) value.Value { return pointer{v} }

// variable makes a variable in the function's first block. LLVM turns it into a
// register once what it is passed to has been inlined.
func (b *Block) variable(t types.Type) value.Value {
	entry := b.Fn.Blocks[0]
	v := ir.NewAlloca(t)
	entry.Insts = append([]ir.Instruction{v}, entry.Insts...)
	return pointer{v}
}
