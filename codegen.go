package redfox

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/harmony/ranges"
	"github.com/redfoxdb/redfox/harmony/rfx"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/weaver/emit"
)

// compiledCode is the code of a kernel graph for a target.
type compiledCode struct {
	rfx.Code
	graph *harmony.Program
}

// compileFor compiles the kernels of the program for a target and for databases like
// db, which may be nil, as far as that can be done without the facts themselves:
// PTX for a GPU, IR for the cpu.
func (p *Program) compileFor(name string, db *Database) (*compiledCode, error) {
	t, err := parseTarget(name)
	if err != nil {
		return nil, err
	}
	plan, err := p.optimise(p.wantedByDefault(), db)
	if err != nil {
		return nil, err
	}
	graph, _, err := kernelsOf(plan, t, p.fusing)
	if err != nil {
		return nil, err
	}
	k, err := know(plan, graph, t, db)
	if err != nil {
		return nil, err
	}
	out := &compiledCode{graph: graph, Code: rfx.Code{Target: t.Name, Graph: graph.String()}}
	heard, granted := k, func() abi.Granted { return abi.Granted{} }
	if db != nil {
		heard, granted = k.Listening(graph)
	}
	if t.GPU {
		a, err := newAssembler(t)
		if err != nil {
			return nil, err
		}
		code, err := a.compile(graph, k)
		if err != nil {
			return nil, err
		}
		code.Ask(graph, heard)
		out.Text, out.Compiler = code.Text, a.compiler
		out.Module, err = code.Module()
		if err != nil {
			return nil, &InternalError{Phase: "code generation", Err: err}
		}
	} else {
		code, err := emitKernels(graph, t, heard)
		if err != nil {
			return nil, err
		}
		out.Text, out.Module = code.IR, code.Module
	}
	out.Granted = granted()
	return out, nil
}

// know returns what code for a graph, which the plan became, may take for granted.
// Without a database (nil) nothing is known but the program: facts, and the constants
// that the program compares them with, are parameters. With one it is its columns'
// widths and the forms of tables that they ask for.
func know(plan *queryplan.Plan, graph *harmony.Program, t target, db *Database) (k woven.Knowledge, err error) {
	defer failure.Recover("code generation", &err)
	if db != nil {
		policy := layout.CPU
		if t.GPU {
			policy = layout.GPU
		}
		bound, err := woven.Bind(context.Background(), woven.NewProgram(plan, graph), db.store, policy, 1, nil)
		if err != nil {
			return k, err
		}
		return bound.Knowledge(), nil
	}
	domains := domain.Find(graph)
	bounds := ranges.Find(graph, domains, ranges.Options{UnknownLiterals: true})
	return woven.Knowledge{
		Domains: domains,
		Range: func(r *harmony.Reg) (lo, hi int64, ok bool) {
			bound, exact := bounds.Reg(r)
			if bound.Empty() { // no row comes here, so that any bound holds
				return 0, 0, exact
			}
			return bound.Lo, bound.Hi, exact
		},
	}, nil
}

// emitKernels makes LLVM IR of kernels. It is the one place where kernels become
// code, for all engines and for compiled programs.
func emitKernels(graph *harmony.Program, t target, k woven.Knowledge) (code *emit.Code, err error) {
	defer failure.Recover("code generation", &err)
	opts := emit.Options{Target: t.Target, Fix: k.Fix, Range: k.Range, Domains: k.Domains}
	if emulated != nil && t.GPU {
		opts = emulated.options(opts)
	}
	code, err = emit.Program(graph, opts)
	var missing *emit.UnsupportedError
	switch {
	case errors.As(err, &missing):
		message := missing.Error()
		if missing.Span.IsValid() {
			at := missing.Span.Position()
			message = fmt.Sprintf("%s:%d:%d: %s", at.File, at.Line, at.Column, message)
		}
		return nil, &EnvironmentError{Message: message, Help: "the go engine runs every program", Err: err}
	case err != nil:
		return nil, &InternalError{Phase: "code generation", Err: err, Dump: graph.String()}
	}
	if err := abi.Verify(code.Module); err != nil {
		return nil, &InternalError{Phase: "code generation", Err: err, Dump: graph.String()}
	}
	return code, nil
}

// emulated, which only tests set, makes the code for GPUs that the host pretends to be.
var emulated *emulation

type emulation struct {
	options func(emit.Options) emit.Options
	text    func(*emit.Code) string // what stands for PTX
}

// llvmError is a refusal of LLVM, with the IR that it refused.
func llvmError(err error) *InternalError {
	internal := &InternalError{Phase: "LLVM", Err: err}
	var refused *llvm.Error
	if errors.As(err, &refused) {
		internal.Dump = refused.IR
	}
	return internal
}

// findLLVM finds libLLVM, unless a test hides it.
var findLLVM = llvm.Open

// openLLVM opens libLLVM.
func openLLVM() (*llvm.Library, error) {
	lib, err := findLLVM()
	var none *llvm.NotFoundError
	if errors.As(err, &none) {
		message, _ := strings.CutSuffix(none.Error(), "; "+none.Advice())
		return nil, &EnvironmentError{Message: message, Help: none.Advice(), Err: err}
	}
	if err != nil {
		return nil, &EnvironmentError{Message: err.Error(), Err: err}
	}
	return lib, nil
}
