package llvm

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// library opens libLLVM or skips the test.
func library(t testing.TB) *Library {
	t.Helper()
	l, err := Open()
	var missing *NotFoundError
	if errors.As(err, &missing) && !missing.Named {
		t.Skip("libLLVM is not installed: apt-get install libllvm15")
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// parse parses IR that is right, for as long as the test runs.
func parse(t testing.TB, name, ir string) *Module {
	t.Helper()
	m, err := library(t).ParseIR(name, ir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// host makes a target machine for this processor.
func host(t testing.TB) *TargetMachine {
	t.Helper()
	return machine(t, library(t).HostOptions())
}

// gpuMachine makes a target machine for a compute capability.
func gpuMachine(t testing.TB, sm int) *TargetMachine {
	t.Helper()
	o, err := library(t).PTXOptions(sm, 0)
	if err != nil {
		t.Fatal(err)
	}
	return machine(t, o)
}

func machine(t testing.TB, o TargetOptions) *TargetMachine {
	t.Helper()
	m, err := library(t).NewTargetMachine(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// wantError checks that an error is LLVM's and says what it must.
func wantError(t *testing.T, err error, op string, says ...string) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v; want an *Error of %q", err, op)
	}
	if e.Op != op {
		t.Errorf("the error's step is %q; want %q", e.Op, op)
	}
	for _, s := range says {
		if !strings.Contains(e.Message, s) {
			t.Errorf("the message %q does not say %q", e.Message, s)
		}
	}
	return e
}

const addSource = `
define i64 @add(i64 %a, i64 %b) {
  %sum = add i64 %a, %b
  ret i64 %sum
}
`

// callsAdd has add and a helper in other hands.
const callsAdd = `
declare i64 @add(i64, i64)
declare double @llvm.sqrt.f64(double)

define i64 @twice(i64 %a) {
  %r = call i64 @add(i64 %a, i64 %a)
  ret i64 %r
}
`

func TestModule(t *testing.T) {
	m := parse(t, "caller", callsAdd)
	if got := m.Functions(); !slices.Equal(got, []string{"twice"}) {
		t.Errorf("Functions() = %q", got)
	}
	if got := m.Declarations(); !slices.Equal(got, []string{"add"}) {
		t.Errorf("Declarations() = %q", got)
	}
	h := host(t)
	if m.DataLayout() != "" || m.Triple() != "" {
		t.Errorf("a module without a target has the triple %q and the layout %q", m.Triple(),
			m.DataLayout())
	}
	if err := m.SetTarget(h); err != nil {
		t.Fatal(err)
	}
	if m.DataLayout() == "" || m.DataLayout() != h.DataLayout() ||
		m.Triple() != h.Options().Triple {
		t.Errorf("SetTarget: triple %q, layout %q", m.Triple(), m.DataLayout())
	}
	if err := m.Verify(); err != nil {
		t.Error(err)
	}
	again := parse(t, "again", m.String())
	if got, want := again.String(), strings.ReplaceAll(m.String(), "'caller'",
		"'again'"); got != want {
		t.Errorf("printed, parsed and printed again:\n%s\nwant:\n%s", got, want)
	}
}

func TestBitcode(t *testing.T) {
	m := parse(t, "add", addSource)
	bitcode, err := m.Bitcode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := m.lib.ParseBitcode("add", bitcode)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if read.String() != m.String() {
		t.Errorf("read back:\n%s\nwritten:\n%s", read, m)
	}
	for n := range len(bitcode) {
		if n%97 != 0 {
			continue
		}
		_, err := m.lib.ParseBitcode("cut", bitcode[:n])
		if err == nil {
			t.Fatalf("%d of %d bytes are a module", n, len(bitcode))
		}
		wantError(t, err, "parse")
	}
}

func TestLink(t *testing.T) {
	caller, add := parse(t, "caller", callsAdd), parse(t, "add", addSource)
	if err := caller.Link(add); err != nil {
		t.Fatal(err)
	}
	if got := caller.Functions(); !slices.Equal(got, []string{"twice", "add"}) {
		t.Errorf("linked: %q", got)
	}
	if err := caller.Internalize("twice"); err != nil {
		t.Fatal(err)
	}
	if err := caller.Optimize(host(t), "default<O2>",
		OptimizeOptions{VerifyEach: true}); err != nil {
		t.Fatal(err)
	}
	if got := caller.Functions(); !slices.Equal(got, []string{"twice"}) {
		t.Errorf("an internal function that was inlined is still there: %q", got)
	}
	if got := add.Functions(); !slices.Equal(got, []string{"add"}) {
		t.Errorf("the module that was linked has changed: %q", got)
	}
}

// TestFailedLink wants a module to be as it was after a failure.
func TestFailedLink(t *testing.T) {
	m, other := parse(t, "one", addSource), parse(t, "other", addSource)
	before := m.String()
	e := wantError(t, m.Link(other), "link other into", "symbol multiply defined", "add")
	if m.String() != before || e.IR != before {
		t.Errorf("after a failure:\n%s\nreported:\n%s\nwant:\n%s", m, e.IR, before)
	}
	wantError(t, m.LinkBitcode("noise", []byte("no bitcode")), "link noise into")
	if m.String() != before {
		t.Errorf("after a failure:\n%s", m)
	}
}

func TestLinkWarning(t *testing.T) {
	a := parse(t, "a", "target triple = \"x86_64-pc-linux-gnu\"\n"+callsAdd)
	b := parse(t, "b", "target triple = \"nvptx64-nvidia-cuda\"\n"+addSource)
	if err := a.Link(b); err != nil {
		t.Fatal(err)
	}
	if w := a.Warnings(); len(w) != 1 || !strings.Contains(w[0], "different target triples") {
		t.Errorf("warnings: %q", w)
	}
}

func TestFailures(t *testing.T) {
	l := library(t)
	const unfinished = "define i64 @f() {\n  ret i32 0\n}\n"
	_, err := l.ParseIR("unfinished", unfinished)
	if e := wantError(t, err, "parse", "unfinished:2:", "i32"); e.IR != unfinished {
		t.Errorf("reported IR: %q", e.IR)
	}
	_, err = host(t).ParseIR("unfinished", unfinished)
	if e := wantError(t, err, "parse", "unfinished:2:"); e.IR != unfinished {
		t.Errorf("reported IR: %q", e.IR)
	}

	// The parser accepts what only the verifier refuses.
	ill := parse(t, "ill",
		"define i64 @f(i64 %a) {\nb:\n  %x = add i64 %y, 1\n  %y = add i64 %x, 1\n  ret i64 %y\n}\n")
	if e := wantError(t, ill.Verify(), "verify", "does not dominate"); !strings.Contains(e.IR,
		"@f") {
		t.Errorf("reported IR: %q", e.IR)
	}

	m := parse(t, "add", addSource)
	h := host(t)
	e := wantError(t, m.Optimize(h, "default<O3>,no-such-pass", OptimizeOptions{}), "optimize",
		"no-such-pass")
	if e.IR != m.String() {
		t.Errorf("reported IR:\n%s", e.IR)
	}
	_, err = l.NewTargetMachine(TargetOptions{Triple: "pdp11-dec-bsd"})
	wantError(t, err, "make a target machine for pdp11-dec-bsd", "pdp11")

	assembly := parse(t, "assembly",
		"define void @f() {\n  call void asm sideeffect \"no_such_instruction\", \"\"()\n  ret void\n}\n")
	_, err = h.EmitObject(assembly)
	wantError(t, err, "emit an object of", "no_such_instruction")
}

// cannotSelect uses an instruction of another processor.
const cannotSelect = `
declare void @llvm.x86.sse2.pause()

define void @f() {
  call void @llvm.x86.sse2.pause()
  ret void
}
`

// TestFatalError provokes what ends a process that uses LLVM in other ways, and
// wants everything to be of use afterwards.
func TestFatalError(t *testing.T) {
	gpu := gpuMachine(t, 80)
	good := parse(t, "good", kernelSource)
	want, err := gpu.EmitAssembly(good)
	if err != nil {
		t.Fatal(err)
	}
	bad := parse(t, "bad", cannotSelect)
	for range 3 {
		_, err := gpu.EmitAssembly(bad)
		if e := wantError(t, err, "emit assembly of", "Cannot select"); e.IR != bad.String() ||
			e.Module != "bad" {
			t.Errorf("reported %s:\n%s", e.Module, e.IR)
		}
		got, err := gpu.EmitAssembly(good)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("after a fatal error: %v\n%s", err, got)
		}
	}
}

func TestClosed(t *testing.T) {
	l := library(t)
	m := parse(t, "add", addSource)
	closed, err := l.NewTargetMachine(l.HostOptions())
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	closed.Close()
	_, err = closed.EmitObject(m)
	wantError(t, err, "emit an object of", "target machine is closed")
	m.Close()
	m.Close()
	wantError(t, m.Verify(), "verify", "module is closed")
	_, err = host(t).EmitObject(m)
	wantError(t, err, "emit an object of", "module is closed")
	if m.String() != "" || m.Functions() != nil || m.DataLayout() != "" {
		t.Error("a closed module has contents")
	}
}

// TestSilence runs the failing tests in a process of their own, because LLVM
// writes to the file descriptor and not to os.Stderr.
func TestSilence(t *testing.T) {
	library(t)
	cmd := exec.Command(os.Args[0], "-test.run",
		"^Test(Failures|FailedLink|LinkWarning|FatalError|Bitcode|PTXVersions|JITFailures)$")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if out, err := cmd.Output(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if stderr.Len() > 0 {
		t.Errorf("LLVM wrote:\n%s", stderr.String())
	}
}

// TestNotFound opens what is not there in processes of their own, because a
// process opens the library once.
func TestNotFound(t *testing.T) {
	if name := os.Getenv("LLVM_TEST_OPEN"); name != "" {
		_, err := Open()
		var missing *NotFoundError
		if !errors.As(err, &missing) || len(missing.Tried) != 1 || missing.Tried[0].Name != name {
			t.Fatalf("Open() = %v", err)
		}
		for _, s := range []string{name, PathVariable, missing.Tried[0].Reason, missing.Advice()} {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%q does not say %q", err, s)
			}
		}
		_, again := Open()
		if again != err {
			t.Errorf("the second call returns another error: %v", again)
		}
		return
	}
	for _, name := range []string{"/no/such/libLLVM.so", "libc.so.6", "libLLVM-14.so.1"} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestNotFound$")
		cmd.Env = append(os.Environ(), PathVariable+"="+name, "LLVM_TEST_OPEN="+name)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestNotFoundMessage(t *testing.T) {
	e := &NotFoundError{Tried: []Attempt{{"libLLVM.so.19.1", notThere},
		{"libLLVM-15.so", "version 14"}}}
	if got := e.Error(); strings.Contains(got, "19.1") ||
		!strings.Contains(got, "libLLVM-15.so: version 14") || !strings.Contains(got, "install") {
		t.Errorf("%q", got)
	}
}

// TestInstalled wants a library that is installed to open, and no word of one
// that the environment names.
func TestInstalled(t *testing.T) {
	t.Setenv("LD_LIBRARY_PATH", "")
	t.Setenv(PathVariable, "")
	if Installed() {
		library(t)
	}
	t.Setenv(PathVariable, "/nowhere/libLLVM.so")
	if Installed() {
		t.Error("a library that is named is not looked for")
	}
}
