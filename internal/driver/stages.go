package driver

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/trace"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// Stage is a form of a program that can be printed.
type Stage string

// The stages, in pipeline order.
const (
	StageAST     Stage = "ast"     // the syntax tree
	StageNormal  Stage = "normal"  // rules and constraints in normal form, before they have types
	StageCore    Stage = "core"    // the checked program
	StagePlan    Stage = "plan"    // the optimised query plan
	StageHarmony Stage = "harmony" // the kernel graph, fused for the target
	StageShape   Stage = "shape"   // what is decided of each kernel before its code
	StageLLVM    Stage = "llvm"    // LLVM IR of the kernels, before it is optimised
	StagePTX     Stage = "ptx"     // PTX of the kernels, of a GPU target
	StageASM     Stage = "asm"     // assembly of the kernels, for the processor of this machine
)

// Stages lists all stages in pipeline order.
func Stages() []Stage {
	return []Stage{StageAST, StageNormal, StageCore, StagePlan, StageHarmony, StageShape, StageLLVM,
		StagePTX, StageASM}
}

// EmitOptions are the options of Emit.
type EmitOptions struct {
	// Facts are those that the plan is optimised for; with nil the optimiser
	// knows nothing of the data.
	Facts *Database
	// Target is that of the kernels: "cpu", or "gpu:sm_90". "" stands for
	// DefaultGPU for the kernel graph, shapes and PTX, and for DefaultCPU
	// otherwise.
	Target string
	// Lines gives code the places of rules: .loc directives in PTX.
	Lines bool
	// Trace, if set, receives what took time from the plan on: TracePlan and
	// the others on HostTrack, and on a track for each core what LLVM does to
	// single functions, from several goroutines. Cached PTX takes no time.
	Trace func(Span)

	disable []string // the passes and steps that the program leaves out
}

// Emit writes the text of a stage.
func (p *Program) Emit(w io.Writer, stage Stage, opts EmitOptions) error {
	opts.disable = p.disable
	switch stage {
	case StageAST, StageNormal, StageCore:
		return p.emitSyntax(w, stage)
	case StagePlan:
		plan, err := p.optimise(p.wantedByDefault(), opts.Facts)
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, plan.String())
		return err
	}
	t, err := stageTarget(stage, opts.Target)
	if err != nil {
		return err
	}
	t.Lines = opts.Lines
	if stage == StagePTX {
		return p.emitPTX(w, t, opts)
	}
	plan, graph, err := p.graphFor(t, opts)
	if err != nil {
		return err
	}
	text, err := stageText(stage, plan, graph, t, opts)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

// graphFor returns the optimised plan and its kernel graph for a target.
func (p *Program) graphFor(t assemble.Target,
	opts EmitOptions) (*queryplan.Plan, *harmony.Program, error) {
	start := time.Now()
	plan, err := p.optimise(p.wantedByDefault(), opts.Facts)
	if err != nil {
		return nil, nil, err
	}
	trace.Func(opts.Trace).Since(trace.Plan, start)
	start = time.Now()
	graph, _, err := assemble.Graph(plan, t, p.fusing)
	if err != nil {
		return nil, nil, err
	}
	trace.Func(opts.Trace).Since(trace.Kernels, start)
	return plan, graph, nil
}

// emitPTX writes the PTX of the program. If it was compiled before for facts of
// the same content, it is not even planned.
func (p *Program) emitPTX(w io.Writer, t assemble.Target, opts EmitOptions) error {
	a, err := process.Machine.Tools.NewAssembler(t)
	if err != nil {
		return err
	}
	about := func() []string {
		return []string{
			fmt.Sprintf("%q %v %q", p.disable, p.fusing, p.wantedByDefault()),
			opts.Facts.digest(), p.plan.String(),
		}
	}
	ptx, err := a.Once(about, func() (string, error) {
		plan, graph, err := p.graphFor(t, opts)
		if err != nil {
			return "", err
		}
		return ptxOf(a, plan, graph, t, opts)
	})
	if err == nil {
		_, err = io.WriteString(w, ptx)
	}
	return err
}

// emitSyntax writes a stage before the plan.
func (p *Program) emitSyntax(w io.Writer, stage Stage) error {
	if p.core == nil {
		return &EnvironmentError{
			Message: fmt.Sprintf("a plan or a compiled program has no %s stage", stage),
			Help:    "the stages before the plan need the LogiQL program"}
	}
	text := ""
	switch stage {
	case StageNormal:
		text = frontend.NormalForm(p.syntax)
	case StageCore:
		text = p.core.String()
	default:
		for _, f := range p.syntax {
			text += ast.Dump(f)
		}
	}
	_, err := io.WriteString(w, text)
	return err
}

