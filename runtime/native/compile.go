package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/runtime/hostcode"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// compiled is code in memory.
type compiled struct {
	module    *abi.Module
	functions map[string]uintptr // by symbol
	jit       *llvm.JIT
}

// close frees the code.
func (c *compiled) close() {
	_ = c.jit.Close() // the code is gone either way
}

// compile generates code and makes it ready to be called.
func (e *engine) compile(graph *harmony.Program, k woven.Knowledge) (*compiled, error) {
	code, err := e.opts.Generator.Generate(graph, k)
	if err != nil {
		return nil, err
	}
	c := &compiled{module: code.Module, functions: map[string]uintptr{}}
	if c.jit, err = e.opts.Library.NewJIT(); err != nil {
		return nil, err
	}
	if err := e.load(c, code.IR); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// load compiles IR, or finds it compiled, and looks its functions up.
func (e *engine) load(c *compiled, ir string) error {
	if len(c.module.Entries) == 0 {
		return nil
	}
	symbols, err := hostcode.Symbols(e.opts.Library, e.opts.Cache, hostcode.Calls(ir))
	if err == nil {
		err = c.jit.Define(symbols)
	}
	if err != nil {
		return err
	}
	key, err := hostcode.Key(e.opts.Library, ir)
	if err != nil {
		return err
	}
	var objects [][]byte
	if e.opts.Cache != nil {
		if data, ok := e.opts.Cache.Get(key); ok {
			objects, _ = split(data)
		}
	}
	if objects == nil {
		if objects, err = e.objects(c, ir); err != nil {
			return err
		}
		if e.opts.Cache != nil {
			e.opts.Cache.Put(key, join(objects))
		}
	}
	for i, object := range objects {
		if err := c.jit.AddObject(fmt.Sprint("kernels ", i), object); err != nil {
			return err
		}
	}
	for _, entry := range c.module.Entries {
		if c.functions[entry.Symbol], err = c.jit.Lookup(entry.Symbol); err != nil {
			return err
		}
	}
	return nil
}

// objects compiles the functions of IR on all cores, each core some of them.
func (e *engine) objects(c *compiled, ir string) ([][]byte, error) {
	parts := make([][]string, min(goruntime.GOMAXPROCS(0), len(c.module.Entries)))
	for i, entry := range c.module.Entries {
		at := i % len(parts)
		parts[at] = append(parts[at], entry.Symbol)
	}
	objects, errs := make([][]byte, len(parts)), make([]error, len(parts))
	var wg sync.WaitGroup
	for i, symbols := range parts {
		wg.Go(func() { objects[i], errs[i] = e.object(ir, symbols) })
	}
	wg.Wait()
	return objects, errors.Join(errs...)
}

// object links the primitives to IR, and optimises and compiles some of its
// functions.
func (e *engine) object(ir string, symbols []string) ([]byte, error) {
	machine, err := e.opts.Library.NewTargetMachine(e.opts.Library.HostOptions())
	if err != nil {
		return nil, err
	}
	defer machine.Close()
	m, err := machine.ParseIR("kernels", ir)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	// Code that only calls primitives needs none of their bitcode.
	if strings.Contains(ir, "@rf_") {
		library, err := hostcode.Bitcode()
		if err != nil {
			return nil, err
		}
		if err := m.LinkBitcode("primitives", library); err != nil {
			return nil, err
		}
	}
	if err := m.Internalize(symbols...); err != nil {
		return nil, err
	}
	if err := m.Optimize(machine, "default<O3>", llvm.OptimizeOptions{}); err != nil {
		return nil, err
	}
	return machine.EmitObject(m)
}

// join makes one entry of a cache of several objects, each after its length.
func join(objects [][]byte) []byte {
	var data []byte
	for _, o := range objects {
		data = binary.AppendUvarint(data, uint64(len(o)))
		data = append(data, o...)
	}
	return data
}

// split is the inverse of join; not ok if the data are of no join.
func split(data []byte) (objects [][]byte, ok bool) {
	for len(data) > 0 {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > uint64(len(data)-size) {
			return nil, false
		}
		objects = append(objects, data[size:size+int(n)])
		data = data[size+int(n):]
	}
	return objects, true
}
