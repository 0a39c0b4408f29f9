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

// kernelsOf lowers a plan and fuses its kernels for a target, unless noFuse says
// otherwise. It is the one place where plans become kernels, for all engines and
// for compiled programs.
func kernelsOf(plan *queryplan.Plan, t target, noFuse bool) (graph *harmony.Program, report *fuse.Report, err error) {
	// Operators become kernels over managed variables. From here on nothing knows
	// operators.
	graph, err = lowerPlan(plan)
	if err != nil {
		return nil, nil, err
	}
	defer recoverPhase("fusion", &err)
	// Kernels that can pass rows on in registers become one. From here on an operator
	// may be in several kernels, and a kernel has several operators.
	graph, report, err = fuse.Fuse(graph, fuse.Options{Off: noFuse, Budget: t.budget})
	if err != nil {
		return nil, nil, &InternalError{Phase: "fusion", Err: err, Dump: plan.String()}
	}
	return graph, report, nil
}

// explainKernels writes the kernels that a plan becomes, in full if that is asked
// for, and the fusions that were refused.
func (p *Program) explainKernels(w io.Writer, plan *queryplan.Plan, opts ExplainOptions) error {
	t, err := stageTarget(StageHarmony, opts.Target)
	if err != nil {
		return err
	}
	_, report, err := kernelsOf(plan, t, p.noFuse)
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
