package llvm

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"unsafe"
)

// newJIT makes a JIT for as long as the test runs.
func newJIT(t testing.TB) *JIT {
	t.Helper()
	j, err := library(t).NewJIT()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// compiled adds a module to the JIT and looks a function up.
func compiled(t testing.TB, j *JIT, m *Module, function string) uintptr {
	t.Helper()
	if err := j.AddModule(m); err != nil {
		t.Fatal(err)
	}
	address, err := j.Lookup(function)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// sumSource adds the n numbers of a column.
const sumSource = `
define i64 @sum(ptr %column, i64 %n) {
entry:
  %none = icmp eq i64 %n, 0
  br i1 %none, label %exit, label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i64 [ 0, %entry ], [ %t, %loop ]
  %p = getelementptr i64, ptr %column, i64 %i
  %v = load i64, ptr %p
  %t = add i64 %s, %v
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %exit

exit:
  %r = phi i64 [ 0, %entry ], [ %t, %loop ]
  ret i64 %r
}
`

func TestJIT(t *testing.T) {
	j := newJIT(t)
	m := parse(t, "sum", sumSource)
	if err := m.Optimize(j.Target(), "default<O3>", OptimizeOptions{}); err != nil {
		t.Fatal(err)
	}
	sum := compiled(t, j, m, "sum")
	m.Close() // the code does not need it any more
	column := make([]int64, 1000)
	want := int64(0)
	for i := range column {
		column[i] = int64(i * i * i)
		want += column[i]
	}
	for _, n := range []int{0, 1, 3, len(column)} {
		partial := int64(0)
		for _, v := range column[:n] {
			partial += v
		}
		if got := int64(Call(sum, uintptr(unsafe.Pointer(&column[0])),
			uintptr(n))); got != partial {
			t.Errorf("sum of %d is %d; want %d", n, got, partial)
		}
	}
	// Modules of one JIT see each other.
	two := parse(t, "two",
		"declare i64 @sum(ptr, i64)\ndefine i64 @twice(ptr %c, i64 %n) {\n  %s = call i64 @sum(ptr %c, i64 %n)\n  %r = mul i64 %s, 2\n  ret i64 %r\n}\n")
	if got := int64(Call(compiled(t, j, two, "twice"), uintptr(unsafe.Pointer(&column[0])),
		uintptr(len(column)))); got != 2*want {
		t.Errorf("twice the sum is %d; want %d", got, 2*want)
	}
}

// TestJITSymbols calls libm, which the process has, and a callback, which is
// defined.
func TestJITSymbols(t *testing.T) {
	j := newJIT(t)
	calls := 0
	err := j.Define(map[string]uintptr{
		"negate": NewCallback(func(v int64) int64 { calls++; return -v }),
		"double": NewCallback(func(v int64) int64 { return 2 * v }),
	})
	if err != nil {
		t.Fatal(err)
	}
	m := parse(t, "symbols", `
declare double @cbrt(double)
declare i64 @negate(i64)
declare i64 @double(i64)

define i64 @f(i64 %bits) {
  %x = bitcast i64 %bits to double
  %root = call double @cbrt(double %x)
  %whole = fptosi double %root to i64
  %d = call i64 @double(i64 %whole)
  %r = call i64 @negate(i64 %d)
  ret i64 %r
}
`)
	f := compiled(t, j, m, "f")
	for i := range int64(3) {
		if got := int64(Call(f, uintptr(math.Float64bits(1000)))); got != -20 || calls != int(i)+1 {
			t.Errorf("call %d: -2 times the cube root of 1000 is %d after %d callbacks", i, got,
				calls)
		}
	}
}

func TestJITFailures(t *testing.T) {
	l := library(t)
	j := newJIT(t)
	_, err := j.Lookup("nowhere")
	wantError(t, err, "look up nowhere", "nowhere")

	m := parse(t, "unresolved",
		"declare void @not_in_this_process()\ndefine void @f() {\n  call void @not_in_this_process()\n  ret void\n}\n")
	if err := j.AddModule(m); err != nil {
		t.Fatal(err)
	}
	_, err = j.Lookup("f")
	wantError(t, err, "look up f", "not_in_this_process")

	add := parse(t, "add", addSource)
	if got := Call(compiled(t, j, add, "add"), 40, 2); got != 42 {
		t.Errorf("after failures, 40 + 2 = %d", got)
	}
	wantError(t, j.AddModule(add), "add add", "add")
	wantError(t, j.Define(map[string]uintptr{"add": 1}), "define symbols", "add")
	wantError(t, j.AddObject("noise", []byte("no object")), "add noise")

	closed, err := l.NewJIT()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := closed.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err = closed.Lookup("add")
	wantError(t, err, "look up add", "closed")
	wantError(t, closed.AddModule(add), "emit an object of", "closed")
}

// TestOptimizeOptions counts the vector additions that a loop is compiled to:
// one for each iteration that runs at once.
func TestOptimizeOptions(t *testing.T) {
	h := host(t)
	adds := func(pipeline string, o OptimizeOptions) int {
		m := parse(t, "sum", sumSource)
		if err := m.Optimize(h, pipeline, o); err != nil {
			t.Fatal(err)
		}
		return len(vectorAdd.FindAllString(m.String(), -1))
	}
	if n := adds("default<O1>", OptimizeOptions{}); n != 0 {
		t.Errorf("O1 vectorises: %d additions", n)
	}
	several := adds("default<O3>", OptimizeOptions{NoLoopUnroll: true})
	one := adds("default<O3>", OptimizeOptions{NoLoopUnroll: true, NoLoopInterleave: true})
	if one != 1 || several <= one {
		t.Errorf("vector additions: %d, without interleaving %d", several, one)
	}

	stores := func(o OptimizeOptions) int {
		m := parse(t, "stores", storesSource)
		if err := m.Optimize(h, "default<O3>", o); err != nil {
			t.Fatal(err)
		}
		return strings.Count(m.String(), "store volatile")
	}
	if all, loop := stores(OptimizeOptions{VerifyEach: true}),
		stores(OptimizeOptions{NoLoopUnroll: true}); all != 5 || loop != 1 {
		t.Errorf("stores: %d, without unrolling %d", all, loop)
	}
}

// storesSource writes five numbers.
const storesSource = `
define void @count(ptr %p) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  store volatile i64 %i, ptr %p
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 5
  br i1 %more, label %loop, label %exit

exit:
  ret void
}
`

// vectorAdd finds an addition of vectors in the loop.
var vectorAdd = regexp.MustCompile(`= add <[0-9]+ x i64> %(wide|vec|[0-9])`)

func BenchmarkOpenJIT(b *testing.B) {
	l := library(b)
	for b.Loop() {
		j, err := l.NewJIT()
		if err != nil {
			b.Fatal(err)
		}
		j.Close()
	}
}

// BenchmarkJIT goes from text to an address, in a JIT of its own.
func BenchmarkJIT(b *testing.B) {
	l := library(b)
	for b.Loop() {
		if err := runJIT(l, 1); err != nil {
			b.Fatal(err)
		}
	}
}

// runJIT compiles, runs and frees a small function that returns n.
func runJIT(l *Library, n int) error {
	j, err := l.NewJIT()
	if err != nil {
		return err
	}
	defer j.Close()
	m, err := l.ParseIR("sum",
		sumSource+fmt.Sprintf("define i64 @number() {\n  ret i64 %d\n}\n", n))
	if err != nil {
		return err
	}
	defer m.Close()
	if err := m.Optimize(j.Target(), "default<O3>", OptimizeOptions{}); err != nil {
		return err
	}
	if err := j.AddModule(m); err != nil {
		return err
	}
	number, err := j.Lookup("number")
	if err != nil {
		return err
	}
	if got := int(Call(number)); got != n {
		return fmt.Errorf("compiled %d, got %d", n, got)
	}
	return nil
}

// BenchmarkCall measures one call of a compiled function, with one argument and
// with several.
func BenchmarkCall(b *testing.B) {
	j := newJIT(b)
	identity := compiled(b, j,
		parse(b, "identity", "define i64 @identity(i64 %a) {\n  ret i64 %a\n}\n"), "identity")
	b.Run("Call", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Call(identity, 1)
		}
	})
	b.Run("CallWith6", func(b *testing.B) {
		for b.Loop() {
			Call(identity, 1, 2, 3, 4, 5, 6)
		}
	})
	b.Run("bind", func(b *testing.B) {
		var f func(int64) int64
		bind(&f, identity)
		b.ReportAllocs()
		for b.Loop() {
			f(1)
		}
	})
}
