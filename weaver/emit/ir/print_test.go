package ir

import (
	"testing"

	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/metadata"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/weaver/expr"
)

// TestPrinter wants of each instruction what llir/llvm prints, with what may
// stand beside its operands and without.
func TestPrinter(t *testing.T) {
	m := llvm.NewModule()
	callee := m.NewFunc("callee", types.I64, llvm.NewParam("", types.I64))
	nothing := m.NewFunc("nothing", types.Void)
	f := m.NewFunc("f", types.I64, llvm.NewParam("x", types.I64), llvm.NewParam("", types.I64),
		llvm.NewParam("p", pointerTo{globalSpace}))
	f.FuncAttrs = []llvm.FuncAttribute{enum.FuncAttrNoUnwind}
	f.Linkage = enum.LinkageInternal
	x, y, p := value.Value(f.Params[0]), value.Value(f.Params[1]), value.Value(f.Params[2])
	b, next, end := f.NewBlock("entry"), f.NewBlock(""), f.NewBlock("3")
	note := &metadata.Attachment{Name: "note", Node: &metadata.Tuple{MetadataID: 7}}

	big := constant.NewInt(types.I64, 0x7000000000000000)
	sum := b.NewAdd(x, I64(-5))
	flagged := b.NewAdd(sum, big)
	flagged.OverflowFlags = []enum.OverflowFlag{enum.OverflowFlagNSW}
	noted := b.NewSub(flagged, y)
	noted.Metadata = append(noted.Metadata, note)
	b.NewMul(noted, b.NewShl(x, I64(1<<12)))
	b.NewAnd(b.NewOr(x, y), b.NewXor(x, y))
	b.NewSDiv(x, y)
	small := b.NewTrunc(x, types.I8)
	b.NewSExt(b.NewZExt(small, types.I32), types.I128)
	less := b.NewICmp(enum.IPredSLT, x, y)
	b.NewSelect(less, constant.True, constant.False)
	b.NewSelect(less, x, constant.NewUndef(types.I64))
	array := b.NewAlloca(types.NewArray(8, types.I64))
	array.Align = 64
	element := &llvm.InstGetElementPtr{ElemType: types.I64, Src: expr.AsPtr(array),
		Indices: []value.Value{I64(3), I32(1)}, Typ: expr.Ptr()}
	inside := &llvm.InstGetElementPtr{ElemType: types.I64, Src: expr.AsPtr(array),
		Indices: []value.Value{x}, Typ: expr.Ptr(), InBounds: true}
	load := &llvm.InstLoad{ElemType: types.I64, Src: element}
	b.Insts = append(b.Insts, element, inside, load,
		&llvm.InstLoad{ElemType: types.I64, Src: addressIn{p, globalSpace}, Align: 8},
		&llvm.InstStore{Src: load, Dst: inside},
		&llvm.InstStore{Src: load, Dst: Null, Volatile: true})
	called := b.NewCall(callee, load)
	b.NewCall(callee, llvm.NewArg(called, enum.ParamAttrNoUndef)).Tail = enum.TailTail
	b.NewCall(nothing)
	b.NewCondBr(less, next, end)
	phi := next.NewPhi(llvm.NewIncoming(x, b), llvm.NewIncoming(I64(7), next))
	next.NewICmp(enum.IPredEQ, phi, phi)
	next.NewBr(next)
	end.NewRet(x)

	var got printer
	got.function(f)
	if want := f.LLString(); string(got.b) != want {
		t.Errorf("printed\n%s\nwant\n%s", got.b, want)
	}
}
