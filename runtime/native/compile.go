package native

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/weaver/assemble/hostcode"
)

// compiled is code in memory.
type compiled struct {
	module    *abi.Module
	functions map[string]uintptr // by symbol
	code      *hostcode.Code
}

// close frees the code.
func (c *compiled) close() { c.code.Close() }

// compile generates code and makes it ready to be called.
func (e *engine) compile(graph *harmony.Program, k woven.Knowledge) (*compiled, error) {
	made, err := e.opts.Generator.Generate(graph, k)
	if err != nil {
		return nil, err
	}
	o := hostcode.Options{Library: e.opts.Library, Cache: e.opts.Cache}
	var code *hostcode.Code
	if made.Objects != nil {
		code, err = hostcode.Link(o, made.Objects, made.Calls, made.Module.Symbols())
	} else {
		code, err = hostcode.Load(o, made.IR, made.Module.Symbols())
	}
	if err != nil {
		return nil, err
	}
	return &compiled{module: made.Module, functions: code.Functions, code: code}, nil
}
