package ir

import (
	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/expr"
	"github.com/redfoxdb/redfox/weaver/shape"
	"github.com/redfoxdb/redfox/weaver/target"
)

// loop is a function that calls other entries, one at a time, as its record
// says (abi.LoopHead). A GPU's unit has them once more, as functions.
type loop struct {
	*Function
	sizes   abi.LoopSizes
	work    sharedMemory // what a block knows of the loop
	kernels []*Function
	steps   []step // a GPU's
}

// step is a function that reads parameters and calls a kernel, or one that
// differs in nothing but its name.
type step struct {
	kernel *Function
	fn     *llvm.Func
}

// AddLoop adds the function of a loop whose kernels have been added.
func (m *Module) AddLoop(of *shape.Loop) {
	memory := of.Function.Memory
	of.Function.Memory = shape.Memory{} // the kernels' code takes it
	defer func() { of.Function.Memory = memory }()
	l := &loop{Function: m.NewFunction(of.Function), sizes: of.Sizes}
	l.Entry.Loop = of.Sizes
	l.work = sharedMemory{f: l.Function, name: "loop"}
	for _, k := range of.Kernels {
		for _, f := range m.functions {
			if f.Shape == k {
				l.kernels = append(l.kernels, f)
			}
		}
	}
	l.emit()
	if err := l.finish(); err != nil {
		panic(err) // it takes no memory beside work
	}
	l.work.Finish(false)
	if l.Target.GPU {
		l.Entry.Scratch = memory.Total() + shape.Aligned(l.work.size)
		if l.Entry.Scratch > target.StaticShared {
			l.Entry.Dynamic = memory.Dynamic
		}
	}
	m.loops = append(m.loops, l)
	m.abi.Entries = append(m.abi.Entries, l.Entry)
}

// emit asks for the next kernel and calls it, until there is none.
func (l *loop) emit() {
	next, run, done := l.NewBlock("next"), l.NewBlock("run"), l.NewBlock("done")
	words := l.sizes.Work()
	work := l.work.At(0, 8*words)
	if !l.Target.GPU {
		work = l.Alloca(types.I64, words)
	}
	sizes := []value.Value{I32(l.sizes.Operations), I32(l.sizes.Kernels), I32(l.sizes.Relations),
		I32(l.Target.Threads)}
	l.Call("rf_loop_begin", append([]value.Value{l.state, work}, sizes...)...)
	l.Cur.NewBr(next)
	l.Cur = next
	found := l.Call("rf_loop_next", append([]value.Value{work}, sizes...)...)
	l.Cur.NewCondBr(l.Cur.NewICmp(enum.IPredEQ, found, I32(0)), done, run)
	l.Cur = run
	word := func(i int64) value.Value { return l.Load(types.I64, l.At(types.I64, work, I64(i))) }
	number, params, at := word(abi.WorkKernel), l.Address(word(abi.WorkWords)), word(abi.WorkState)
	choice := l.Cur
	var cases []*llvm.Case
	for i, k := range l.kernels {
		l.Cur = l.NewBlock("kernel")
		state := at
		if l.Target.GPU {
			// A kernel takes the state that is its block's. There is one,
			// whichever block runs it.
			words := int64(k.Entry.StateWords())
			state = l.Cur.NewSub(at, l.Cur.NewMul(l.BlockNumber(), I64(8*words)))
		}
		state = l.Address(state)
		cases = append(cases, llvm.NewCase(constant.NewInt(types.I64, int64(i)), l.Cur))
		if l.Target.GPU {
			l.callFunc(l.step(k), params, state)
		} else {
			call := &llvm.InstCall{Callee: k.fn, Args: []value.Value{params, state},
				Typ: k.fn.Sig.RetType}
			l.Cur.Insts = append(l.Cur.Insts, call)
		}
		l.Cur.NewBr(next)
	}
	choice.NewSwitch(number, done, cases...)
	l.Cur = done
	if l.Target.GPU {
		l.Cur.NewRet(nil)
	} else {
		l.Cur.NewRet(I64(0))
	}
}

