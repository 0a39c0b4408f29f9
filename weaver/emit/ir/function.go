package ir

import (
	"fmt"
	"slices"

	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/metadata"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/primitives"
	"github.com/redfoxdb/redfox/weaver/expr"
	"github.com/redfoxdb/redfox/weaver/shape"
	"github.com/redfoxdb/redfox/weaver/target"
)

// Function is one entry in the making. Its first block reads parameters and
// holds the variables; the others follow in the order in which they are begun.
type Function struct {
	*expr.Block
	Module *Module
	Target target.Target // with the entry's own tile
	Shape  *shape.Function
	Entry  *abi.Entry
	fn     *llvm.Func
	first  *llvm.Block
	names  map[string]int

	params   map[abi.Param]value.Value
	literals map[literal]int
	words    value.Value // the words of a CPU's parameters
	last     *llvm.Param // the last parameter
	state    value.Value // what it points to: the worker's, or that of all blocks
	Located  value.Value // the worker's or the block's own
	nowhere  value.Value // two words that are 0; nil if nothing needs them

	callees  []*llvm.Func // by first call
	aparts   []apart
	globals  []*llvm.Global
	metadata []metadata.Definition
	places   map[llvm.Instruction]source.Span // see markAs; nil if there are none
	stack    int                              // bytes of arrays
	alone    string                           // the text of the unit, once it is asked for
	inLoop   bool                             // a loop calls it
	// scratch, Shared and Dynamic are the block's shared memory, as
	// shape.Memory has them. They grow while code is emitted, to the sizes of
	// the shape.
	scratch, Shared, Dynamic sharedMemory
}

// NewFunction begins an entry at its second block.
func (m *Module) NewFunction(of *shape.Function) *Function {
	to := m.Options.Target
	to.Threads, to.Items = of.Threads, of.Items
	f := &Function{
		Module: m, Target: to, Shape: of,
		Entry: &abi.Entry{Symbol: of.Symbol, Role: of.Role, Of: of.Of, Threads: of.Threads,
			Items: of.Items},
		names: map[string]int{}, params: map[abi.Param]value.Value{}, literals: map[literal]int{},
	}
	result := types.Type(types.I64)
	if to.GPU {
		result = types.Void
	}
	f.fn = llvm.NewFunc(of.Symbol, result)
	f.fn.Parent = llvm.NewModule()
	f.fn.FuncAttrs = []llvm.FuncAttribute{enum.FuncAttrNoUnwind}
	if to.GPU {
		f.fn.CallingConv = enum.CallingConvPTXKernel
	} else {
		words := llvm.NewParam("params", expr.Ptr())
		f.fn.Params = []*llvm.Param{words}
		f.words = words
	}
	f.Block = &expr.Block{Fn: f.fn, Call: f.Call, Fresh: f.Fresh}
	f.first = f.NewBlock("entry")
	f.Cur = f.NewBlock("start")
	f.first.NewBr(f.Cur)
	f.last = llvm.NewParam("state", expr.Ptr())
	f.state = f.last
	if to.GPU {
		f.last.Typ = pointerTo{globalSpace}
		f.state = f.InFirst(func() value.Value { return f.Generic(f.last) })
	}
	f.scratch = sharedMemory{f: f, name: "scratch"}
	f.Shared = sharedMemory{f: f, name: "shared"}
	f.Dynamic = sharedMemory{f: f, name: "dynamic"}
	return f
}

// finish adds what is known at the end: the state behind the other parameters,
// and the sizes of shared memory. Code that needs other memory than its shape
// says is a bug.
func (f *Function) finish() error {
	f.fn.Params = append(f.fn.Params, f.last)
	for _, p := range f.fn.Params {
		f.fn.Sig.Params = append(f.fn.Sig.Params, p.Typ)
	}
	used := shape.Memory{Scratch: f.scratch.size, Shared: f.Shared.size, Dynamic: f.Dynamic.size}
	if used != f.Shape.Memory {
		return fmt.Errorf("emit: the code takes shared memory%s, its shape%s", used, f.Shape.Memory)
	}
	if f.stack > shape.MostStack && f.Target.Items > shape.LeastItems && !f.Target.GPU {
		return fmt.Errorf("emit: the code has %d bytes of arrays on the stack", f.stack)
	}
	if f.Entry.Scratch = used.Total(); f.Entry.Scratch > target.StaticShared {
		f.Entry.Dynamic = used.Dynamic
	}
	f.scratch.Finish(false)
	f.Shared.Finish(false)
	f.Dynamic.Finish(f.Entry.Dynamic > 0)
	return nil
}

