package emit

import (
	"fmt"
	"slices"

	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/metadata"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/primitives"
	"github.com/redfoxdb/redfox/weaver/expr"
	"github.com/redfoxdb/redfox/weaver/shape"
	"github.com/redfoxdb/redfox/weaver/target"
)

// function is one entry in the making. Its first block reads parameters and has
// the variables; the others follow in the order in which they are begun.
type function struct {
	*expr.Block
	module *module
	target target.Target // with the entry's own tile
	shape  *shape.Function
	entry  *abi.Entry
	fn     *ir.Func
	first  *ir.Block
	names  map[string]int

	params   map[abi.Param]value.Value
	literals map[literal]int
	words    value.Value // the words of a CPU's parameters
	last     *ir.Param   // the last parameter
	state    value.Value // what it points to: the worker's, or that of all blocks
	located  value.Value // the worker's or the block's own
	nowhere  value.Value // two words that are 0; nil if nothing needs them

	callees  []*ir.Func // by first call
	aparts   []apart
	globals  []*ir.Global
	metadata []metadata.Definition
	places   map[ir.Instruction]source.Span // see markAs; nil if there are none
	stack    int                            // bytes of arrays
	// scratch, shared and dynamic are the block's shared memory, as shape.Memory has
	// them. They grow while code is emitted, to the sizes of the shape.
	scratch, shared, dynamic sharedMemory
}

// newFunction begins an entry at its second block.
func (m *module) newFunction(of *shape.Function) *function {
	to := m.opts.Target
	to.Threads, to.Items = of.Threads, of.Items
	f := &function{
		module: m, target: to, shape: of,
		entry: &abi.Entry{Symbol: of.Symbol, Role: of.Role, Of: of.Of, Threads: of.Threads, Items: of.Items},
		names: map[string]int{}, params: map[abi.Param]value.Value{}, literals: map[literal]int{},
	}
	result := types.Type(types.I64)
	if to.GPU {
		result = types.Void
	}
	f.fn = ir.NewFunc(of.Symbol, result)
	f.fn.Parent = ir.NewModule()
	f.fn.FuncAttrs = []ir.FuncAttribute{enum.FuncAttrNoUnwind}
	if to.GPU {
		f.fn.CallingConv = enum.CallingConvPTXKernel
	} else {
		words := ir.NewParam("params", expr.Ptr())
		f.fn.Params = []*ir.Param{words}
		f.words = words
	}
	f.Block = &expr.Block{Fn: f.fn, Call: f.call, Fresh: f.fresh}
	f.first = f.newBlock("entry")
	f.Cur = f.newBlock("start")
	f.first.NewBr(f.Cur)
	f.last = ir.NewParam("state", expr.Ptr())
	f.state = f.last
	if to.GPU {
		f.last.Typ = pointerTo{globalSpace}
		f.state = f.inFirst(func() value.Value { return f.generic(f.last) })
	}
	f.scratch = sharedMemory{f: f, name: "scratch"}
	f.shared = sharedMemory{f: f, name: "shared"}
	f.dynamic = sharedMemory{f: f, name: "dynamic"}
	return f
}

// finish adds what is known at the end: the state behind the other parameters, and the
// sizes of shared memory. Code that needs other memory than its shape says is a bug.
func (f *function) finish() error {
	f.fn.Params = append(f.fn.Params, f.last)
	for _, p := range f.fn.Params {
		f.fn.Sig.Params = append(f.fn.Sig.Params, p.Typ)
	}
	used := shape.Memory{Scratch: f.scratch.size, Shared: f.shared.size, Dynamic: f.dynamic.size}
	if used != f.shape.Memory {
		return fmt.Errorf("emit: the code takes shared memory%s, its shape%s", used, f.shape.Memory)
	}
	if f.stack > shape.MostStack && f.target.Items > shape.LeastItems && !f.target.GPU {
		return fmt.Errorf("emit: the code has %d bytes of arrays on the stack", f.stack)
	}
	if f.entry.Scratch = used.Total(); f.entry.Scratch > target.StaticShared {
		f.entry.Dynamic = used.Dynamic
	}
	f.scratch.finish(false)
	f.shared.finish(false)
	f.dynamic.finish(f.entry.Dynamic > 0)
	return nil
}

func (f *function) fresh(prefix string) string {
	f.names[prefix]++
	if n := f.names[prefix]; n > 1 {
		return fmt.Sprintf("%s.%d", prefix, n)
	}
	return prefix
}

// newBlock adds an empty block at the end of the function.
func (f *function) newBlock(name string) *ir.Block {
	b := ir.NewBlock(f.fresh(name))
	b.Parent = f.fn
	f.fn.Blocks = append(f.fn.Blocks, b)
	return b
}

