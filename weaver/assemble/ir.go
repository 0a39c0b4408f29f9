package assemble

import (
	"errors"
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/harmony/ranges"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/weaver/assemble/codecache"
	"github.com/redfoxdb/redfox/weaver/emit"
	"github.com/redfoxdb/redfox/weaver/shape"
	"github.com/redfoxdb/redfox/weaver/target"
)

// Shape decides about the code of a graph. From here on, nothing asks for the
// facts.
func (t *Tools) Shape(graph *harmony.Program, to Target,
	k codecache.Knowledge) (shapes *shape.Program, err error) {
	const phase = "the shape of kernels"
	defer failure.Recover(phase, &err)
	shapes, err = shape.Choose(graph, t.shapeOptions(graph, to, k))
	if err != nil {
		return nil, phaseError(phase, graph, err)
	}
	return shapes, nil
}

// shapeOptions are those of shapes of a graph for a target.
func (t *Tools) shapeOptions(graph *harmony.Program, to Target,
	k codecache.Knowledge) shape.Options {
	o := shape.Options{Target: to.Target, Fix: k.Fix, Range: k.Range, General: k.General,
		Domains: k.Domains, Lines: to.Lines, Loops: to.GPU, Donate: to.GPU, Extend: !to.GPU,
		Share: len(graph.Kernels())+len(graph.Indexes) >= target.ManyFunctions}
	if t.emulates(to) {
		o = t.Emulation.Options(o)
	}
	return o
}

// IR generates the LLVM IR of a graph.
func (t *Tools) IR(graph *harmony.Program, to Target,
	k codecache.Knowledge) (code *emit.Code, err error) {
	return t.emit(graph, to, k, emit.Shaped)
}

// emit is the one place where kernels become code, for all engines and for
// compiled programs.
func (t *Tools) emit(graph *harmony.Program, to Target, k codecache.Knowledge,
	shaped func(*shape.Program) (*emit.Code, error)) (code *emit.Code, err error) {
	const phase = "code generation"
	shapes, err := t.Shape(graph, to, k)
	if err != nil {
		return nil, err
	}
	defer failure.Recover(phase, &err)
	code, err = shaped(shapes)
	if err == nil {
		err = abi.Verify(code.Module)
	}
	if err != nil {
		return nil, phaseError(phase, graph, err)
	}
	return code, nil
}

// phaseError is the error of a kernel that the target has no code for, with its
// place, or of redfox.
func phaseError(phase string, graph *harmony.Program, err error) error {
	var missing *shape.UnsupportedError
	if !errors.As(err, &missing) {
		return &failure.Internal{Phase: phase, Err: err, Dump: graph.String()}
	}
	message := missing.Error()
	if missing.Span.IsValid() {
		at := missing.Span.Position()
		message = fmt.Sprintf("%s:%d:%d: %s", at.File, at.Line, at.Column, message)
	}
	return &failure.Environment{Message: message, Help: "the go engine runs every program",
		Err: err}
}

// Unbound returns the knowledge of a graph without facts. Facts, and the
// constants that the program compares them with, are parameters. The groups of
// a GPU are lists where the graph sorts their rows.
func Unbound(graph *harmony.Program, t Target) codecache.Knowledge {
	domains := domain.Find(graph)
	bounds := ranges.Find(graph, domains, ranges.Options{UnknownLiterals: true})
	k := codecache.Knowledge{
		Domains: domains,
		Range: func(r *harmony.Reg) (lo, hi int64, ok bool) {
			bound, exact := bounds.Reg(r)
			if bound.Empty() { // no row comes here, so any bound holds
				return 0, 0, exact
			}
			return bound.Lo, bound.Hi, exact
		},
	}
	lists := map[string]bool{}
	for _, g := range graph.Groups {
		if _, _, sorted := graph.Sorted(g); sorted && t.GPU && isList(g) {
			lists[g.Name] = true
		}
	}
	if len(lists) > 0 {
		k.Fix = func(_ string, p abi.Param) (int64, bool) {
			return int64(abi.Ordered), p.Kind == abi.GroupForm && lists[p.Var]
		}
	}
	return k
}

// isList reports whether sorted groups are lists on a GPU whatever the facts
// are: their keys are words, and their cells small.
func isList(g *harmony.Groups) bool {
	return len(g.Keys) == 1 && !slices.ContainsFunc(g.Accs, func(a harmony.Acc) bool {
		return a.Shares == 0 && abi.CellOf(a.Fn, a.In).Words >= abi.FloatSumWords
	})
}
