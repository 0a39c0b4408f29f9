package assemble

import (
	"errors"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/weaver/assemble/codecache"
	"github.com/redfoxdb/redfox/weaver/assemble/hostcode"
)

// Native is the code of a graph for the processor of this machine.
type Native struct {
	Module  *abi.Module
	Objects [][]byte // for hostcode.Link
	Calls   []string // the primitives that the objects call
	// Cold are the symbols whose code was made with little effort.
	Cold []string
}

// Objects compiles a graph for the processor of this machine. If it was
// compiled before, no IR is generated.
func (t *Tools) Objects(graph *harmony.Program, to Target, k codecache.Knowledge) (*Native, error) {
	options, cache, err := t.host()
	if err != nil {
		return nil, err
	}
	compiler, err := options.Key("")
	if err != nil {
		return nil, err
	}
	// The first parts of the text list the cold symbols, and the primitives
	// that the objects behind them call.
	code, err := compileOnce(cache, graph, to, compiler, k,
		func(heard codecache.Knowledge) (*codecache.Code, error) {
			code, err := t.IR(graph, to, heard)
			if err != nil {
				return nil, err
			}
			all := code.Module.Symbols()
			cold, warm := divide(graph, code.Module)
			var objects, quick [][]byte
			if len(cold) == 0 {
				objects, err = hostcode.Objects(options, code.IR, all)
			} else {
				objects, err = hostcode.ObjectsOf(options, code.IR, all, warm)
			}
			if err != nil {
				return nil, err
			}
			options.Quick = true
			if quick, err = hostcode.ObjectsOf(options, code.IR, all, cold); err != nil {
				return nil, err
			}
			lists := [][]byte{[]byte(strings.Join(cold, "\n")),
				[]byte(strings.Join(hostcode.Calls(code.IR), "\n"))}
			return codecache.NewCode(code.Module,
				string(hostcode.Join(slices.Concat(lists, objects, quick)))), nil
		})
	if err != nil {
		return nil, err
	}
	module, err := code.Module()
	if err != nil {
		return nil, &failure.Internal{Phase: "code generation", Err: err}
	}
	parts, ok := hostcode.Split([]byte(code.Text))
	if !ok || len(parts) < 2 {
		return nil, &failure.Internal{Phase: "code generation",
			Err: errors.New("the cache has objects that are none")}
	}
	return &Native{Module: module, Objects: parts[2:], Calls: strings.Fields(string(parts[1])),
		Cold: strings.Fields(string(parts[0]))}, nil
}
