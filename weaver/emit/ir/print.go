package ir

import (
	"strconv"
	"strings"

	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// printer prints functions as llir/llvm does, byte for byte, in a tenth of the
// time: it appends the instructions that the generator uses most to one buffer,
// where llir/llvm formats each operand into a string of its own. Printing was
// most of the time that the code of a program of 4,000 rules took.
type printer struct{ b []byte }

// function appends the definition of a function.
func (p *printer) function(f *llvm.Func) {
	if err := f.AssignIDs(); err != nil {
		panic(err) // all that the generator makes has a number in its order, or none
	}
	// The head comes from llir/llvm, of a function without instructions.
	empty := &llvm.Func{GlobalIdent: f.GlobalIdent, Sig: f.Sig, Params: f.Params, Typ: f.Typ,
		Linkage: f.Linkage, FuncAttrs: f.FuncAttrs, ReturnAttrs: f.ReturnAttrs,
		CallingConv: f.CallingConv, Visibility: f.Visibility, Metadata: f.Metadata}
	empty.Blocks = []*llvm.Block{{LocalIdent: llvm.LocalIdent{LocalName: "entry"},
		Term: llvm.NewUnreachable()}}
	head, _, _ := strings.Cut(empty.LLString(), "{\n")
	p.text(head)
	p.text("{\n")
	for i, b := range f.Blocks {
		if i > 0 {
			p.text("\n")
		}
		p.block(b)
	}
	p.text("}")
}

func (p *printer) block(b *llvm.Block) {
	if b.IsUnnamed() {
		p.b = strconv.AppendInt(p.b, b.LocalID, 10)
		p.text(":\n")
	} else {
		// The label of a name is what the name's reference has behind its %.
		p.text(b.Ident()[1:])
		p.text(":\n")
	}
	for _, inst := range b.Insts {
		p.text("\t")
		p.instruction(inst)
		p.text("\n")
	}
	p.text("\t")
	p.terminator(b.Term)
	p.text("\n")
}

func (p *printer) instruction(inst llvm.Instruction) {
	switch i := inst.(type) {
	case *llvm.InstGetElementPtr:
		if len(i.Metadata) == 0 {
			p.elementPtr(i)
			return
		}
	case *llvm.InstLoad:
		if !i.Atomic && !i.Volatile && i.SyncScope == "" &&
			i.Ordering == enum.AtomicOrderingNone && i.Align == 0 && len(i.Metadata) == 0 {
			p.defines(i, "load ")
			p.typ(i.ElemType)
			p.text(", ")
			p.operand(i.Src)
			return
		}
	case *llvm.InstStore:
		if !i.Atomic && !i.Volatile && i.SyncScope == "" &&
			i.Ordering == enum.AtomicOrderingNone && i.Align == 0 && len(i.Metadata) == 0 {
			p.text("store ")
			p.operand(i.Src)
			p.text(", ")
			p.operand(i.Dst)
			return
		}
	case *llvm.InstICmp:
		if len(i.Metadata) == 0 {
			p.defines(i, "icmp ")
			p.text(i.Pred.String())
			p.text(" ")
			p.pair(i.X, i.Y)
			return
		}
	case *llvm.InstPhi:
		if len(i.FastMathFlags) == 0 && len(i.Metadata) == 0 {
			p.phi(i)
			return
		}
	case *llvm.InstSelect:
		if len(i.FastMathFlags) == 0 && len(i.Metadata) == 0 {
			p.defines(i, "select ")
			p.operands(i.Cond, i.ValueTrue, i.ValueFalse)
			return
		}
	case *llvm.InstCall:
		if isPlain(i) {
			p.call(i)
			return
		}
	default:
		if p.arithmetic(inst) {
			return
		}
	}
	p.text(inst.LLString())
}

// arithmetic prints an operation on one or two integers, and reports whether it
// is one.
func (p *printer) arithmetic(inst llvm.Instruction) bool {
	switch i := inst.(type) {
	case *llvm.InstAdd:
		return p.binary(i, "add ", i.X, i.Y, len(i.OverflowFlags), i.Metadata)
	case *llvm.InstSub:
		return p.binary(i, "sub ", i.X, i.Y, len(i.OverflowFlags), i.Metadata)
	case *llvm.InstMul:
		return p.binary(i, "mul ", i.X, i.Y, len(i.OverflowFlags), i.Metadata)
	case *llvm.InstShl:
		return p.binary(i, "shl ", i.X, i.Y, len(i.OverflowFlags), i.Metadata)
	case *llvm.InstAnd:
		return p.binary(i, "and ", i.X, i.Y, 0, i.Metadata)
	case *llvm.InstOr:
		return p.binary(i, "or ", i.X, i.Y, 0, i.Metadata)
	case *llvm.InstXor:
		return p.binary(i, "xor ", i.X, i.Y, 0, i.Metadata)
	case *llvm.InstZExt:
		return p.conversion(i, "zext ", i.From, i.To, i.Metadata)
	case *llvm.InstSExt:
		return p.conversion(i, "sext ", i.From, i.To, i.Metadata)
	case *llvm.InstTrunc:
		return p.conversion(i, "trunc ", i.From, i.To, i.Metadata)
	}
	return false
}

func (p *printer) binary(inst value.Named, name string, x, y value.Value, flags int,
	notes llvm.Metadata) bool {
	if flags > 0 || len(notes) > 0 {
		return false
	}
	p.defines(inst, name)
	p.pair(x, y)
	return true
}

func (p *printer) conversion(inst value.Named, name string, from value.Value, to types.Type,
	notes llvm.Metadata) bool {
	if len(notes) > 0 {
		return false
	}
	p.defines(inst, name)
	p.operand(from)
	p.text(" to ")
	p.typ(to)
	return true
}

func (p *printer) elementPtr(i *llvm.InstGetElementPtr) {
	p.defines(i, "getelementptr ")
	if i.InBounds {
		p.text("inbounds ")
	}
	p.typ(i.ElemType)
	p.text(", ")
	p.operand(i.Src)
	for _, index := range i.Indices {
		p.text(", ")
		p.operand(index)
	}
}

func (p *printer) phi(i *llvm.InstPhi) {
	p.defines(i, "phi ")
	p.typ(i.Typ)
	p.text(" ")
	for n, in := range i.Incs {
		if n > 0 {
			p.text(", ")
		}
		p.text("[ ")
		p.ident(in.X)
		p.text(", ")
		p.ident(in.Pred)
		p.text(" ]")
	}
}

// isPlain reports whether a call has nothing but arguments.
func isPlain(i *llvm.InstCall) bool {
	return i.Tail == enum.TailNone && len(i.FastMathFlags) == 0 &&
		i.CallingConv == enum.CallingConvNone && len(i.ReturnAttrs) == 0 && i.AddrSpace == 0 &&
		!i.Sig().Variadic && len(i.FuncAttrs) == 0 && len(i.OperandBundles) == 0 &&
		len(i.Metadata) == 0
}

func (p *printer) call(i *llvm.InstCall) {
	if t := i.Type(); t.Equal(types.Void) {
		p.text("call ")
	} else {
		p.defines(i, "call ")
	}
	p.typ(i.Type())
	p.text(" ")
	p.text(i.Callee.Ident())
	p.text("(")
	p.operands(i.Args...)
	p.text(")")
}

func (p *printer) terminator(t llvm.Terminator) {
	switch t := t.(type) {
	case *llvm.TermBr:
		if len(t.Metadata) == 0 {
			p.text("br ")
			p.operand(t.Target)
			return
		}
	case *llvm.TermCondBr:
		if len(t.Metadata) == 0 {
			p.text("br ")
			p.operands(t.Cond, t.TargetTrue, t.TargetFalse)
			return
		}
	}
	p.text(t.LLString())
}

// defines begins an instruction with a result.
func (p *printer) defines(inst value.Named, name string) {
	p.ident(inst)
	p.text(" = ")
	p.text(name)
}

// pair prints two operands of one type.
func (p *printer) pair(x, y value.Value) {
	p.operand(x)
	p.text(", ")
	p.ident(y)
}

func (p *printer) operands(list ...value.Value) {
	for i, v := range list {
		if i > 0 {
			p.text(", ")
		}
		p.operand(v)
	}
}

// operand prints a value with its type.
func (p *printer) operand(v value.Value) {
	if a, ok := v.(*llvm.Arg); ok { // with attributes
		p.text(a.String())
		return
	}
	p.typ(v.Type())
	p.text(" ")
	p.ident(v)
}

// ident prints a value without its type.
func (p *printer) ident(v value.Value) {
	switch v := v.(type) {
	case *constant.Int:
		// Larger ones may be printed in hexadecimal.
		if v.Typ.BitSize > 1 && v.X.IsInt64() && v.X.Int64() < 1<<12 {
			p.b = v.X.Append(p.b, 10)
			return
		}
	case interface {
		IsUnnamed() bool
		ID() int64
	}:
		if v.IsUnnamed() {
			p.text("%")
			p.b = strconv.AppendInt(p.b, v.ID(), 10)
			return
		}
	}
	p.text(v.Ident())
}

func (p *printer) typ(t types.Type) {
	if t, ok := t.(*types.IntType); ok && t.TypeName == "" {
		p.text("i")
		p.b = strconv.AppendUint(p.b, t.BitSize, 10)
		return
	}
	p.text(t.String())
}

func (p *printer) text(s string) { p.b = append(p.b, s...) }
