package assemble

import (
	"errors"
	"fmt"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/harmony/ranges"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/weaver/assemble/codecache"
	"github.com/redfoxdb/redfox/weaver/emit"
)

// IR generates the LLVM IR of a graph. It is the one place where kernels become
// code, for all engines and for compiled programs.
func (t *Tools) IR(graph *harmony.Program, to Target, k codecache.Knowledge) (code *emit.Code, err error) {
	defer failure.Recover("code generation", &err)
	opts := emit.Options{Target: to.Target, Fix: k.Fix, Range: k.Range, Domains: k.Domains}
	if t.emulates(to) {
		opts = t.Emulation.Options(opts)
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
		return nil, &failure.Environment{Message: message, Help: "the go engine runs every program", Err: err}
	case err != nil:
		return nil, &failure.Internal{Phase: "code generation", Err: err, Dump: graph.String()}
	}
	if err := abi.Verify(code.Module); err != nil {
		return nil, &failure.Internal{Phase: "code generation", Err: err, Dump: graph.String()}
	}
	return code, nil
}

// Unbound returns the knowledge of a graph without facts. Facts, and the
// constants that the program compares them with, are parameters.
func Unbound(graph *harmony.Program) codecache.Knowledge {
	domains := domain.Find(graph)
	bounds := ranges.Find(graph, domains, ranges.Options{UnknownLiterals: true})
	return codecache.Knowledge{
		Domains: domains,
		Range: func(r *harmony.Reg) (lo, hi int64, ok bool) {
			bound, exact := bounds.Reg(r)
			if bound.Empty() { // no row comes here, so any bound holds
				return 0, 0, exact
			}
			return bound.Lo, bound.Hi, exact
		},
	}
}
