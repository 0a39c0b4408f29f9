package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/ranges"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/runtime/hostcode"
)

// compiled is code in memory, and all that it takes for granted.
type compiled struct {
	module    *abi.Module
	functions map[string]uintptr // by symbol
	jit       *llvm.JIT
	fixed     map[abi.Param]answer
	ranges    map[*harmony.Reg]answer

	users  int  // runs at work
	doomed bool // is to be closed by the last of them
}

// answer is one piece of Knowledge that code generation asked for.
type answer struct {
	lo, hi int64
	ok     bool
}

// knowledge answers the questions of code generation for a run.
type knowledge struct {
	layouts *layouts
	ranges  *ranges.Ranges
	named   map[string]harmony.Managed
}

func (k *knowledge) fix(p abi.Param) answer {
	v, ok := k.layouts.fix(k.named, p)
	return answer{v, v, ok}
}

func (k *knowledge) reg(r *harmony.Reg) answer {
	bound, exact := k.ranges.Reg(r)
	if bound.Empty() {
		// No row comes here, so any bound holds.
		return answer{0, 0, true}
	}
	return answer{bound.Lo, bound.Hi, exact}
}

// holds reports whether code that was made for other facts serves for these.
func (c *compiled) holds(k *knowledge) bool {
	for p, a := range c.fixed {
		if k.fix(p) != a {
			return false
		}
	}
	for r, a := range c.ranges {
		if k.reg(r) != a {
			return false
		}
	}
	return true
}

// code returns the program's code for layouts and ranges, making it if there is
// none. It is the caller's to release.
func (p *program) code(e *engine, l *layouts, found *ranges.Ranges) (*compiled, error) {
	k := &knowledge{layouts: l, ranges: found, named: p.named}
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.compiled, func(c *compiled) bool { return c.holds(k) })
	if at < 0 {
		c, err := e.compile(p, k)
		if err != nil {
			return nil, err
		}
		at = len(p.compiled)
		p.compiled = append(p.compiled, c)
	}
	c := p.compiled[at]
	copy(p.compiled[1:at+1], p.compiled[:at])
	p.compiled[0] = c
	c.users++
	if last := len(p.compiled) - 1; last == keptCode {
		p.compiled[last].doom()
		p.compiled = p.compiled[:last]
	}
	return c, nil
}

// release ends a run's use of code.
func (p *program) release(c *compiled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.users--
	if c.doomed && c.users == 0 {
		_ = c.jit.Close() // the code is gone either way
	}
}

// forget gives all code back.
func (p *program) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.compiled {
		c.doom()
	}
	p.compiled = nil
}

// doom frees code as soon as no run uses it.
func (c *compiled) doom() {
	c.doomed = true
	if c.users == 0 {
		_ = c.jit.Close() // the code is gone either way
	}
}

// compile generates code and makes it ready to be called.
func (e *engine) compile(p *program, k *knowledge) (*compiled, error) {
	c := &compiled{functions: map[string]uintptr{}, fixed: map[abi.Param]answer{}, ranges: map[*harmony.Reg]answer{}}
	code, err := e.opts.Generator.Generate(p.graph, Knowledge{
		Fix: func(_ string, p abi.Param) (int64, bool) {
			a := k.fix(p)
			c.fixed[p] = a
			return a.lo, a.ok
		},
		Range: func(r *harmony.Reg) (lo, hi int64, ok bool) {
			a := k.reg(r)
			c.ranges[r] = a
			return a.lo, a.hi, a.ok
		},
		Domains: p.domains,
	})
	if err != nil {
		return nil, err
	}
	c.module = code.Module
	if c.jit, err = e.opts.Library.NewJIT(); err != nil {
		return nil, err
	}
	if err := e.load(c, code.IR); err != nil {
		_ = c.jit.Close() // err says what went wrong
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
