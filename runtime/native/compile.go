package native

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/hostcode"
	"github.com/redfoxdb/redfox/runtime/woven"
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
	var symbols []string
	for _, entry := range made.Module.Entries {
		symbols = append(symbols, entry.Symbol)
	}
	code, err := hostcode.Load(hostcode.Options{Library: e.opts.Library, Cache: e.opts.Cache}, made.IR, symbols)
	if err != nil {
		return nil, err
	}
	return &compiled{module: made.Module, functions: code.Functions, code: code}, nil
}
