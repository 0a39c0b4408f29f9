package redfox

import (
	"fmt"
	"io"
	"strings"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/lower"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/weaver/fuse"
)

// lowerPlan turns an optimised plan into a kernel graph.
func lowerPlan(plan *queryplan.Plan) (p *harmony.Program, err error) {
	defer recoverPhase("lowering", &err)
	p, err = lower.Lower(plan)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		return nil, &InternalError{Phase: "lowering", Err: err}
	}
	return p, nil
}

// fuseKernels makes few kernels of many, as a target allows, and reports what became
// of them.
func (p *Program) fuseKernels(kernels *harmony.Program, t target) (fused *harmony.Program, report *fuse.Report, err error) {
	defer recoverPhase("fusion", &err)
	fused, report, err = fuse.Fuse(kernels, fuse.Options{Off: p.noFuse, Budget: t.budget})
	if err != nil {
		return nil, nil, &InternalError{Phase: "fusion", Err: err}
	}
	return fused, report, nil
}

// explainKernels writes the kernels that a plan becomes, in full if that is asked
// for, and the fusions that were refused.
func (p *Program) explainKernels(w io.Writer, plan *queryplan.Plan, opts ExplainOptions) error {
	t, err := stageTarget(StageHarmony, opts.Target)
	if err != nil {
		return err
	}
	kernels, err := lowerPlan(plan)
	if err != nil {
		return err
	}
	_, report, err := p.fuseKernels(kernels, t)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("\n== kernels, for %s\n", t.Name)
	if opts.Kernels {
		text += report.KernelsString()
	} else {
		for _, k := range report.Kernels {
			text += fmt.Sprintf("%s: %s\n", k.Name, strings.Join(k.Ops, ", "))
		}
	}
	if opts.WhyNotFused {
		text += "\n== kernels that stay apart\n" + report.RefusalsString()
	}
	_, err = io.WriteString(w, text)
	return err
}
