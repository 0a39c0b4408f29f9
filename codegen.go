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
	code, granted, err := generate(plan, graph, t, db)
	if err != nil {
		return nil, err
	}
	out := &compiledCode{graph: graph, Code: rfx.Code{Target: t.Name, Graph: graph.String(), Module: code.Module, Granted: granted, Text: code.IR}}
	if t.GPU {
		if out.Text, out.Compiler, err = assemble(code, t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// generate makes LLVM IR of kernels, which the plan became. Without a database (nil)
// nothing is known but the program: facts, and the constants that the program
// compares them with, are parameters. With one the code is for its columns' widths and
// for the forms of tables that they ask for, which it then takes for granted.
func generate(plan *queryplan.Plan, graph *harmony.Program, t target, db *Database) (code *emit.Code, granted abi.Granted, err error) {
	defer recoverPhase("code generation", &err)
	if db != nil {
		policy := layout.CPU
		if t.GPU {
			policy = layout.GPU
		}
		bound, err := woven.Bind(context.Background(), woven.NewProgram(plan, graph), db.store, policy, 1)
		if err != nil {
			return nil, abi.Granted{}, err
		}
		k, listened := bound.Knowledge().Listening(graph)
		code, err := emitKernels(graph, emit.Options{Target: t.Target, Fix: k.Fix, Range: k.Range, Domains: k.Domains})
		return code, listened(), err
	}
	domains := domain.Find(graph)
	bounds := ranges.Find(graph, domains, ranges.Options{UnknownLiterals: true})
	code, err = emitKernels(graph, emit.Options{
		Target:  t.Target,
		Domains: domains,
		Range: func(r *harmony.Reg) (lo, hi int64, ok bool) {
			bound, exact := bounds.Reg(r)
			if bound.Empty() { // no row comes here, so that any bound holds
				return 0, 0, exact
			}
			return bound.Lo, bound.Hi, exact
		},
	})
	return code, abi.Granted{}, err
}

// emitKernels makes LLVM IR of kernels. It is the one place where kernels become
// code, for all engines and for compiled programs.
func emitKernels(graph *harmony.Program, opts emit.Options) (*emit.Code, error) {
	code, err := emit.Program(graph, opts)
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

// assemble compiles IR into the target's text: PTX for a GPU, assembly of this
// machine for the cpu. It also returns what compiled it. What has been compiled
// before comes out of the cache.
func assemble(code *emit.Code, t target) (text, compiler string, err error) {
	defer recoverPhase("LLVM", &err)
	lib, err := openLLVM()
	if err != nil {
		return "", "", err
	}
	options := lib.HostOptions()
	if t.GPU {
		if options, err = lib.PTXOptions(t.sm, min(maxPTX, t.ptx)); err != nil {
			return "", "", &EnvironmentError{Message: err.Error(), Help: "install another libLLVM", Err: err}
		}
	}
	a, err := newAssembler(t, lib, options)
	if err != nil {
		return "", "", err
	}
	if t.GPU {
		text, err = a.units(code)
	} else {
		var symbols []string
		for _, e := range code.Module.Entries {
			symbols = append(symbols, e.Symbol)
		}
		text, err = a.text(code.Module.Target, code.IR, symbols...)
	}
	if err != nil {
		return "", "", llvmError(err)
	}
	return text, a.compiler, nil
}

// maxPTX bounds the version of PTX by 7.8, the first one with sm_90: drivers of CUDA
// 11.8 and later read it. That of the newest LLVM would need the newest driver.
const maxPTX = 78

// llvmError is a refusal of LLVM, with the IR that it refused.
func llvmError(err error) *InternalError {
	internal := &InternalError{Phase: "LLVM", Err: err}
	var refused *llvm.Error
	if errors.As(err, &refused) {
		internal.Dump = refused.IR
	}
	return internal
}

// openLLVM opens libLLVM.
func openLLVM() (*llvm.Library, error) {
	lib, err := llvm.Open()
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
