package redfox

import (
	"io"

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

// fuseKernels makes few kernels of many, and reports what became of them.
func (p *Program) fuseKernels(kernels *harmony.Program) (fused *harmony.Program, report *fuse.Report, err error) {
	defer recoverPhase("fusion", &err)
	fused, report, err = fuse.Fuse(kernels, fuse.Options{Off: p.noFuse})
	if err != nil {
		return nil, nil, &InternalError{Phase: "fusion", Err: err}
	}
	return fused, report, nil
}

// explainKernels writes the kernels that a plan becomes, and the fusions that were
// refused, as far as they are asked for.
func (p *Program) explainKernels(w io.Writer, plan *queryplan.Plan, opts ExplainOptions) error {
	kernels, err := lowerPlan(plan)
	if err != nil {
		return err
	}
	_, report, err := p.fuseKernels(kernels)
	if err != nil {
		return err
	}
	if opts.Kernels {
		if _, err := io.WriteString(w, "\n== kernels, which no engine runs yet\n"+report.KernelsString()); err != nil {
			return err
		}
	}
	if opts.WhyNotFused {
		if _, err := io.WriteString(w, "\n== kernels that stay apart\n"+report.RefusalsString()); err != nil {
			return err
		}
	}
	return nil
}

// CheckHarmony reads the text of a kernel graph, as Emit writes it at
// StageHarmony, and verifies it. Its error says where the text is wrong. No engine
// runs kernel graphs yet.
func CheckHarmony(src Source) (err error) {
	defer recoverPhase("the parser of kernel graphs", &err)
	p, err := harmony.Parse(src.Name, src.Text)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		return &EnvironmentError{Message: err.Error(), Help: "write kernel graphs with redfox compile --emit harmony", Err: err}
	}
	return nil
}
