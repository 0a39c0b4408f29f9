package expr

import (
	"regexp"
	"strings"
	"testing"

	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/primitives"
)

// avx2 compiles a module to assembly for x86-64 with AVX2.
func avx2(t *testing.T, m *ir.Module) string {
	t.Helper()
	machine, err :=
		library(t).NewTargetMachine(llvm.TargetOptions{Triple: primitives.X86_64.Triple(),
			CPU: "x86-64-v3", Level: 3})
	if err != nil {
		t.Skip(err)
	}
	defer machine.Close()
	code, err := primitives.Bitcode(primitives.X86_64)
	if err != nil {
		t.Fatal(err)
	}
	unit := optimized(t, machine, m, code)
	defer unit.Close()
	text, err := machine.EmitAssembly(unit)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestVectorised wants the instructions of vectors in the loop around a call.
func TestVectorised(t *testing.T) {
	decimal, day := scalar.DecimalOf(2), scalar.MicrosPerDay
	word := func(t scalar.Type, lo, hi int64) argument {
		return argument{Type: t, lo: lo, hi: hi, bounded: true}
	}
	any := func(t scalar.Type) argument { return argument{Type: t} }
	literal := func(v scalar.Value) argument { return argument{Type: v.Type, literal: &v} }
	for _, c := range []struct {
		fn     string
		result scalar.Type
		args   []argument
		want   string
	}{
		{"add", scalar.IntType, []argument{any(scalar.IntType), any(scalar.IntType)}, `vpaddq`},
		{"add", decimal, []argument{word(decimal, 0, 1e9), word(decimal, 0, 1e12)}, `vpaddq`},
		{"sub", decimal, []argument{literal(scalar.OfDecimal(2, 100)), word(decimal, 0, 10)},
			`vpsubq`},
		{"mul", decimal, []argument{word(decimal, 0, 11e6), word(decimal, 0, 100)}, `vpmuldq`},
		{"mul", scalar.DecimalOf(4), []argument{word(decimal, 0, 11e6), word(decimal, 0, 1e9)},
			`vpmuldq`},
		{"mul", scalar.FloatType, []argument{any(scalar.FloatType), any(scalar.FloatType)},
			`vmulpd`},
		{"div", scalar.FloatType, []argument{any(scalar.FloatType), any(scalar.FloatType)},
			`vdivpd`},
		{"lt", scalar.BooleanType, []argument{any(scalar.FloatType), any(scalar.FloatType)},
			`vcmp\w+pd`},
		{"le", scalar.BooleanType,
			[]argument{any(scalar.DatetimeType), literal(scalar.OfDatetime(9000 * day))},
			`vpcmpgtq`},
		{"max", scalar.IntType, []argument{any(scalar.IntType), any(scalar.IntType)}, `vpcmpgtq`},
		{"abs", scalar.FloatType, []argument{any(scalar.FloatType)}, `vandp[sd]|vpand`},
		{"round", decimal, []argument{word(decimal, -1e9, 1e9)}, `vpmuldq`},
		{"convert", scalar.FloatType, []argument{word(scalar.IntType, 0, 1e6)}, `vcvtdq2pd`},
		{"convert", scalar.DecimalType, []argument{word(scalar.IntType, 0, 1e4)}, `vpmul(d|ud)q`},
		{"float:floor", scalar.FloatType, []argument{any(scalar.FloatType)}, `vroundpd`},
		{"float:sqrt", scalar.FloatType, []argument{any(scalar.FloatType)}, `vsqrtpd`},
		{"round", scalar.FloatType, []argument{any(scalar.FloatType)}, `vroundpd`},
	} {
		under := &call{name: "under_test", fn: scalar.Lookup(c.fn), result: c.result, args: c.args}
		m, primitive := newModule()
		under.emit(m, primitive)
		if text := avx2(t, m); !regexp.MustCompile(`(` + c.want + `)\s.*%ymm`).MatchString(text) {
			t.Errorf("%s: no %s in\n%s", under, c.want, text)
		}
	}
}

// TestChainOf32Bits computes (x + y) * x < 1000 over columns of 32 bits, whose
// bounds let it stay in them: eight lanes, and no extension in between.
func TestChainOf32Bits(t *testing.T) {
	m, _ := newModule()
	x, y, out, n := ir.NewParam("x", Ptr()), ir.NewParam("y", Ptr()), ir.NewParam("out",
		Ptr()), ir.NewParam("n", I64)
	f := m.NewFunc("chain", types.Void, x, y, out, n)
	entry, loop, exit := f.NewBlock("entry"), f.NewBlock("loop"), f.NewBlock("exit")
	entry.NewBr(loop)
	b := &Block{Fn: f, Cur: loop}
	i := &ir.InstPhi{Typ: I64}
	loop.Insts = append(loop.Insts, i)
	at := func(p value.Value, t types.Type) value.Value {
		g := &ir.InstGetElementPtr{ElemType: t, Src: p, Indices: []value.Value{i}, Typ: Ptr()}
		b.Cur.Insts = append(b.Cur.Insts, g)
		return g
	}
	column := func(p value.Value, hi int64) Value {
		return Value{Type: scalar.IntType, Word: b.sext(b.Cur.NewLoad(I32, at(p, I32)), I64),
			Hi: hi, Bounded: true}
	}
	call := func(name string, result scalar.Type, args ...Value) Value {
		return Apply(b, scalar.Lookup(name), result, args)
	}
	p, q := column(x, 10_000), column(y, 200)
	limit := scalar.OfInt(scalar.IntType, 1000)
	product := call("mul", scalar.IntType, call("add", scalar.IntType, p, q), p)
	holds := call("lt", scalar.BooleanType, product,
		Value{Type: scalar.IntType, Word: word(1000), Literal: &limit})
	b.store(b.zext(holds.Word, types.I8), at(out, types.I8))
	next := b.Cur.NewAdd(i, word(1))
	b.Cur.NewCondBr(b.icmp(enum.IPredSLT, next, n), loop, exit)
	i.Incs = []*ir.Incoming{ir.NewIncoming(word(0), entry), ir.NewIncoming(next, loop)}
	exit.NewRet(nil)
	text := avx2(t, m)
	for _, want := range []string{"vpmulld", "vpaddd", "vpcmpgtd"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, refused := range []string{"vpmuldq", "vpmuludq", "vpmovsxdq", "vpcmpgtq"} {
		if strings.Contains(text, refused) {
			t.Errorf("there is %s in\n%s", refused, text)
		}
	}
}

// TestNoLibrary looks at what LLVM has to call on a machine without a C
// library's functions or a compiler's: nothing, on any of the targets.
func TestNoLibrary(t *testing.T) {
	lib := library(t)
	for _, target := range []struct {
		primitives.Target
		cpu string
	}{{primitives.X86_64, "x86-64-v3"}, {primitives.AArch64, "generic"}} {
		machine,
			err := lib.NewTargetMachine(llvm.TargetOptions{Triple: target.Triple(), CPU: target.cpu,
			Level: 2})
		if err != nil {
			t.Skip(err)
		}
		defer machine.Close()
		code, err := primitives.Bitcode(target.Target)
		if err != nil {
			t.Fatal(err)
		}
		m, primitive := newModule()
		for _, c := range gpuCalls() {
			c.emit(m, primitive)
		}
		unit := optimized(t, machine, m, code)
		text, err := machine.EmitAssembly(unit)
		unit.Close()
		if err != nil {
			t.Fatal(err)
		}
		called := regexp.MustCompile(`(?m)^\s+(?:callq?|bl|jmp|b)\s+([a-zA-Z_][\w.@]*)\s*$`)
		for _, found := range called.FindAllStringSubmatch(string(text), -1) {
			if !strings.HasPrefix(found[1], ".L") {
				t.Errorf("%s: the code calls %s", target.Target, found[1])
			}
		}
	}
}