// stageTarget returns the target of a stage from the kernel graph on.
func stageTarget(stage Stage, name string) (t assemble.Target, err error) {
	if !slices.Contains(Stages(), stage) {
		var names []string
		for _, s := range Stages() {
			names = append(names, string(s))
		}
		return t, &EnvironmentError{Message: fmt.Sprintf("no stage is called %q", stage),
			Help: diag.DidYouMean(string(stage), names)}
	}
	if name == "" {
		name = DefaultCPU
		if stage == StageHarmony || stage == StageShape || stage == StagePTX {
			name = DefaultGPU
		}
	}
	t, err = assemble.ParseTarget(name)
	switch {
	case err != nil:
	case stage == StagePTX && !t.GPU:
		err = &EnvironmentError{Message: "PTX is code for GPUs, and the target is " + name,
			Help: "use --target " + DefaultGPU + ", or --emit asm"}
	case stage == StageASM && t.GPU:
		err = &EnvironmentError{
			Message: "assembly is code for this machine's processor, and the target is " + name,
			Help:    "use --target " + DefaultCPU + ", or --emit ptx"}
	}
	return t, err
}

// stageText returns a stage of a kernel graph. A graph that was read from a
// file has no plan and no database.
func stageText(stage Stage, plan *queryplan.Plan, graph *harmony.Program, t assemble.Target,
	opts EmitOptions) (string, error) {
	if stage == StageHarmony {
		return graph.String(), nil
	}
	if stage == StagePTX {
		a, err := process.Machine.Tools.NewAssembler(t)
		if err != nil {
			return "", err
		}
		return ptxOf(a, plan, graph, t, opts)
	}
	k, err := opts.know(plan, graph, t)
	if err != nil {
		return "", err
	}
	if stage == StageShape {
		shapes, err := process.Machine.Tools.Shape(graph, t, k)
		if err != nil {
			return "", err
		}
		return shapes.String(), nil
	}
	start := time.Now()
	code, err := process.Machine.Tools.IR(graph, t, k)
	if err != nil {
		return "", err
	}
	trace.Func(opts.Trace).Since(trace.Code, start)
	if stage == StageLLVM {
		return code.IR, nil
	}
	a, err := process.Machine.Tools.NewAssembler(t)
	if err != nil {
		return "", err
	}
	a.Trace = opts.Trace
	return a.Assembly(code)
}

// ptxOf returns the PTX of a kernel graph, as stageText does.
func ptxOf(a *assemble.Assembler, plan *queryplan.Plan, graph *harmony.Program, t assemble.Target,
	opts EmitOptions) (string, error) {
	k, err := opts.know(plan, graph, t)
	if err != nil {
		return "", err
	}
	a.Trace = opts.Trace
	code, err := a.Compile(graph, k)
	if err != nil {
		return "", err
	}
	return code.Text, nil
}

// know returns what code for the facts may take for granted.
func (o EmitOptions) know(plan *queryplan.Plan, graph *harmony.Program,
	t assemble.Target) (woven.Knowledge, error) {
	start := time.Now()
	k, err := know(plan, graph, t, o.Facts, o.disable)
	if err == nil {
		trace.Func(o.Trace).Since(trace.Facts, start)
	}
	return k, err
}

// KernelGraph is a program that was read from the text of its kernel graph. It
// can be compiled but not run: engines run plans.
type KernelGraph struct{ graph *harmony.Program }

// ParseHarmony reads the text of a kernel graph, as Emit writes it at
// StageHarmony, and verifies it. The error names the place of a mistake.
func ParseHarmony(src Source) (k *KernelGraph, err error) {
	defer failure.Recover("the parser of kernel graphs", &err)
	p, err := harmony.Parse(src.Name, src.Text)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		return nil, &EnvironmentError{Message: err.Error(),
			Help: "write kernel graphs with redfox compile --emit harmony", Err: err}
	}
	return &KernelGraph{p}, nil
}

// Emit writes the text of a stage from the kernel graph on. Kernels are not
// fused; on a GPU, functions without code for it move to kernels of the host.
func (k *KernelGraph) Emit(w io.Writer, stage Stage, opts EmitOptions) error {
	switch stage {
	case StageAST, StageNormal, StageCore, StagePlan:
		return &EnvironmentError{Message: fmt.Sprintf("a kernel graph has no %s stage", stage),
			Help: "the stages before it need the LogiQL program or its plan"}
	}
	t, err := stageTarget(stage, opts.Target)
	if err != nil {
		return err
	}
	t.Lines = opts.Lines
	graph, err := assemble.Partition(k.graph, t)
	if err != nil {
		return err
	}
	text, err := stageText(stage, nil, graph, t, EmitOptions{Lines: opts.Lines, Trace: opts.Trace})
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}
