package llvm

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// callsLibrary calls one of the functions of libraryIR.
const callsLibrary = `
declare i64 @once(i64)

define i64 @kernel(i64 %a) {
  %r = call i64 @once(i64 %a)
  ret i64 %r
}

define i64 @other(i64 %a) {
  ret i64 %a
}
`

const libraryIR = `
define linkonce_odr i64 @once(i64 %a) alwaysinline {
  %r = call i64 @twice(i64 %a)
  ret i64 %r
}

define linkonce_odr i64 @twice(i64 %a) alwaysinline {
  %r = mul i64 %a, 77
  ret i64 %r
}

define linkonce_odr i64 @unused(i64 %a) {
  %r = mul i64 %a, 99
  ret i64 %r
}
`

// TestCompile wants the code that the steps one by one give.
func TestCompile(t *testing.T) {
	gpu := gpuMachine(t, 80)
	library, err := parse(t, "library", libraryIR).Bitcode()
	if err != nil {
		t.Fatal(err)
	}
	const passes = "globaldce,always-inline,globaldce"
	m, err := gpu.ParseIR("unit", callsLibrary)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.LinkBitcode("library", library); err != nil {
		t.Fatal(err)
	}
	if err := m.Internalize("kernel"); err != nil {
		t.Fatal(err)
	}
	if err := m.Optimize(gpu, passes, OptimizeOptions{}); err != nil {
		t.Fatal(err)
	}
	want, err := gpu.EmitAssembly(m)
	if err != nil {
		t.Fatal(err)
	}
	c := Compilation{Name: "unit", IR: callsLibrary, Library: "library", Bitcode: library,
		Keep: []string{"kernel"}, Passes: []string{passes}}
	got, times, err := gpu.Compile(c)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%v\n%s\nwant\n%s", err, got, want)
	}
	for _, s := range []string{"77", "kernel"} {
		if !strings.Contains(string(got), s) {
			t.Errorf("%s is not there:\n%s", s, got)
		}
	}
	for _, s := range []string{"99", "other", "unused", "twice"} {
		if strings.Contains(string(got), s) {
			t.Errorf("%s is there:\n%s", s, got)
		}
	}
	if times.Parse <= 0 || times.Link <= 0 || times.Optimize <= 0 || times.Emit <= 0 {
		t.Errorf("the steps took %+v", times)
	}

	c.IR, c.Bitcode, c.Object = addSource, nil, true
	c.Keep = []string{"add"}
	object, times, err := host(t).Compile(c)
	if err != nil || times.Link != 0 || !bytes.HasPrefix(object, []byte("\x7fELF")) &&
		!bytes.HasPrefix(object, []byte("\xcf\xfa\xed\xfe")) {
		t.Errorf("no object file: %q, %v, %+v", object[:min(8, len(object))], err, times)
	}
}

// TestFailedCompile wants the IR that was given with every error, and a target
// machine that compiles the next text.
func TestFailedCompile(t *testing.T) {
	gpu := gpuMachine(t, 80)
	good := Compilation{Name: "good", IR: addSource, Keep: []string{"add"},
		Passes: []string{"globaldce"}}
	want, _, err := gpu.Compile(good)
	if err != nil {
		t.Fatal(err)
	}
	defining, err := parse(t, "library", addSource).Bitcode()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		op, says string
		change   func(*Compilation)
	}{
		{"parse", "bad:2:", func(c *Compilation) { c.IR = "define i64 @f() {\n  ret i32 0\n}\n" }},
		{"link library into", "add", func(c *Compilation) {
			c.Library, c.Bitcode = "library", defining
		}},
		{"link noise into", "", func(c *Compilation) {
			c.Library, c.Bitcode = "noise", []byte("no bitcode")
		}},
		{"optimize", "no-such-pass", func(c *Compilation) {
			c.Passes = []string{"globaldce", "no-such-pass"}
		}},
		{"emit assembly of", "Cannot select", func(c *Compilation) {
			c.IR, c.Keep = cannotSelect, []string{"f"}
		}},
	} {
		bad := good
		bad.Name = "bad"
		f.change(&bad)
		code, _, err := gpu.Compile(bad)
		if e := wantError(t, err, f.op, f.says); code != nil || e.IR != bad.IR ||
			e.Module != "bad" {
			t.Errorf("%s: %d bytes, and an error of %s with\n%s", f.op, len(code), e.Module, e.IR)
		}
		if got, _, err := gpu.Compile(good); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("after a failure to %s: %v\n%s", f.op, err, got)
		}
	}
	gpu.Close()
	_, _, err = gpu.Compile(good)
	wantError(t, err, "optimize", "closed")
}

// TestStages wants functions that stay apart in the first pipeline in their
// callers after the second.
func TestStages(t *testing.T) {
	const ir = `
define internal i64 @part(i64 %a) {
  %r = mul i64 %a, 77
  ret i64 %r
}

define i64 @whole(i64 %a) {
  %b = call i64 @part(i64 %a)
  %c = call i64 @part(i64 %b)
  ret i64 %c
}
`
	gpu := gpuMachine(t, 80)
	c := Compilation{Name: "unit", IR: ir, Keep: []string{"whole"},
		Passes: []string{"always-inline,globaldce"}}
	for _, stages := range []int{1, 2} {
		c.Passes = slices.Repeat(c.Passes[:1], stages)
		code, _, err := gpu.Compile(c)
		if err != nil {
			t.Fatal(err)
		}
		if calls := strings.Contains(string(code), "call"); calls != (stages == 1) {
			t.Errorf("after %d pipelines:\n%s", stages, code)
		}
	}
}
