package target

import "testing"

func TestParse(t *testing.T) {
	for _, name := range []string{"cpu", "gpu:sm_80", "gpu:sm_90", "gpu:sm_120"} {
		got, ok := Parse(name)
		if !ok || got.Name != name {
			t.Errorf("Parse(%q) = %q, %v", name, got.Name, ok)
		}
		if err := got.Verify(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got.GPU == (got.SM == 0) || len(got.Budget.Items) == 0 {
			t.Errorf("%s: %+v is incomplete", name, got)
		}
	}
	for _, name := range []string{"", "gpu", "CPU", "gpu:sm_", "gpu:sm_75", "gpu:sm_090",
		"gpu:sm_1000", "gpu:90", "gpu:sm_-90"} {
		if got, ok := Parse(name); ok {
			t.Errorf("Parse(%q) = %+v, want none", name, got)
		}
	}
}

func TestPasses(t *testing.T) {
	for llvm := 15; llvm <= 19; llvm++ {
		if cpu, gpu := CPU().Passes(llvm), GPU(90).Passes(llvm); len(cpu) != 1 || len(gpu) != 2 {
			t.Errorf("LLVM %d: %d pipelines for the CPU, %d for the GPU", llvm, len(cpu), len(gpu))
		}
	}
}
