package expr

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/ptxas"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/primitives"
)

// gpuCalls are calls of every function, with words, with bounds and in 128
// bits: of each overload one in turn.
func gpuCalls() []*call {
	var out []*call
	for _, f := range scalar.Funcs() {
		n := 0
		for turn, o := range overloads(f) {
			if !Supported(f, o.result, o.params) {
				continue
			}
			list := calls(o, turn, func() string { n++; return "" })
			for i, c := range list {
				// Units are the innermost order; of other calls some.
				_, hasUnit := LiteralArg(f)
				if !hasUnit && i != turn%len(list) && i != len(list)-1 {
					continue
				}
				c.name = fmt.Sprintf("f%d", len(out))
				out = append(out, c)
			}
		}
	}
	return out
}

// gpuCode compiles calls to PTX for sm_80.
func gpuCode(t *testing.T, calls []*call) string {
	t.Helper()
	lib := library(t)
	options, err := lib.PTXOptions(80, 0)
	if err != nil {
		t.Skip(err)
	}
	machine, err := lib.NewTargetMachine(options)
	if err != nil {
		t.Fatal(err)
	}
	defer machine.Close()
	code, err := primitives.Bitcode(primitives.NVPTX64)
	if err != nil {
		t.Fatal(err)
	}
	m, primitive := newModule()
	for _, c := range calls {
		c.emit(m, primitive)
		c.kernel(m)
	}
	unit := optimized(t, machine, m, code)
	defer unit.Close()
	text, err := machine.EmitAssembly(unit)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPTX wants code for every function that calls nothing, keeps nothing in
// local memory and rounds each operation of its own.
func TestPTX(t *testing.T) {
	all := gpuCalls()
	text := gpuCode(t, all)
	bodies := strings.Split(text, ".visible .entry ")
	if len(bodies) != len(all)+1 {
		t.Fatalf("%d kernels for %d calls", len(bodies)-1, len(all))
	}
	refused := regexp.MustCompile(`call\.uni|\.extern|\.local|\.approx|fma\.rn|\b(add|sub|mul)\.f64`)
	for i, body := range bodies[1:] {
		if found := refused.FindString(body); found != "" {
			t.Errorf("%s: the PTX has %s", all[i], found)
		}
	}
}

// TestPTXAssembles gives one call of each function to ptxas.
func TestPTXAssembles(t *testing.T) {
	ptxas.Need(t)
	var some []*call
	seen := map[string]bool{}
	for _, c := range gpuCalls() {
		what := c.fn.Name
		for _, a := range c.args {
			what += fmt.Sprint(" ", a.wide)
			if a.Type.Kind == scalar.String {
				what += a.literal.Str()
			}
		}
		if !seen[what] {
			seen[what] = true
			some = append(some, c)
		}
	}
	text := gpuCode(t, some)
	for _, arch := range []string{"sm_80", "sm_90"} {
		report, err := ptxas.Assemble([]byte(text), arch)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range some {
			if u, ok := report.Kernel(c.name); !ok || u.SpillStores > 0 {
				t.Errorf("%s: kernel %d: %v", c, i, u)
			}
		}
	}
}