// Fresh makes a name that the function does not have yet.
func (f *Function) Fresh(prefix string) string {
	f.names[prefix]++
	if n := f.names[prefix]; n > 1 {
		return fmt.Sprintf("%s.%d", prefix, n)
	}
	return prefix
}

// NewBlock adds an empty block at the end of the function.
func (f *Function) NewBlock(name string) *llvm.Block {
	b := llvm.NewBlock(f.Fresh(name))
	b.Parent = f.fn
	f.fn.Blocks = append(f.fn.Blocks, b)
	return b
}

// I64 returns a constant.
func I64(v int64) value.Value { return constant.NewInt(types.I64, v) }

// I32 returns a constant.
func I32(v int) value.Value { return constant.NewInt(types.I32, int64(v)) }

// I8 returns a constant.
func I8(v int) value.Value { return constant.NewInt(types.I8, int64(v)) }

// Call calls a primitive. Without a result it returns nil.
func (f *Function) Call(name string, args ...value.Value) value.Value {
	callee := f.Module.primitive(name)
	if f.Target.GPU && isLong(name) {
		return f.callApart(callee, args)
	}
	if p, _ := primitives.Lookup(name); f.Target.GPU && p.OfItems() {
		f.calls(callee)
		callee, args = f.Module.specialised(callee, args)
	}
	return f.callFunc(callee, args...)
}

// calls notes a function that is called.
func (f *Function) calls(callee *llvm.Func) {
	if !slices.Contains(f.callees, callee) {
		f.callees = append(f.callees, callee)
	}
}

func (f *Function) callFunc(callee *llvm.Func, args ...value.Value) value.Value {
	if len(args) != len(callee.Params) {
		panic(fmt.Sprintf("emit: %s takes %d arguments, not %d", callee.Name(), len(callee.Params),
			len(args)))
	}
	for i, a := range args {
		if want := callee.Params[i].Typ; !want.Equal(a.Type()) {
			panic(fmt.Sprintf("emit: argument %d of %s is %s, not %s", i, callee.Name(), want,
				a.Type()))
		}
	}
	f.calls(callee)
	c := &llvm.InstCall{Callee: callee, Args: args, Typ: callee.Sig.RetType}
	f.Cur.Insts = append(f.Cur.Insts, c)
	if c.Typ.Equal(types.Void) {
		return nil
	}
	return c
}

// Intrinsic calls a function of LLVM's own.
func (f *Function) Intrinsic(name string, result types.Type, args ...value.Value) value.Value {
	callee := f.Module.declare(name, result, list.Map(args, value.Value.Type)...)
	return f.callFunc(callee, args...)
}

// At returns the address of element i of what is at p.
func (f *Function) At(t types.Type, p, i value.Value) value.Value {
	g := &llvm.InstGetElementPtr{ElemType: t, Src: p, Indices: []value.Value{i}, Typ: expr.Ptr()}
	f.Cur.Insts = append(f.Cur.Insts, g)
	return g
}

// Load reads what is at an address.
func (f *Function) Load(t types.Type, p value.Value) value.Value {
	l := &llvm.InstLoad{ElemType: t, Src: p}
	f.Cur.Insts = append(f.Cur.Insts, l)
	return l
}

// Store writes a value to an address.
func (f *Function) Store(v, p value.Value) {
	f.Cur.Insts = append(f.Cur.Insts, &llvm.InstStore{Src: v, Dst: p})
}

// Variable makes a variable with a value to begin with, in the first block.
func (f *Function) Variable(t types.Type, initial value.Value) value.Value {
	a := &llvm.InstAlloca{ElemType: t}
	p := expr.AsPtr(a)
	f.first.Insts = append(f.first.Insts, a, &llvm.InstStore{Src: initial, Dst: p})
	return p
}

// Alloca makes room for n elements, in the first block.
func (f *Function) Alloca(t types.Type, n int) value.Value {
	a := &llvm.InstAlloca{ElemType: types.NewArray(uint64(n), t), Align: 64}
	if f.Target.GPU {
		a.Align = 16
	}
	f.first.Insts = append(f.first.Insts, a)
	if of, ok := t.(*types.IntType); ok {
		f.stack += n * int(of.BitSize) / 8
	}
	return expr.AsPtr(a)
}

