package native

import (
	"sync"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/weaver/assemble/hostcode"
)

// compiled is code in memory.
type compiled struct {
	module    *abi.Module
	functions map[string]uintptr // by symbol
	cold      map[string]bool    // the symbols whose code is slow
	code      *hostcode.Code

	mu     sync.Mutex
	better map[string]*hostcode.Code // of cold functions that saw many rows
}

// close frees the code.
func (c *compiled) close() {
	c.code.Close()
	for _, b := range c.better {
		b.Close()
	}
}

// compile generates code and makes it ready to be called.
func (e *engine) compile(graph *harmony.Program, k woven.Knowledge) (*compiled, error) {
	made, err := e.opts.Generator.Generate(graph, k)
	if err != nil {
		return nil, err
	}
	code, err := e.load(made)
	if err != nil {
		return nil, err
	}
	c := &compiled{module: made.Module, functions: code.Functions, code: code,
		cold: map[string]bool{}, better: map[string]*hostcode.Code{}}
	for _, symbol := range made.Cold {
		c.cold[symbol] = true
	}
	return c, nil
}

// load makes code ready to be called.
func (e *engine) load(made *Code) (*hostcode.Code, error) {
	o := hostcode.Options{Library: e.opts.Library, Cache: e.opts.Cache}
	if made.Objects != nil {
		return hostcode.Link(o, made.Objects, made.Calls, made.Module.Symbols())
	}
	return hostcode.Load(o, made.IR, made.Module.Symbols())
}

// improve returns the address of better code for a cold function. Runs that use
// the code share it.
func (e *engine) improve(c *compiled, graph *harmony.Program, k woven.Knowledge,
	symbol string) (uintptr, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	better := c.better[symbol]
	if better == nil {
		made, err := e.opts.Generator.Improve(graph, k, symbol)
		if err != nil {
			return 0, err
		}
		if better, err = e.load(made); err != nil {
			return 0, err
		}
		c.better[symbol] = better
	}
	return better.Functions[symbol], nil
}

// heat improves the code of a cold function that is about to see many rows.
func (r *run) heat(b *boundEntry, rows int) (err error) {
	if b.cold && rows >= r.sizes.hot {
		b.cold = false
		b.function, err = r.improving(b.entry.Symbol)
	}
	return err
}
