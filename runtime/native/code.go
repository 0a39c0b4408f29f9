package native

import (
	"fmt"
	"sync"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/weaver/assemble/hostcode"
)

// compiled is the machine code of a program.
type compiled struct {
	module    *abi.Module
	functions map[string]uintptr // by symbol
	cold      map[string]bool    // symbols compiled with little effort
	code      *hostcode.Code

	mu     sync.Mutex
	better map[string]*betterCode // better code of cold functions that saw many rows
}

// betterCode is better code of one function, for the facts that the function
// saw last.
type betterCode = woven.Codes[*compiled]

// close unloads the code.
func (c *compiled) close() {
	c.code.Close()
	for _, b := range c.better {
		b.Close()
	}
}

// compile generates and loads the code of a kernel graph.
func (e *engine) compile(graph *harmony.Program, k woven.Knowledge) (*compiled, error) {
	made, err := e.opts.Generator.Generate(graph, k, 0)
	return e.loaded(made, err, 0)
}

// loaded loads generated code on a number of cores; 0 means all.
func (e *engine) loaded(made *Code, err error, cores int) (*compiled, error) {
	if err != nil {
		return nil, err
	}
	code, err := e.load(made, cores)
	if err != nil {
		return nil, err
	}
	c := &compiled{module: made.Module, functions: code.Functions, code: code,
		cold: map[string]bool{}, better: map[string]*betterCode{}}
	for _, symbol := range made.Cold {
		c.cold[symbol] = true
	}
	return c, nil
}

// load loads generated code, after compiling it if it has no objects.
func (e *engine) load(made *Code, cores int) (*hostcode.Code, error) {
	lib, err := e.opts.Library()
	if err != nil {
		return nil, err
	}
	o := hostcode.Options{Library: lib, Cache: e.opts.Cache, Cores: cores}
	if made.Objects != nil {
		return hostcode.Link(o, made.Objects, made.Calls, made.Module.Symbols())
	}
	return hostcode.Load(o, made.IR, made.Module.Symbols())
}

// betterOf returns the place for the better code of a cold function.
func (c *compiled) betterOf(symbol string) *betterCode {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.better[symbol] == nil {
		c.better[symbol] = &betterCode{Drop: (*compiled).close}
	}
	return c.better[symbol]
}

// improve gives an entry better code for the facts of the run. Runs over such
// facts share it.
func (r *run) improve(b *boundEntry) error {
	symbol := b.entry.Symbol
	kept := r.code.betterOf(symbol)
	code, err := kept.Use(r.Bound, func(k woven.Knowledge) (*compiled, error) {
		return r.improving(k, symbol)
	})
	if err != nil {
		return err
	}
	r.uses = append(r.uses, func() { kept.Release(code) })
	if len(code.Made.module.Entries) != 1 {
		return fmt.Errorf("%d functions were made of %s", len(code.Made.module.Entries), symbol)
	}
	return r.rebind(b, code.Made.module.Entries[0], code.Made.functions[symbol])
}

// heat improves the code of a cold function that is about to process rows rows,
// if those are many.
func (r *run) heat(b *boundEntry, rows int) error {
	if !b.cold || rows < r.sizes.hot {
		return nil
	}
	b.cold = false
	return r.improve(b)
}