// Loop emits a loop for i from 0 to n, which is constant on a GPU. It unrolls
// there: arrays then become registers.
func (f *Function) Loop(n value.Value, body func(i value.Value)) {
	before := f.Cur
	head, inside, after := f.NewBlock("loop"), f.NewBlock("item"), f.NewBlock("after")
	before.NewBr(head)
	i := head.NewPhi(llvm.NewIncoming(I64(0), before))
	head.NewCondBr(head.NewICmp(enum.IPredSLT, i, n), inside, after)
	f.Cur = inside
	body(i)
	next := f.Cur.NewAdd(i, I64(1))
	i.Incs = append(i.Incs, llvm.NewIncoming(next, f.Cur))
	back := f.Cur.NewBr(head)
	if f.Target.GPU {
		back.Metadata = append(back.Metadata, f.unroll())
	}
	f.Cur = after
}

// unroll makes the note that asks for a loop to be unrolled. The first of its
// fields is the note itself, which keeps loops apart.
func (f *Function) unroll() *metadata.Attachment {
	how := &metadata.Tuple{MetadataID: -1,
		Fields: []metadata.Field{&metadata.String{Value: "llvm.loop.unroll.full"}}}
	loop := &metadata.Tuple{MetadataID: -1, Distinct: true}
	loop.Fields = []metadata.Field{loop, how}
	f.metadata = append(f.metadata, how, loop)
	return &metadata.Attachment{Name: "llvm.loop", Node: loop}
}

// While emits a loop that goes on as long as a condition holds.
func (f *Function) While(cond func() value.Value, body func()) {
	head, inside, after := f.NewBlock("while"), f.NewBlock("do"), f.NewBlock("after")
	f.Cur.NewBr(head)
	f.Cur = head
	f.Cur.NewCondBr(cond(), inside, after)
	f.Cur = inside
	body()
	f.Cur.NewBr(head)
	f.Cur = after
}

// Repeat emits a loop that goes on while its body returns true.
func (f *Function) Repeat(body func() value.Value) {
	inside, after := f.NewBlock("repeat"), f.NewBlock("after")
	f.Cur.NewBr(inside)
	f.Cur = inside
	again := body()
	f.Cur.NewCondBr(again, inside, after)
	f.Cur = after
}

// When emits body for the case that a condition holds, which is the same in all
// threads if body has collective primitives.
func (f *Function) When(cond value.Value, body func()) { f.Choose(cond, body, func() {}) }

// Choose emits one of two cases.
func (f *Function) Choose(cond value.Value, yes, no func()) {
	a, b, after := f.NewBlock("then"), f.NewBlock("else"), f.NewBlock("join")
	f.Cur.NewCondBr(cond, a, b)
	f.Cur = a
	yes()
	f.Cur.NewBr(after)
	f.Cur = b
	no()
	f.Cur.NewBr(after)
	f.Cur = after
}

// Barrier waits for all threads of a GPU's block.
func (f *Function) Barrier() {
	if f.Target.GPU {
		f.Intrinsic("llvm.nvvm.barrier0", types.Void)
	}
}

// sharedMemory is a part of the memory that a GPU's block shares.
type sharedMemory struct {
	f      *Function
	name   string
	global *llvm.Global
	size   int
}

// At returns the address of a place, which counts to the size from now on. A
// CPU has none: its one thread needs no memory to meet in.
func (s *sharedMemory) At(from, size int) value.Value {
	if !s.f.Target.GPU {
		return Null
	}
	s.size = max(s.size, from+size)
	if s.global == nil {
		s.global = llvm.NewGlobal("", types.I8)
		s.rename(s.f.Entry.Symbol)
		s.global.AddrSpace = sharedSpace
		s.global.Linkage = enum.LinkageInternal
		s.global.Align = shape.Align
		s.f.globals = append(s.f.globals, s.global)
	}
	cast := s.f.Generic(addressIn{s.global, sharedSpace})
	if from == 0 {
		return cast
	}
	return s.f.At(types.I8, cast, I64(int64(from)))
}

