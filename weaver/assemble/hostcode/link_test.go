package hostcode

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/elfload"
	"github.com/redfoxdb/redfox/internal/llvm"
)

// isLinked wants code that was linked without LLVM, where it can be.
func isLinked(t *testing.T, c *Code) {
	t.Helper()
	if (c.jit == nil) != elfload.Supported {
		t.Errorf("code is linked by LLVM's JIT: %v", c.jit != nil)
	}
}

// callingIR calls functions of C of all kinds: of the C library itself, of the
// mathematics, and of the compiler's library. It has constants, a table of
// jumps, a variable, and a function that is local to it.
const callingIR = `
declare double @llvm.pow.f64(double, double)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
@table = private constant [4 x i64] [i64 3, i64 5, i64 7, i64 11]
@variable = internal global i64 100
@zeros = internal global [1000 x i64] zeroinitializer

define internal i64 @local(i64 %x) noinline {
  %at = and i64 %x, 3
  %place = getelementptr [4 x i64], ptr @table, i64 0, i64 %at
  %word = load i64, ptr %place
  %zero = getelementptr [1000 x i64], ptr @zeros, i64 0, i64 %x
  store i64 %word, ptr %zero
  %again = load i64, ptr %zero
  ret i64 %again
}
define i64 @jumps(i64 %x) noinline {
  switch i64 %x, label %none [
    i64 0, label %a
    i64 1, label %b
    i64 2, label %c
    i64 3, label %d
    i64 4, label %e
  ]
a:
  store volatile i64 1, ptr @variable
  ret i64 17
b:
  store volatile i64 2, ptr @variable
  ret i64 29
c:
  %v = load volatile i64, ptr @variable
  ret i64 %v
d:
  store volatile i64 4, ptr @variable
  ret i64 31
e:
  %r = call i64 @local(i64 1)
  ret i64 %r
none:
  ret i64 -1
}
define void @calls(ptr %out, i64 %n) {
  call void @llvm.memset.p0.i64(ptr %out, i8 1, i64 %n, i1 false)
  %f = sitofp i64 %n to double
  %power = call double @llvm.pow.f64(double 1.5, double %f)
  store double %power, ptr %out
  %wide = sext i64 %n to i128
  %square = mul i128 %wide, %wide
  %large = shl i128 %square, 80
  %odd = add i128 %wide, 3
  %quotient = sdiv i128 %large, %odd
  %shifted = ashr i128 %quotient, 64
  %word = trunc i128 %shifted to i64
  %second = getelementptr i64, ptr %out, i64 1
  store i64 %word, ptr %second
  %third = getelementptr i64, ptr %out, i64 2
  %looked = call i64 @local(i64 %n)
  store i64 %looked, ptr %third
  ret void
}
`

// TestLinks runs code of each code model that LLVM has for the host, optimised
// and not.
func TestLinks(t *testing.T) {
	lib := open(t)
	symbols := []string{"calls", "jumps"}
	for _, model := range []llvm.CodeModel{llvm.CodeModelLarge, llvm.CodeModelSmall} {
		for _, passes := range []string{"always-inline", "default<O3>"} {
			machine := lib.HostOptions()
			machine.CodeModel = model
			if model == llvm.CodeModelSmall { // addresses are anywhere
				machine.Reloc = llvm.RelocPIC
			}
			object, err := compile(lib, machine, llvm.Compilation{Name: "calls", IR: callingIR,
				Keep: symbols, Passes: []string{passes}, Object: true})
			if err != nil {
				t.Fatal(err)
			}
			c, err := link(lib, [][]byte{object}, nil, symbols)
			if err != nil {
				t.Fatal(err)
			}
			isLinked(t, c)
			const n = 26
			out := make([]uint64, 8)
			llvm.Call(c.Functions["calls"], uintptr(unsafe.Pointer(&out[0])), n)
			// 26² * 2^80 / 29 / 2^64
			for i, want := range []uint64{math.Float64bits(math.Pow(1.5, n)), 26 * 26 << 16 / 29, 7,
				0x0101, 0} {
				if out[i] != want {
					t.Errorf("model %d, %s: word %d is %#x, want %#x", model, passes, i, out[i], want)
				}
			}
			for i, want := range []uint64{17, 29, 2, 31, 5, 1<<64 - 1} {
				if got := llvm.Call(c.Functions["jumps"], uintptr(i)); uint64(got) != want {
					t.Errorf("model %d, %s: case %d is %d, want %d", model, passes, i, got, want)
				}
			}
			c.Close()
		}
	}
}

// TestLinksByJIT has LLVM's JIT link what elfload does not know, and tells of
// both where neither can.
func TestLinksByJIT(t *testing.T) {
	lib := open(t)
	const ir = `
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }]
  [{ i32, ptr, ptr } { i32 65535, ptr @begin, ptr null }]
@begun = internal global i64 0
define internal void @begin() {
  store volatile i64 1, ptr @begun
  ret void
}
define i64 @next(i64 %x) {
  %y = add i64 %x, 1
  ret i64 %y
}
`
	c, err := Load(Options{Library: lib}, ir, []string{"next"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := llvm.Call(c.Functions["next"], 41); got != 42 || c.jit == nil {
		t.Errorf("got %d, by the JIT: %v", got, c.jit != nil)
	}
	_, err = Load(Options{Library: lib}, `
declare i64 @redfox_is_nowhere()
define i64 @calls() {
  %x = call i64 @redfox_is_nowhere()
  ret i64 %x
}
`, []string{"calls"})
	if err == nil || strings.Count(err.Error(), "redfox_is_nowhere") < 1 ||
		elfload.Supported && !strings.Contains(err.Error(), "is not defined") {
		t.Errorf("got %v", err)
	}
}
