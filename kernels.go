package redfox

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/decompose"
	"github.com/redfoxdb/redfox/harmony/lower"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/weaver/fuse"
	"github.com/redfoxdb/redfox/weaver/partition"
)

// lowerPlan turns an optimised plan into a kernel graph.
func lowerPlan(plan *queryplan.Plan) (p *harmony.Program, err error) {
	defer failure.Recover("lowering", &err)
	p, err = lower.Lower(plan)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		return nil, &InternalError{Phase: "lowering", Err: err}
	}
	return p, nil
}

// fusing says which kernels are not fused: none (off), or pairs of them.
type fusing struct {
	off   bool
	apart []string
}

func (o Options) fusing() fusing { return fusing{o.NoFuse, o.KeepApart} }

// pairs returns the pairs that stay apart, if the kernels have these names.
func (f fusing) pairs(graph *harmony.Program) ([]fuse.Pair, error) {
	var pairs []fuse.Pair
	for _, text := range f.apart {
		pair, err := parsePair(text)
		if err != nil {
			return nil, err
		}
		for _, name := range []string{pair.Producer, pair.Consumer} {
			if !slices.ContainsFunc(graph.Kernels(), func(k *harmony.Kernel) bool { return k.Name == name }) {
				return nil, &EnvironmentError{Message: fmt.Sprintf("no kernel is called %q", name),
					Help: "redfox compile --emit harmony --no-fuse names the kernels; they depend on the facts"}
			}
		}
		pairs = append(pairs, pair)
	}
	return pairs, nil
}

// parsePair reads the names of two kernels.
func parsePair(text string) (fuse.Pair, error) {
	producer, consumer, ok := strings.Cut(text, "+")
	if !ok || producer == "" || consumer == "" {
		return fuse.Pair{}, &EnvironmentError{Message: fmt.Sprintf("%q is no pair of kernels", text),
			Help: "write two names with a plus between them, such as k1+k2"}
	}
	return fuse.Pair{Producer: producer, Consumer: consumer}, nil
}

// partitioned divides a kernel graph between a GPU and the host, if that is the target.
func partitioned(graph *harmony.Program, t target) (p *harmony.Program, err error) {
	if !t.GPU {
		return graph, nil
	}
	defer failure.Recover("partitioning", &err)
	if p, err = partition.Partition(graph); err != nil {
		return nil, &InternalError{Phase: "partitioning", Err: err, Dump: graph.String()}
	}
	return p, nil
}

// kernelsOf lowers a plan and fuses its kernels for a target, as far as they are to
// be. It is the one place where plans become kernels, for all engines and
// for compiled programs.
func kernelsOf(plan *queryplan.Plan, t target, how fusing) (graph *harmony.Program, report *fuse.Report, err error) {
	// Operators become kernels over managed variables. From here on nothing knows
	// operators.
	graph, err = lowerPlan(plan)
	if err != nil {
		return nil, nil, err
	}
	// What GPUs have no code for goes into kernels of the host. From here on each kernel
	// is of one of the two.
	graph, err = partitioned(graph, t)
	if err != nil {
		return nil, nil, err
	}
	pairs, err := how.pairs(graph)
	if err != nil {
		return nil, nil, err
	}
	defer failure.Recover("fusion", &err)
	// Kernels that can pass rows on in registers become one. From here on an operator
	// may be in several kernels, and a kernel has several operators.
	graph, report, err = fuse.Fuse(graph, fuse.Options{Off: how.off, Keep: pairs, Budget: t.Budget, Distinct: harmony.Distinct(plan)})
	if err != nil {
		return nil, nil, &InternalError{Phase: "fusion", Err: err, Dump: plan.String()}
	}
	return graph, report, nil
}

// explainKernels writes the kernels that a plan becomes, in full if that is asked
// for, with what they cost in a run, and the fusions that were refused.
func (p *Program) explainKernels(w io.Writer, plan *queryplan.Plan, ran Stats, opts ExplainOptions) error {
	t, err := stageTarget(StageHarmony, cmp.Or(opts.Target, ran.target))
	if err != nil {
		return err
	}
	graph, report, err := kernelsOf(plan, t, p.fusing)
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
	if !opts.NoDecompose {
		for _, l := range decompose.Find(graph) {
			text += l.String() + " on the cpu engine\n"
		}
	}
	if t.Name == ran.target && len(ran.Kernels) > 0 {
		text += fmt.Sprintf("\n== kernels, as they ran on engine %s\n", ran.Engine)
		for _, k := range ran.Kernels {
			text += fmt.Sprintf("%s in %s: %s\n", k.Kernel, k.Block, ran.kernelNote(k))
		}
	}
	if opts.WhyNotFused {
		text += "\n== kernels that stay apart\n" + report.RefusalsString()
	}
	_, err = io.WriteString(w, text)
	return err
}
