package expr

import (
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/primitives"
)

// library opens libLLVM.
func library(t testing.TB) *llvm.Library {
	t.Helper()
	short.Skip(t, "LLVM compiles nothing in weaver/expr")
	lib, err := llvm.Open()
	if err != nil {
		t.Skipf("libLLVM is not installed: apt-get install libllvm15 (%v)", err)
	}
	return lib
}

// hostPrimitives is the bitcode for this machine.
func hostPrimitives(t testing.TB) []byte {
	t.Helper()
	target := map[string]primitives.Target{"amd64": primitives.X86_64,
		"arm64": primitives.AArch64}[goruntime.GOARCH]
	if goruntime.GOOS != "linux" || target == "" {
		t.Skipf("there is no bitcode for %s/%s", goruntime.GOOS, goruntime.GOARCH)
	}
	code, err := primitives.Bitcode(target)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// argument is how a function under test gets one of its arguments.
type argument struct {
	Type    scalar.Type
	lo, hi  int64
	bounded bool
	wide    bool
	absent  bool // some rows have none
	literal *scalar.Value
}

// call is one function under test: a call with certain arguments.
type call struct {
	name   string // of the function in IR
	fn     *scalar.Func
	result scalar.Type
	args   []argument

	made Value // what Apply returned, without its SSA values
}

func (c *call) String() string {
	var args []string
	for _, a := range c.args {
		s := a.Type.String()
		if a.wide {
			s += " wide"
		}
		if a.bounded {
			s += fmt.Sprintf(" %d..%d", a.lo, a.hi)
		}
		if a.literal != nil {
			s += " " + scalar.Literal(*a.literal)
		}
		if a.absent {
			s += "?"
		}
		args = append(args, s)
	}
	return fmt.Sprintf("%s[%s] = %s", c.fn.Name, strings.Join(args, ", "), c.result)
}

// kernel makes the function an entry of a GPU's module.
func (c *call) kernel(m *ir.Module) {
	for _, f := range m.Funcs {
		if f.Name() == c.name {
			f.CallingConv = enum.CallingConvPTXKernel
		}
	}
}

// newModule makes a module and the function that declares and calls primitives.
func newModule() (*ir.Module, func(b *Block, name string, args []value.Value) value.Value) {
	m := ir.NewModule()
	declared := map[string]*ir.Func{}
	return m, func(b *Block, name string, args []value.Value) value.Value {
		f := declared[name]
		if f == nil {
			f = declarePrimitive(m, name)
			declared[name] = f
		}
		return b.Cur.NewCall(f, args...)
	}
}

// declarePrimitive declares a primitive by the catalogue's signature.
func declarePrimitive(m *ir.Module, name string) *ir.Func {
	p, ok := primitives.Lookup(name)
	if !ok {
		panic("there is no primitive " + name)
	}
	of := func(c string) types.Type {
		switch {
		case strings.Contains(c, "*"):
			return Ptr()
		case strings.HasPrefix(c, "void"):
			return types.Void
		case strings.Contains(c, "int32_t"):
			return I32
		}
		return I64
	}
	head, tail, _ := strings.Cut(p.Signature, "(")
	var params []*ir.Param
	for param := range strings.SplitSeq(strings.TrimSuffix(tail, ")"), ",") {
		params = append(params, ir.NewParam("", of(strings.TrimSpace(param))))
	}
	return m.NewFunc(name, of(head), params...)
}

// The functions under test have one shape:
//
//	void name(const int64_t *in, const uint8_t *present, int64_t n, int64_t *out, uint8_t *flags)
//
// Argument k of row i has its low word at in[2*k*n+i] and its high word at
// in[(2*k+1)*n+i], and present[k*n+i] says whether it is there. The result's
// words go to out[i] and out[n+i]. Flag 1 is that it is present, 2 that it
// fits, and out[2*n+i] is its narrowed word.
func (c *call) emit(m *ir.Module, primitive func(*Block, string, []value.Value) value.Value) {
	in, present, n := ir.NewParam("in", Ptr()), ir.NewParam("present", Ptr()), ir.NewParam("n", I64)
	out, flags := ir.NewParam("out", Ptr()), ir.NewParam("flags", Ptr())
	f := m.NewFunc(c.name, types.Void, in, present, n, out, flags)
	entry, loop, exit := f.NewBlock("entry"), f.NewBlock("loop"), f.NewBlock("exit")
	b := &Block{Fn: f, Cur: loop}
	b.Call = func(name string, args ...value.Value) value.Value { return primitive(b, name, args) }
	b.Fresh = func(prefix string) string { return fmt.Sprintf("%s%d", prefix, len(f.Blocks)) }
	at := func(p value.Value, t types.Type, k int64, i value.Value) value.Value {
		g := &ir.InstGetElementPtr{ElemType: t, Src: p,
			Indices: []value.Value{b.Cur.NewAdd(b.Cur.NewMul(n, word(k)), i)}, Typ: Ptr()}
		b.Cur.Insts = append(b.Cur.Insts, g)
		return g
	}
	entry.NewCondBr(b.inBlock(entry, func() value.Value {
		return b.icmp(enum.IPredSGT, n, word(0))
	}), loop, exit)
	i := &ir.InstPhi{Typ: I64}
	loop.Insts = append(loop.Insts, i)
	args := make([]Value, len(c.args))
	for k, a := range c.args {
		v := Value{Type: a.Type, Lo: a.lo, Hi: a.hi, Bounded: a.bounded, Literal: a.literal}
		v.Word = b.Cur.NewLoad(I64, at(in, I64, int64(2*k), i))
		switch {
		case a.wide:
			high := b.Cur.NewLoad(I64, at(in, I64, int64(2*k+1), i))
			v.Wide = b.Cur.NewOr(b.Cur.NewShl(b.zext(high, I128), wide(64)), b.zext(v.Word, I128))
			v.Word = nil
		case a.Type.Kind == scalar.Boolean:
			v.Word = b.icmp(enum.IPredNE, v.Word, word(0))
		case a.Type.Kind == scalar.String:
			v.Word = nil
		}
		if a.absent {
			there := b.Cur.NewLoad(types.I8, at(present, types.I8, int64(k), i))
			v.Present = b.icmp(enum.IPredNE, there, constant.NewInt(types.I8, 0))
		}
		args[k] = v
	}
	r := Apply(b, c.fn, c.result, args)
	c.made = Value{Type: r.Type, Lo: r.Lo, Hi: r.Hi, Bounded: r.Bounded}
	flag := value.Value(constant.NewInt(types.I8, 0))
	for bit, cond := range []value.Value{r.Present, Fits(b, r)} {
		set := value.Value(constant.NewInt(types.I8, 1<<bit))
		if cond != nil {
			set = b.choose(cond, set, constant.NewInt(types.I8, 0))
		}
		flag = b.Cur.NewOr(flag, set)
	}
	b.store(flag, at(flags, types.I8, 0, i))
	narrow := Narrow(b, r).Word
	var lo, hi value.Value
	switch {
	case r.Wide != nil:
		lo, hi = b.halves(r.Wide)
	case c.result.Kind == scalar.Boolean:
		narrow = b.zext(narrow, I64)
		lo, hi = narrow, word(0)
	case c.result.Kind == scalar.Decimal:
		lo, hi = narrow, b.Cur.NewAShr(narrow, word(63))
	default:
		lo, hi = narrow, word(0)
	}
	b.store(lo, at(out, I64, 0, i))
	b.store(hi, at(out, I64, 1, i))
	b.store(narrow, at(out, I64, 2, i))
	next := b.Cur.NewAdd(i, word(1))
	b.Cur.NewCondBr(b.icmp(enum.IPredSLT, next, n), loop, exit)
	i.Incs = []*ir.Incoming{ir.NewIncoming(word(0), entry), ir.NewIncoming(next, b.Cur)}
	exit.NewRet(nil)
}

// inBlock adds instructions to another block.
func (b *Block) inBlock(other *ir.Block, f func() value.Value) value.Value {
	cur := b.Cur
	b.Cur = other
	defer func() { b.Cur = cur }()
	return f()
}

// compiled is native code of functions under test.
type compiled struct {
	jit       *llvm.JIT
	addresses map[string]uintptr
}

// compile emits the calls to one module, and compiles it natively.
func compile(t testing.TB, calls []*call) *compiled {
	t.Helper()
	m, primitive := newModule()
	for _, c := range calls {
		c.emit(m, primitive)
	}
	jit, err := library(t).NewJIT()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { jit.Close() })
	// make every has LLVM optimise the code.
	passes, level := "always-inline,function(sroa,early-cse,simplifycfg,adce)", 0
	if short.Every() {
		passes, level = optimise, 2
	}
	options := library(t).HostOptions()
	options.Level = level
	machine, err := library(t).NewTargetMachine(options)
	if err != nil {
		t.Fatal(err)
	}
	defer machine.Close()
	unit := passed(t, machine, m, hostPrimitives(t), passes)
	defer unit.Close()
	if missing := unit.Declarations(); len(missing) > 0 {
		t.Fatalf("the code calls %v", missing)
	}
	object, err := machine.EmitObject(unit)
	if err == nil {
		err = jit.AddObject("expr", object)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := &compiled{jit: jit, addresses: map[string]uintptr{}}
	for _, c := range calls {
		if out.addresses[c.name], err = jit.Lookup(c.name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// optimise is LLVM's pipeline for code that users run.
const optimise = "default<O2>"

// optimized parses a module, links the primitives and optimises.
func optimized(t testing.TB, machine *llvm.TargetMachine, m *ir.Module,
	bitcode []byte) *llvm.Module {
	t.Helper()
	return passed(t, machine, m, bitcode, optimise)
}

// passed parses a module, links the primitives and runs passes.
func passed(t testing.TB, machine *llvm.TargetMachine, m *ir.Module, bitcode []byte,
	passes string) *llvm.Module {
	t.Helper()
	text := m.String()
	unit, err := machine.ParseIR("expr", text)
	if err != nil {
		t.Fatalf("%v", err)
	}
	keep := unit.Functions()
	err = unit.LinkBitcode("primitives", bitcode)
	if err == nil {
		err = unit.Internalize(keep...)
	}
	if err == nil {
		err = unit.Optimize(machine, passes,
			llvm.OptimizeOptions{NoLoopInterleave: true, NoLoopUnroll: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	return unit
}

// rows are the arguments of a call for some rows, and its results.
type rows struct {
	n       int
	in      []int64
	present []byte
	out     []int64
	flags   []byte
}

func newRows(n, args int) *rows {
	return &rows{
		n: n, in: make([]int64, 2*n*max(args, 1)), present: make([]byte, n*max(args, 1)),
		out: make([]int64, 3*n), flags: make([]byte, n),
	}
}

func (k *compiled) run(c *call, r *rows) {
	address := func(p unsafe.Pointer) uintptr { return uintptr(p) }
	var pin goruntime.Pinner
	defer pin.Unpin()
	for _, p := range []any{&r.in[0], &r.present[0], &r.out[0], &r.flags[0]} {
		pin.Pin(p)
	}
	llvm.Call(k.addresses[c.name], address(unsafe.Pointer(&r.in[0])),
		address(unsafe.Pointer(&r.present[0])), uintptr(r.n),
		address(unsafe.Pointer(&r.out[0])), address(unsafe.Pointer(&r.flags[0])))
}