// rename gives the memory its name in a function of that name.
func (s *sharedMemory) rename(symbol string) {
	if s.global != nil {
		// Dynamic memory keeps its name in PTX, which has no dots in names.
		s.global.SetName(symbol + "$" + s.name)
	}
}

// More returns the address of memory that nothing else uses.
func (s *sharedMemory) More(size int) value.Value {
	return s.At(shape.Aligned(s.size), size)
}

// Finish gives the memory its size, or leaves that to the launch: what is
// dynamic is declared as memory of another module, without a size.
func (s *sharedMemory) Finish(dynamic bool) {
	switch {
	case s.global == nil:
	case dynamic:
		s.global.ContentType = types.NewArray(0, types.I8)
		s.global.Linkage = enum.LinkageExternal
	default:
		s.global.ContentType = types.NewArray(uint64(s.size), types.I8)
		s.global.Init = constant.NewUndef(s.global.ContentType)
	}
}

// Address spaces of NVIDIA's GPUs.
const (
	globalSpace types.AddrSpace = 1
	sharedSpace types.AddrSpace = 3
)

// pointerTo is the type of addresses in a space.
type pointerTo struct{ space types.AddrSpace }

func (t pointerTo) String() string              { return fmt.Sprintf("ptr addrspace(%d)", t.space) }
func (t pointerTo) LLString() string            { return t.String() }
func (t pointerTo) Name() string                { return "" }
func (t pointerTo) SetName(string)              {}
func (t pointerTo) Equal(other types.Type) bool { return other == types.Type(t) }

// addressIn is an address that is printed with its address space.
type addressIn struct {
	value.Value
	space types.AddrSpace
}

func (a addressIn) Type() types.Type { return pointerTo{a.space} }
func (a addressIn) String() string   { return fmt.Sprintf("%v %s", a.Type(), a.Ident()) }

// Generic returns the generic address of what is at an address in a space.
func (f *Function) Generic(a value.Value) value.Value {
	cast := &llvm.InstAddrSpaceCast{From: a, To: expr.Ptr()}
	f.Cur.Insts = append(f.Cur.Insts, cast)
	return cast
}

// Null is the null pointer.
var Null value.Value = nullPointer{}

type nullPointer struct{}

func (nullPointer) Type() types.Type { return expr.Ptr() }
func (nullPointer) Ident() string    { return "null" }
func (nullPointer) String() string   { return "ptr null" }

// CallAddress calls a function without a result at an address.
func (f *Function) CallAddress(address value.Value, args ...value.Value) {
	sig := types.NewFunc(types.Void)
	for _, a := range args {
		sig.Params = append(sig.Params, a.Type())
	}
	callee := functionAt{address, types.NewPointer(sig)}
	f.Cur.Insts = append(f.Cur.Insts, &llvm.InstCall{Callee: callee, Args: args, Typ: types.Void})
}

// functionAt is an address with the type that llir wants of a callee.
type functionAt struct {
	value.Value
	typ types.Type
}

func (f functionAt) Type() types.Type { return f.typ }

// Address makes an address of a word.
func (f *Function) Address(word value.Value) value.Value {
	p := &llvm.InstIntToPtr{From: word, To: expr.Ptr()}
	f.Cur.Insts = append(f.Cur.Insts, p)
	return p
}

// Place puts a block that was made before at the end of the function, and goes
// on there.
func (f *Function) Place(b *llvm.Block) {
	b.Parent = f.fn
	f.fn.Blocks = append(f.fn.Blocks, b)
	f.Cur = b
}

// LocateState returns the address of the worker's or the block's state.
func (f *Function) LocateState() value.Value {
	if f.Target.GPU {
		f.Located = f.At(types.I64, f.state,
			f.Cur.NewMul(f.BlockNumber(), I64(int64(f.Entry.StateWords()))))
	} else {
		f.Located = f.state
	}
	return f.Located
}

// BlockNumber returns the number of a GPU's block.
func (f *Function) BlockNumber() value.Value {
	return f.Cur.NewZExt(f.Intrinsic("llvm.nvvm.read.ptx.sreg.ctaid.x", types.I32), types.I64)
}

// ScratchOf returns memory for a collective primitive.
func (f *Function) ScratchOf(name string) value.Value {
	p, _ := primitives.Lookup(name)
	if size := p.Scratch(f.Target.Threads, f.Target.Items); size > 0 {
		return f.scratch.At(0, size)
	}
	return Null
}
