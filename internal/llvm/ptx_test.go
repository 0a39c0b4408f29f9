package llvm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/ptxas"
)

// kernelSource multiplies the elements of a column, each by itself, for every
// thread one.
const kernelSource = `
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()

define void @square(ptr addrspace(1) %column, i32 %n) {
entry:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %block, %size
  %i = add i32 %first, %thread
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %body, label %exit

body:
  %wide = sext i32 %i to i64
  %p = getelementptr i64, ptr addrspace(1) %column, i64 %wide
  %v = load i64, ptr addrspace(1) %p
  %vv = mul i64 %v, %v
  store i64 %vv, ptr addrspace(1) %p
  br label %exit

exit:
  ret void
}

!nvvm.annotations = !{!0}
!0 = !{ptr @square, !"kernel", i32 1}
`

// TestPTX checks the kernel in PTX.
func TestPTX(t *testing.T) {
	gpu := gpuMachine(t, 80)
	m, err := gpu.ParseIR("square", kernelSource)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Optimize(gpu, "default<O3>", OptimizeOptions{VerifyEach: true}); err != nil {
		t.Fatal(err)
	}
	ptx, err := gpu.EmitAssembly(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".visible .entry square(", ".target sm_80", "%tid.x",
		"ld.global.u64", "st.global.u64", "mul.lo.s64"} {
		if !strings.Contains(string(ptx), want) {
			t.Errorf("PTX has no %q:\n%s", want, ptx)
		}
	}
	_, err = gpu.EmitObject(m)
	wantError(t, err, "emit an object of")
}

// TestPTXVersions wants each choice of PTXOptions to be one that LLVM knows: it
// stands in the PTX, and TestSilence finds that nothing is written about it.
func TestPTXVersions(t *testing.T) {
	l := library(t)
	highest := map[int]string{15: "7.5", 16: "7.8", 17: "8.1", 18: "8.3",
		19: "8.5"}[l.Version().Major]
	newestGPU := "sm_90"
	if l.Version().Major == 15 {
		newestGPU = "sm_86"
	}
	for _, c := range []struct {
		sm, maxPTX   int
		version, gpu string
	}{
		{sm: 60, version: highest, gpu: "sm_60"},
		{sm: 72, version: highest, gpu: "sm_70"},
		{sm: 75, version: highest, gpu: "sm_75"},
		{sm: 80, version: highest, gpu: "sm_80"},
		{sm: 86, version: highest, gpu: "sm_86"},
		{sm: 90, version: highest, gpu: newestGPU},
		{sm: 120, version: highest, gpu: newestGPU},
		{sm: 90, maxPTX: 75, version: "7.5", gpu: "sm_86"},
		{sm: 90, maxPTX: 70, version: "7.0", gpu: "sm_80"},
		{sm: 90, maxPTX: 62, version: "6.1", gpu: "sm_70"},
		{sm: 90, maxPTX: 999, version: highest, gpu: newestGPU},
	} {
		o, err := l.PTXOptions(c.sm, c.maxPTX)
		if err != nil {
			t.Fatal(err)
		}
		ptx, err := machine(t, o).EmitAssembly(parse(t, "square", kernelSource))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{".version " + c.version + "\n", ".target " + c.gpu + "\n"} {
			if !strings.Contains(string(ptx), want) {
				t.Errorf("PTXOptions(%d, %d): no %q in\n%.300s", c.sm, c.maxPTX, want, ptx)
			}
		}
	}
	_, err := l.PTXOptions(35, 0)
	wantError(t, err, "choose PTX for sm_35", "sm_60")
	_, err = l.PTXOptions(80, 40)
	wantError(t, err, "choose PTX for sm_80", "6.0")
}

// TestPTXAs assembles what is emitted with NVIDIA's assembler.
func TestPTXAs(t *testing.T) {
	ptxas.Need(t)
	m := parse(t, "square", kernelSource)
	for _, sm := range []int{80, 90} {
		ptx, err := gpuMachine(t, sm).EmitAssembly(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ptxas.Assemble(ptx, fmt.Sprintf("sm_%d", sm)); err != nil {
			t.Error(err)
		}
	}
}
