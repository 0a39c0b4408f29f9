package assemble

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/queryplan/cfg"
	"github.com/redfoxdb/redfox/weaver/assemble/codecache"
	"github.com/redfoxdb/redfox/weaver/assemble/hostcode"
	"github.com/redfoxdb/redfox/weaver/emit"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// manyFunctions is the number of functions from which a program has cold ones.
// LLVM takes about 50 ms for each with full effort.
const manyFunctions = 512

// divide returns the symbols of a program's cold functions and of the others.
// In a program of many functions, those that run once are cold: most of them
// see few rows, and LLVM would take far longer for their code than they run.
// The engine asks for better code of those that see many (Tools.Improve).
func divide(graph *harmony.Program, m *abi.Module) (cold, warm []string) {
	if len(m.Entries) < manyFunctions {
		return nil, m.Symbols()
	}
	looping := map[string]bool{} // by kernel or index
	reach := cfg.Reach(graph.Blocks, (*harmony.Block).Successors)
	for _, b := range graph.Blocks {
		if !reach[b][b] {
			continue
		}
		for _, c := range b.Cmds {
			switch c := c.(type) {
			case *harmony.Run:
				looping[c.Kernel.Name] = true
			case *harmony.Build:
				looping[c.Index.Name] = true
			}
		}
	}
	for _, e := range m.Entries {
		if looping[e.Of] {
			warm = append(warm, e.Symbol)
		} else {
			cold = append(cold, e.Symbol)
		}
	}
	return cold, warm
}

// Improve compiles a cold function of a graph with full effort. The knowledge
// answers as it did when the code of the graph was made.
func (t *Tools) Improve(graph *harmony.Program, to Target, k codecache.Knowledge,
	symbol string) (*Native, error) {
	options, _, err := t.host()
	if err != nil {
		return nil, err
	}
	shapes, err := t.Shape(graph, to, k)
	if err != nil {
		return nil, err
	}
	one := *shapes
	one.Functions = slices.DeleteFunc(slices.Clone(shapes.Functions),
		func(f *shape.Function) bool { return f.Symbol != symbol })
	code, err := emit.Shaped(&one)
	if err != nil {
		return nil, phaseError("code generation", graph, err)
	}
	objects, err := hostcode.Objects(options, code.IR, []string{symbol})
	if err != nil {
		return nil, err
	}
	return &Native{Module: code.Module, Objects: objects, Calls: hostcode.Calls(code.IR)}, nil
}