// step returns a function that reads the parameters of a kernel and calls it.
// It stays a function of its own, since what one kernel writes another reads.
// Kernels of the same text share one: the driver takes a tenth of a second and
// more for each.
func (l *loop) step(k *Function) *llvm.Func {
	for _, s := range l.steps {
		if s.kernel.unit() == k.unit() {
			return s.fn
		}
	}
	words, state := llvm.NewParam("words", expr.Ptr()), llvm.NewParam("state", expr.Ptr())
	fn := llvm.NewFunc("", types.Void, words, state)
	fn.Linkage = enum.LinkageInternal
	fn.FuncAttrs = []llvm.FuncAttribute{enum.FuncAttrNoInline, enum.FuncAttrNoUnwind}
	body := fn.NewBlock("entry")
	var args []value.Value
	for i, p := range k.fn.Params {
		if p == k.last {
			cast := &llvm.InstAddrSpaceCast{From: state, To: p.Typ}
			body.Insts = append(body.Insts, cast)
			args = append(args, cast)
			continue
		}
		at := &llvm.InstGetElementPtr{ElemType: types.I64, Src: words,
			Indices: []value.Value{I64(int64(i))}, Typ: expr.Ptr()}
		word := &llvm.InstLoad{ElemType: types.I64, Src: at}
		body.Insts = append(body.Insts, at, word)
		arg := value.Value(word)
		if !p.Typ.Equal(types.I64) {
			cast := &llvm.InstIntToPtr{From: word, To: p.Typ}
			body.Insts = append(body.Insts, cast)
			arg = cast
		}
		args = append(args, arg)
	}
	body.Insts = append(body.Insts, &llvm.InstCall{Callee: k.fn, Args: args, Typ: types.Void})
	body.NewRet(nil)
	l.steps = append(l.steps, step{k, fn})
	return fn
}

// unit prints the loop with its kernels, which share the block's memory.
func (l *loop) unit() string {
	kernels := make([]*Function, len(l.steps))
	memory := map[string]*llvm.Global{}
	var order []*llvm.Global
	for i, s := range l.steps {
		k := s.kernel
		inner := *k
		kernels[i] = &inner
		defer func(cc enum.CallingConv, attrs []llvm.FuncAttribute) {
			k.fn.CallingConv, k.fn.Linkage, k.fn.FuncAttrs = cc, enum.LinkageNone, attrs
			k.rename(k.Entry.Symbol)
		}(k.fn.CallingConv, k.fn.FuncAttrs)
		k.rename(UnitSymbol + "." + k.Entry.Symbol)
		k.fn.CallingConv, k.fn.Linkage = enum.CallingConvNone, enum.LinkageInternal
		k.fn.FuncAttrs = []llvm.FuncAttribute{enum.FuncAttrAlwaysInline, enum.FuncAttrNoUnwind}
		s.fn.SetName(UnitSymbol + ".step." + k.Entry.Symbol)
		inner.globals, inner.inLoop = nil, true
		for _, part := range []*sharedMemory{&k.scratch, &k.Shared, &k.Dynamic} {
			if part.global == nil {
				continue
			}
			part.rename(UnitSymbol)
			all := memory[part.name]
			if all == nil {
				all = llvm.NewGlobal(part.global.Name(), types.I8)
				all.AddrSpace, all.Align = sharedSpace, shape.Align
				memory[part.name] = all
				order = append(order, all)
			}
		}
	}
	sizes := l.Shape.Memory
	for name, size := range map[string]int{"scratch": sizes.Scratch, "shared": sizes.Shared,
		"dynamic": sizes.Dynamic} {
		all := memory[name]
		if all == nil {
			continue
		}
		all.Linkage = enum.LinkageInternal
		if name == "dynamic" && l.Entry.Dynamic > 0 {
			all.ContentType, all.Linkage = types.NewArray(0, types.I8), enum.LinkageExternal
			continue
		}
		all.ContentType = types.NewArray(uint64(size), types.I8)
		all.Init = constant.NewUndef(all.ContentType)
	}
	if l.work.global != nil {
		order = append(order, l.work.global)
	}
	l.globals = order
	rename := func(symbol string) {
		l.rename(symbol)
		l.work.rename(symbol)
	}
	defer rename(l.Entry.Symbol)
	rename(UnitSymbol)
	return text(append(kernels, l.Function)...)
}
