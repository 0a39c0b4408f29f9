package native

import (
	"context"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Know returns what code for a kernel graph, which the plan became, can take for
// granted over facts: the layouts and bounds that Run would choose. Code for a GPU
// shares groups between threads, whatever else it knows. The errors are those of
// Run's preparation.
func Know(ctx context.Context, plan *queryplan.Plan, graph *harmony.Program, facts *store.Database, gpu bool) (Knowledge, error) {
	r := &run{req: &runtime.Request{Plan: plan, Facts: facts}, mem: newMemory(0), threads: 1, sizes: defaults}
	defer r.mem.close()
	prog := newProgram(plan, graph)
	if err := r.prepare(ctx, prog); err != nil {
		return Knowledge{}, err
	}
	k := &knowledge{layouts: r.layouts, ranges: r.ranges, named: prog.named}
	return Knowledge{
		Fix: func(_ string, p abi.Param) (int64, bool) {
			if gpu && p.Kind == abi.GroupShared {
				return 1, true
			}
			a := k.fix(p)
			return a.lo, a.ok
		},
		Range: func(r *harmony.Reg) (lo, hi int64, ok bool) {
			a := k.reg(r)
			return a.lo, a.hi, a.ok
		},
		Domains: prog.domains,
	}, nil
}