func i64(v int64) value.Value { return constant.NewInt(types.I64, v) }
func i32(v int) value.Value   { return constant.NewInt(types.I32, int64(v)) }
func i8(v int) value.Value    { return constant.NewInt(types.I8, int64(v)) }

// call calls a primitive. Without a result it returns nil.
func (f *function) call(name string, args ...value.Value) value.Value {
	callee := f.module.primitive(name)
	if f.target.GPU && isLong(name) {
		return f.callApart(callee, args)
	}
	if p, _ := primitives.Lookup(name); f.target.GPU && p.OfItems() {
		f.calls(callee)
		callee, args = f.module.specialised(callee, args)
	}
	return f.callFunc(callee, args...)
}

// calls notes a function that is called.
func (f *function) calls(callee *ir.Func) {
	if !slices.Contains(f.callees, callee) {
		f.callees = append(f.callees, callee)
	}
}

func (f *function) callFunc(callee *ir.Func, args ...value.Value) value.Value {
	if len(args) != len(callee.Params) {
		panic(fmt.Sprintf("emit: %s takes %d arguments, not %d", callee.Name(), len(callee.Params), len(args)))
	}
	for i, a := range args {
		if want := callee.Params[i].Typ; !want.Equal(a.Type()) {
			panic(fmt.Sprintf("emit: argument %d of %s is %s, not %s", i, callee.Name(), want, a.Type()))
		}
	}
	f.calls(callee)
	c := &ir.InstCall{Callee: callee, Args: args, Typ: callee.Sig.RetType}
	f.Cur.Insts = append(f.Cur.Insts, c)
	if c.Typ.Equal(types.Void) {
		return nil
	}
	return c
}

// intrinsic calls a function of LLVM's own.
func (f *function) intrinsic(name string, result types.Type, args ...value.Value) value.Value {
	list := make([]types.Type, len(args))
	for i, a := range args {
		list[i] = a.Type()
	}
	return f.callFunc(f.module.declare(name, result, list...), args...)
}

// at returns the address of element i of what lies at p.
func (f *function) at(t types.Type, p, i value.Value) value.Value {
	g := &ir.InstGetElementPtr{ElemType: t, Src: p, Indices: []value.Value{i}, Typ: expr.Ptr()}
	f.Cur.Insts = append(f.Cur.Insts, g)
	return g
}

func (f *function) load(t types.Type, p value.Value) value.Value {
	l := &ir.InstLoad{ElemType: t, Src: p}
	f.Cur.Insts = append(f.Cur.Insts, l)
	return l
}

func (f *function) store(v, p value.Value) {
	f.Cur.Insts = append(f.Cur.Insts, &ir.InstStore{Src: v, Dst: p})
}

// variable makes a variable with a value to begin with, in the first block.
func (f *function) variable(t types.Type, initial value.Value) value.Value {
	a := &ir.InstAlloca{ElemType: t}
	p := expr.AsPtr(a)
	f.first.Insts = append(f.first.Insts, a, &ir.InstStore{Src: initial, Dst: p})
	return p
}

// alloca makes room for n elements, in the first block.
func (f *function) alloca(t types.Type, n int) value.Value {
	a := &ir.InstAlloca{ElemType: types.NewArray(uint64(n), t), Align: 64}
	if f.target.GPU {
		a.Align = 16
	}
	f.first.Insts = append(f.first.Insts, a)
	if of, ok := t.(*types.IntType); ok {
		f.stack += n * int(of.BitSize) / 8
	}
	return expr.AsPtr(a)
}

// loop emits a loop for i from 0 to n, which is constant on a GPU. It unrolls
// there: arrays then become registers.
func (f *function) loop(n value.Value, body func(i value.Value)) {
	before := f.Cur
	head, inside, after := f.newBlock("loop"), f.newBlock("item"), f.newBlock("after")
	before.NewBr(head)
	i := head.NewPhi(ir.NewIncoming(i64(0), before))
	head.NewCondBr(head.NewICmp(enum.IPredSLT, i, n), inside, after)
	f.Cur = inside
	body(i)
	next := f.Cur.NewAdd(i, i64(1))
	i.Incs = append(i.Incs, ir.NewIncoming(next, f.Cur))
	back := f.Cur.NewBr(head)
	if f.target.GPU {
		back.Metadata = append(back.Metadata, f.unroll())
	}
	f.Cur = after
}

// unroll makes the note that asks for a loop to be unrolled. The first of its
// fields is the note itself, which keeps loops apart.
func (f *function) unroll() *metadata.Attachment {
	how := &metadata.Tuple{MetadataID: -1, Fields: []metadata.Field{&metadata.String{Value: "llvm.loop.unroll.full"}}}
	loop := &metadata.Tuple{MetadataID: -1, Distinct: true}
	loop.Fields = []metadata.Field{loop, how}
	f.metadata = append(f.metadata, how, loop)
	return &metadata.Attachment{Name: "llvm.loop", Node: loop}
}

