package ptxas

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// kernels has a kernel that does nothing, and one with a frame of local memory,
// shared memory and a call.
const kernels = `.version 7.5
.target sm_80
.address_size 64
.func (.param .b64 r) next(.param .b64 p)
{
	.reg .b64 %r<3>;
	ld.param.b64 %r1, [p];
	add.s64 %r2, %r1, 1;
	st.param.b64 [r], %r2;
	ret;
}
.visible .entry busy(.param .u64 p)
{
	.reg .u64 %r<5>;
	.local .align 8 .b8 l[1000];
	.shared .align 4 .b8 s[128];
	ld.param.u64 %r1, [p];
	cvta.to.global.u64 %r2, %r1;
	st.shared.u64 [s], %r1;
	st.local.u64 [l], %r1;
	ld.local.u64 %r4, [l+8];
	{
		.param .b64 x;
		.param .b64 y;
		st.param.b64 [x], %r1;
		call.uni (y), next, (x);
		ld.param.b64 %r3, [y];
	}
	st.global.u64 [%r2], %r3;
	st.global.u64 [%r2+8], %r4;
	ret;
}
.visible .entry idle()
{
	ret;
}
`

func TestAssemble(t *testing.T) {
	Need(t)
	for _, arch := range []string{"sm_80", "sm_90"} {
		r, err := Assemble([]byte(kernels), arch)
		if err != nil {
			t.Fatal(err)
		}
		busy, ok := r.Kernel("busy")
		if !ok || busy.Stack != 1000 || busy.Registers == 0 || busy.Shared < 128 ||
			busy.SpillStores != 0 {
			t.Errorf("%s: busy takes %+v", arch, busy)
		}
		idle, ok := r.Kernel("idle")
		if !ok || idle.Stack != 0 || idle.Registers == 0 || idle.Registers > busy.Registers {
			t.Errorf("%s: idle takes %+v", arch, idle)
		}
		if len(r.Kernels) != 2 || len(r.Functions) != 1 || r.Functions[0].Name != "next" ||
			r.Arch != arch {
			t.Errorf("%s: %+v", arch, r)
		}
	}
}

func TestAssembleRefuses(t *testing.T) {
	Need(t)
	_, err := Assemble([]byte(strings.Replace(kernels, "add.s64", "addd.s64", 1)), "sm_80")
	var refused *Error
	if !errors.As(err, &refused) || !strings.Contains(refused.Lines, "addd.s64 %r2, %r1, 1;") {
		t.Errorf("a misspelt instruction: %v", err)
	}
	if _, err := Assemble([]byte(kernels), "sm_75"); !errors.As(err, &refused) {
		t.Errorf("PTX for a later architecture: %v", err)
	}
}

// TestParse reads what ptxas 12.9 says where registers run out.
func TestParse(t *testing.T) {
	r, err := parse(`ptxas warning : Value of threads per SM for entry a is out of range.
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'b' for 'sm_80'
ptxas info    : Function properties for b
    1000 bytes stack frame, 24 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 1000 bytes cumulative stack size, 128 bytes smem, 360 bytes cmem[0]
ptxas info    : Compile time = 2.228 ms
ptxas info    : Compiling entry function 'a' for 'sm_80'
ptxas info    : Function properties for a
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers, 352 bytes cmem[0]
ptxas info    : Function properties for f
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
`)
	if err != nil {
		t.Fatal(err)
	}
	want := Report{
		Kernels: []Usage{
			{Name: "a", Registers: 4},
			{Name: "b", Registers: 255, Stack: 1000, SpillStores: 24, SpillLoads: 20, Shared: 128},
		},
		Functions: []Usage{{Name: "f", Stack: 8}},
		Warnings:  []string{"Value of threads per SM for entry a is out of range."},
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
	if got, want := r.Kernels[1].String(),
		"b: 255 registers, 128 bytes shared, 1000 bytes of stack, spills 24 bytes out and 20 in"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, err := parse("ptxas info    : Compiling entry function 'a' for 'sm_80'\n"); err == nil {
		t.Error("a kernel without registers is accepted")
	}
}

// TestLocate follows the order of places.
func TestLocate(t *testing.T) {
	root := t.TempDir()
	program := func(elem ...string) string {
		t.Helper()
		path := filepath.Join(append([]string{root}, elem...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	want := func(path string) {
		t.Helper()
		if got, err := locate(root); err != nil || got != path {
			t.Errorf("found %q, %v; want %q", got, err, path)
		}
	}
	t.Setenv("PATH", filepath.Join(root, "bin"))
	t.Setenv(Variable, "")
	if _, err := locate(root); !errors.Is(err, ErrNotFound) {
		t.Errorf("without any: %v", err)
	}
	want(program("bench", "data", "ptxas", "ptxas"))
	want(program("bench", "data", "venv", "lib", "python3.11", "site-packages", "nvidia",
		"cuda_nvcc", "bin", "ptxas"))
	want(program("bin", "ptxas"))
	named := program("named")
	t.Setenv(Variable, named)
	want(named)
	t.Setenv(Variable, filepath.Join(root, "missing"))
	if _, err := locate(root); err == nil || errors.Is(err, ErrNotFound) ||
		!strings.Contains(err.Error(), Variable) {
		t.Errorf("a name that leads nowhere: %v", err)
	}
}
