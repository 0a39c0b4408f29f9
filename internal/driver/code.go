package driver

import (
	"context"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/rfx"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// compiledCode is the code of a kernel graph for a target.
type compiledCode struct {
	rfx.Code
	graph *harmony.Program
}

// compileFor compiles the kernels of the program for a target and for databases
// like db, which may be nil, as far as that takes no facts: to PTX for a GPU,
// to IR for the cpu.
func (p *Program) compileFor(name string, opts CompiledOptions) (*compiledCode, error) {
	db := opts.Facts
	t, err := assemble.ParseTarget(name)
	if err != nil {
		return nil, err
	}
	t.Lines = opts.Lines && t.GPU // a cpu compiles its code again
	plan, err := p.optimise(p.wantedByDefault(), db)
	if err != nil {
		return nil, err
	}
	graph, _, err := assemble.Graph(plan, t, p.fusing)
	if err != nil {
		return nil, err
	}
	k, err := know(plan, graph, t, db, p.disable)
	if err != nil {
		return nil, err
	}
	out := &compiledCode{graph: graph, Code: rfx.Code{Target: t.Name, Graph: graph.String()}}
	heard, granted := k, func() abi.Granted { return abi.Granted{} }
	if db != nil {
		heard, granted = k.Listening(graph)
	}
	tools := process.Machine.Tools
	if t.GPU {
		a, err := tools.NewAssembler(t)
		if err != nil {
			return nil, err
		}
		code, err := a.Compile(graph, k)
		if err != nil {
			return nil, err
		}
		code.Ask(graph, heard)
		out.Text, out.Compiler = code.Text, a.Compiler
		out.Module, err = code.Module()
		if err != nil {
			return nil, &InternalError{Phase: "code generation", Err: err}
		}
	} else {
		code, err := tools.IR(graph, t, heard)
		if err != nil {
			return nil, err
		}
		out.Text, out.Module = code.IR, code.Module
	}
	out.Granted = granted()
	return out, nil
}

// know returns what code for a graph, which the plan became, may take for
// granted: the widths of the columns of a database and the forms of tables that
// they imply. With a nil database it is what the program implies.
func know(plan *queryplan.Plan, graph *harmony.Program, t assemble.Target,
	db *Database, disable []string) (k woven.Knowledge, err error) {
	defer failure.Recover("code generation", &err)
	if db == nil {
		return assemble.Unbound(graph, t), nil
	}
	policy := layout.CPU
	if t.GPU {
		policy = layout.GPU
		if slices.Contains(disable, packColumns) {
			policy.Pack = 0
		}
	}
	prog := woven.NewProgram(plan, graph)
	bound, err := woven.Bind(context.Background(), prog, db.store, policy, 1, nil)
	if err != nil {
		return k, err
	}
	return bound.Knowledge(), nil
}

// planFor returns the plan for a run on a GPU, and the program's code of its
// kernels; nil if it has none. The code of a compiled program belongs to the
// plan of what it prints by default. Other plans need other code.
func (p *Program) planFor(sm int, wanted []string,
	db *Database) (*queryplan.Plan, *assemble.Stored, error) {
	code := p.codes.For(sm)
	whole := p.wantedByDefault()
	isOther := func(name string) bool { return !slices.Contains(whole, name) }
	if code == nil || slices.ContainsFunc(wanted, isOther) {
		plan, err := p.optimise(wanted, db)
		return plan, nil, err
	}
	facts := db
	if code.Facts == "" {
		facts = nil
	}
	plan, err := p.optimise(whole, facts)
	if err != nil {
		return nil, nil, err
	}
	same, err := p.becomes(plan, code)
	switch {
	case err != nil:
		return nil, nil, err
	case same:
		return plan, code, nil
	}
	plan, err = p.optimise(wanted, db)
	return plan, nil, err
}

// becomes reports whether a plan becomes the kernels of the code.
func (p *Program) becomes(plan *queryplan.Plan, code *assemble.Stored) (bool, error) {
	key := kernelsKey{plan, code}
	p.mu.Lock()
	same, known := p.kernels[key]
	p.mu.Unlock()
	if known {
		return same, nil
	}
	graph, _, err := assemble.Graph(plan, code.Target, p.fusing)
	if err != nil {
		return false, err
	}
	same = graph.String() == code.Graph
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kernels == nil {
		p.kernels = map[kernelsKey]bool{}
	}
	p.kernels[key] = same
	return same, nil
}

// kernelsKey is a plan and code that may be of its kernels.
type kernelsKey struct {
	plan *queryplan.Plan
	code *assemble.Stored
}

// otherPlan is the error of a run that cannot use the program's code.
func (p *Program) otherPlan(wanted []string) error {
	whole := p.wantedByDefault()
	for _, name := range wanted {
		if !slices.Contains(whole, name) {
			return &EnvironmentError{
				Message: "the compiled program has code for what it prints by default, which is " +
					strings.Join(whole, ", ") + ", and not for " + name,
				Help: "install libLLVM, or use --engine go",
			}
		}
	}
	return &EnvironmentError{
		Message: "the compiled program has code for another plan than these facts and options " +
			"ask for",
		Help: "compile it without --facts, which serves all, or for these, or install libLLVM, " +
			"or use --engine go",
	}
}