// while emits a loop that goes on as long as a condition holds.
func (f *function) while(cond func() value.Value, body func()) {
	head, inside, after := f.newBlock("while"), f.newBlock("do"), f.newBlock("after")
	f.Cur.NewBr(head)
	f.Cur = head
	f.Cur.NewCondBr(cond(), inside, after)
	f.Cur = inside
	body()
	f.Cur.NewBr(head)
	f.Cur = after
}

// repeat emits a loop that goes on as long as its body says so.
func (f *function) repeat(body func() value.Value) {
	inside, after := f.newBlock("repeat"), f.newBlock("after")
	f.Cur.NewBr(inside)
	f.Cur = inside
	again := body()
	f.Cur.NewCondBr(again, inside, after)
	f.Cur = after
}

// when emits body for the case that a condition holds, which is the same in all
// threads if body has collective primitives.
func (f *function) when(cond value.Value, body func()) { f.choose(cond, body, func() {}) }

// choose emits one of two cases.
func (f *function) choose(cond value.Value, yes, no func()) {
	a, b, after := f.newBlock("then"), f.newBlock("else"), f.newBlock("join")
	f.Cur.NewCondBr(cond, a, b)
	f.Cur = a
	yes()
	f.Cur.NewBr(after)
	f.Cur = b
	no()
	f.Cur.NewBr(after)
	f.Cur = after
}

// barrier waits for all threads of a GPU's block.
func (f *function) barrier() {
	if f.target.GPU {
		f.intrinsic("llvm.nvvm.barrier0", types.Void)
	}
}

// sharedMemory is a part of the memory that a GPU's block shares.
type sharedMemory struct {
	f      *function
	name   string
	global *ir.Global
	size   int
}

// at returns the address of a place, which counts to the size from now on. A CPU has
// none: its one thread needs no memory to meet in.
func (s *sharedMemory) at(from, size int) value.Value {
	if !s.f.target.GPU {
		return null
	}
	s.size = max(s.size, from+size)
	if s.global == nil {
		s.global = ir.NewGlobal("", types.I8)
		s.rename(s.f.entry.Symbol)
		s.global.AddrSpace = sharedSpace
		s.global.Linkage = enum.LinkageInternal
		s.global.Align = shape.Align
		s.f.globals = append(s.f.globals, s.global)
	}
	cast := s.f.generic(addressIn{s.global, sharedSpace})
	if from == 0 {
		return cast
	}
	return s.f.at(types.I8, cast, i64(int64(from)))
}

// rename gives the memory its name in a function of that name.
func (s *sharedMemory) rename(symbol string) {
	if s.global != nil {
		// What is dynamic keeps its name in PTX, which has no dots in names.
		s.global.SetName(symbol + "$" + s.name)
	}
}

// more returns the address of memory that nothing else uses.
func (s *sharedMemory) more(size int) value.Value {
	return s.at(shape.Aligned(s.size), size)
}

// finish gives the memory its size, or leaves that to the launch: what is dynamic is
// declared as memory of another module, without a size.
func (s *sharedMemory) finish(dynamic bool) {
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

// generic returns the generic address of what is at an address in a space.
func (f *function) generic(a value.Value) value.Value {
	cast := &ir.InstAddrSpaceCast{From: a, To: expr.Ptr()}
	f.Cur.Insts = append(f.Cur.Insts, cast)
	return cast
}

// null is the address that is none.
var null value.Value = nullPointer{}

type nullPointer struct{}

func (nullPointer) Type() types.Type { return expr.Ptr() }
func (nullPointer) Ident() string    { return "null" }
func (nullPointer) String() string   { return "ptr null" }

// callAddress calls a function without a result at an address.
func (f *function) callAddress(address value.Value, args ...value.Value) {
	sig := types.NewFunc(types.Void)
	for _, a := range args {
		sig.Params = append(sig.Params, a.Type())
	}
	callee := functionAt{address, types.NewPointer(sig)}
	f.Cur.Insts = append(f.Cur.Insts, &ir.InstCall{Callee: callee, Args: args, Typ: types.Void})
}

// functionAt is an address with the type that package ir wants of a callee.
type functionAt struct {
	value.Value
	typ types.Type
}

func (f functionAt) Type() types.Type { return f.typ }

// address makes an address of a word.
func (f *function) address(word value.Value) value.Value {
	p := &ir.InstIntToPtr{From: word, To: expr.Ptr()}
	f.Cur.Insts = append(f.Cur.Insts, p)
	return p
}
