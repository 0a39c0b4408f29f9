package driver

import (
	"flag"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/internal/ptxas"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/gpu"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

var bothGPUs = flag.Bool("both", false,
	"assemble the PTX of every query for sm_80 and sm_90, not for one of them")

// wideLoads are loads of 16 bytes, as PTX of several versions of LLVM has them.
var wideLoads = []string{"ld.global.v4.u32", "ld.global.v4.b32", "ld.global.v2.u64",
	"ld.global.v2.b64"}

// TestPTXOfQueries compiles the queries of TPC-H and SSB for their facts.
// NVIDIA's assembler takes what they become, nothing spills, no array is in a
// thread's local memory, and the columns of four bytes that Q1 and Q6 read come
// by 16 bytes at once.
func TestPTXOfQueries(t *testing.T) {
	ptxas.Need(t)
	type query struct {
		name    string
		program *Program
		db      *Database
	}
	var all []query
	for _, q := range benchmarkQueries(t, "tpch", "wide") {
		all = append(all, query{"tpch/" + q.name, q.compile(t, Options{}), q.db})
	}
	for _, q := range benchmarkQueries(t, "ssb") {
		all = append(all, query{"ssb/" + q.name, q.compile(t, Options{}), q.db})
	}
	for i, q := range all {
		t.Run(q.name, func(t *testing.T) {
			for j, arch := range []string{"sm_80", "sm_90"} {
				if !*bothGPUs && (i+j)%2 > 0 {
					continue
				}
				var text strings.Builder
				if err := q.program.Emit(&text, StagePTX,
					EmitOptions{Facts: q.db, Target: "gpu:" + arch}); err != nil {
					t.Fatal(err)
				}
				ptx := text.String()
				if strings.Contains(ptx, "__local_depot") {
					t.Errorf("%s: an array is in local memory", arch)
				}
				reads := func(load string) bool { return strings.Contains(ptx, load) }
				if (q.name == "tpch/q01" || q.name == "tpch/q06") &&
					!slices.ContainsFunc(wideLoads, reads) {
					t.Errorf("%s: no load of 16 bytes", arch)
				}
				// The engine gives the driver each kernel by itself.
				for _, kernel := range gpu.SplitKernels(ptx) {
					found, err := ptxas.Assemble([]byte(kernel), arch)
					if err != nil {
						t.Fatal(err)
					}
					for _, u := range append(found.Kernels, found.Functions...) {
						if u.Stack+u.SpillStores+u.SpillLoads > 0 {
							t.Errorf("%s: %s", arch, u)
						}
					}
				}
			}
		})
	}
}

// TestEarlyPTX compares the PTX of kernels that the driver gets one by one with
// what it gets of all together: it does not compile a kernel twice.
func TestEarlyPTX(t *testing.T) {
	short.Skip(t, "PTX of whole queries")
	target, err := assemble.ParseTarget("gpu:sm_80")
	if err != nil {
		t.Fatal(err)
	}
	a, err := process.Machine.Tools.NewAssembler(target)
	if err != nil {
		t.Skip(err)
	}
	a = a.WithoutCache()
	var mu sync.Mutex
	var early []string
	a.Early = func(ptx string) {
		mu.Lock()
		defer mu.Unlock()
		early = append(early, gpu.SplitKernels(ptx)...)
	}
	// Q1 divides numbers of 128 bits by a function, and indexes of Q8 are built
	// by the same code.
	for _, q := range benchmarkQueries(t, "tpch") {
		if q.name != "q01" && q.name != "q08" {
			continue
		}
		early = nil
		p := q.compile(t, Options{})
		plan, err := p.optimise(p.wantedByDefault(), q.db)
		if err != nil {
			t.Fatal(err)
		}
		graph, _, err := assemble.Graph(plan, target, p.fusing)
		if err != nil {
			t.Fatal(err)
		}
		k, err := know(plan, graph, target, q.db, nil)
		if err != nil {
			t.Fatal(err)
		}
		code, err := a.Compile(graph, k)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		kernels := gpu.SplitKernels(code.Text)
		for i, first := range gpu.FirstEqual(kernels) {
			if first == i {
				all = append(all, kernels[i])
			}
		}
		slices.Sort(all)
		slices.Sort(early)
		if !slices.Equal(all, early) || len(all) < 2 ||
			q.name == "q08" && len(all) == len(kernels) {
			t.Errorf("%s: %d kernels come early, and %d in all, which differ", q.name, len(early),
				len(all))
		}
	}
}

// TestPTXOfPackedColumns compiles queries for facts all of whose columns are
// packed. NVIDIA's assembler takes what they become, and entries are shifted in
// registers.
func TestPTXOfPackedColumns(t *testing.T) {
	ptxas.Need(t)
	before := layout.GPU
	defer func() { layout.GPU = before }()
	layout.GPU.Pack, layout.GPU.PackTenths = 1, 10
	target, err := assemble.ParseTarget("gpu:sm_90")
	if err != nil {
		t.Fatal(err)
	}
	a, err := process.Machine.Tools.NewAssembler(target)
	if err != nil {
		t.Skip(err)
	}
	for i, q := range slices.Concat(benchmarkQueries(t, "tpch"), benchmarkQueries(t, "ssb")) {
		if !*bothGPUs && i%4 != 0 {
			continue
		}
		p := q.compile(t, Options{})
		plan, graph, err := p.graphFor(target, EmitOptions{Facts: q.db})
		if err != nil {
			t.Fatal(err)
		}
		ptx, err := ptxOf(a, plan, graph, target, EmitOptions{Facts: q.db})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(ptx, "shf.r.wrap.b32") || strings.Contains(ptx, "__local_depot") {
			t.Errorf("%s: no packed column is read, or one in local memory", q.name)
		}
		if _, err := ptxas.Assemble([]byte(ptx), "sm_90"); err != nil {
			t.Errorf("%s: %v", q.name, err)
		}
	}
}
