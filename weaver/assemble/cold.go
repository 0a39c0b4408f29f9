package assemble

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/queryplan/cfg"
	"github.com/redfoxdb/redfox/weaver/assemble/codecache"
	"github.com/redfoxdb/redfox/weaver/assemble/hostcode"
	"github.com/redfoxdb/redfox/weaver/emit"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// manyFunctions is the number of kernels and indexes from which a program has
// cold ones. LLVM takes about 50 ms for the function of each with full effort.
const manyFunctions = 512

// coldOf returns the names of a program's cold kernels and indexes. In a
// program of many, those that run once are cold: most of them see few rows, and
// LLVM would take far longer for their code than they run. Their functions take
// nothing for granted, so a program of 4,000 rules has a few dozen different
// ones, and LLVM spends little effort on these. The engine asks for better code
// of those that see many rows (Tools.Improve).
func coldOf(graph *harmony.Program) map[string]bool {
	all, looping := map[string]bool{}, map[string]bool{}
	reach := cfg.Reach(graph.Blocks, (*harmony.Block).Successors)
	for _, b := range graph.Blocks {
		for _, c := range b.Cmds {
			name := ""
			switch c := c.(type) {
			case *harmony.Run:
				name = c.Kernel.Name
			case *harmony.Build:
				name = c.Index.Name
			default:
				continue
			}
			all[name] = true
			if reach[b][b] {
				looping[name] = true
			}
		}
	}
	if len(all) < manyFunctions {
		return nil
	}
	for name := range looping {
		delete(all, name)
	}
	return all
}

// divide returns the symbols of cold functions and of the others.
func divide(m *abi.Module, isCold map[string]bool) (cold, warm []string) {
	for _, e := range m.Entries {
		if isCold[e.Of] {
			cold = append(cold, e.Symbol)
		} else {
			warm = append(warm, e.Symbol)
		}
	}
	return cold, warm
}

// Improve compiles a cold function of a graph with full effort, for what is
// known of the facts.
func (t *Tools) Improve(graph *harmony.Program, to Target, k codecache.Knowledge,
	symbol string) (native *Native, err error) {
	const phase = "code generation"
	defer failure.Recover(phase, &err)
	options, _, err := t.host()
	if err != nil {
		return nil, err
	}
	o := t.shapeOptions(graph, to, k)
	o.Share = false // it is the code of one function in any case
	one, err := shape.ChooseOne(graph, o, symbol)
	if err != nil {
		return nil, phaseError(phase, graph, err)
	}
	code, err := emit.Shaped(one)
	if err != nil {
		return nil, phaseError(phase, graph, err)
	}
	objects, err := hostcode.Objects(options, code.IR, code.Module.Symbols())
	if err != nil {
		return nil, err
	}
	return &Native{Module: code.Module, Objects: objects, Calls: hostcode.Calls(code.IR)}, nil
}
