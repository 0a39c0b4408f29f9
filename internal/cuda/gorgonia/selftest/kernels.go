package main

import (
	"context"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// kernels has programs, and of each, as build.sh compiles them, PTX and which
// words its kernels take.
//
//go:embed kernels
var kernels embed.FS

// code is a loaded program. It keeps what goes wrong, so that a step need not
// look after each call: after an error, calls do nothing.
type code struct {
	gpu     driver.Context
	stream  driver.Stream
	module  driver.Module
	entries map[string]*abi.Entry // by role and name: "kernel k0"
	memory  []cuda.Pointer
	err     error
}

// load loads the kernels of a program.
func load(gpu driver.Context, name string) (*code, error) {
	c := &code{gpu: gpu, entries: map[string]*abi.Entry{}}
	ptx, err := kernels.ReadFile("kernels/" + name + ".ptx")
	if errors.Is(err, fs.ErrNotExist) {
		return nil,
			fmt.Errorf("%w: the self-test was built without its code, which build.sh compiles where libLLVM is", errors.ErrUnsupported)
	}
	if err != nil {
		return nil, err
	}
	text, err := kernels.ReadFile("kernels/" + name + ".abi")
	if err != nil {
		return nil, err
	}
	module, err := abi.Parse(name+".abi", string(text))
	if err != nil {
		return nil, err
	}
	for _, e := range module.Entries {
		c.entries[e.Role.String()+" "+e.Of] = e
	}
	if c.stream, err = gpu.NewStream(); err != nil {
		return nil, err
	}
	c.module, err = gpu.LoadModule(cuda.Image{Name: name, Code: ptx}, cuda.ModuleOptions{})
	return c, err
}

// keep remembers the first error.
func (c *code) keep(err error) {
	if c.err == nil {
		c.err = err
	}
}

// close frees what the program has, and returns the first error of all calls.
func (c *code) close() error {
	for _, p := range c.memory {
		c.keep(c.gpu.Free(p))
	}
	c.keep(c.module.Close())
	c.keep(c.stream.Close())
	return c.err
}

// alloc returns device memory of zeroes. A tile's loads may go a little beyond.
func (c *code) alloc(bytes int) cuda.Pointer {
	if c.err != nil {
		return 0
	}
	p, err := c.gpu.Alloc(uint64(bytes) + 64)
	if err != nil {
		c.keep(err)
		return 0
	}
	c.memory = append(c.memory, p)
	c.keep(c.stream.Fill8(p, 0, uint64(bytes)+64))
	return p
}

// words are what parameters of kernels stand for, by their text in package abi.
type words map[string]int64

// put adds a parameter's word, with the parts of its name.
func (w words) put(value int64, kind abi.Kind, name string, index int) {
	w[abi.Param{Kind: kind, Var: name, Index: index}.String()] = value
}

// column copies a column of a relation to the device: each row's word is base +
// step times its offset, of width bytes.
func (c *code) column(w words, relation string, index, width int, base, step int64,
	offsets []uint64) {
	bytes := make([]byte, 0, len(offsets)*width+8)
	for _, o := range offsets {
		bytes = binary.LittleEndian.AppendUint64(bytes, o)[:len(bytes)+width]
	}
	p := c.alloc(len(bytes))
	if c.err == nil {
		c.keep(c.stream.CopyToDevice(p, bytes))
	}
	w.column(relation, index, width, base, step, p)
}

// column adds the words about a column.
func (w words) column(relation string, index, width int, base, step int64, data cuda.Pointer) {
	w.put(int64(data), abi.ColumnData, relation, index)
	w.put(int64(width), abi.ColumnWidth, relation, index)
	w.put(base, abi.ColumnBase, relation, index)
	w.put(step, abi.ColumnStep, relation, index)
}

// gauge adds a cursor at 0 and its limit, and returns their place.
func (c *code) gauge(w words, name string) cuda.Pointer {
	p := c.alloc(16)
	w.put(int64(p), abi.Gauge, name, 0)
	return p
}

// read returns n words of the device's memory once all work is done.
func (c *code) read(p cuda.Pointer, n int) []int64 {
	out, bytes := make([]int64, n), make([]byte, 8*n)
	if c.err != nil {
		return out
	}
	c.keep(c.stream.CopyToHost(bytes, p))
	c.sync()
	for i := range out {
		out[i] = int64(binary.LittleEndian.Uint64(bytes[8*i:]))
	}
	return out
}

// write sets words of the device's memory.
func (c *code) write(p cuda.Pointer, values []int64) {
	bytes := make([]byte, 0, 8*len(values))
	for _, v := range values {
		bytes = binary.LittleEndian.AppendUint64(bytes, uint64(v))
	}
	if c.err == nil {
		c.keep(c.stream.CopyToDevice(p, bytes))
	}
}

func (c *code) sync() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if c.err == nil {
		c.keep(c.stream.Synchronize(ctx))
	}
}

// blocks is how many work on a kernel's tiles.
const blocks = 64

// run runs an entry over rows, with a word for each of its parameters. A gauge
// first stops the blocks once there is something new, and then lets them go on.
func (c *code) run(entry string, w words, from, until int64, gauge cuda.Pointer) {
	e := c.entries[entry]
	if e == nil {
		c.keep(fmt.Errorf("there is no %s", entry))
	}
	if c.err != nil {
		return
	}
	f, err := c.module.Function(e.Symbol)
	if err != nil {
		c.keep(err)
		return
	}
	w.put(from, abi.RowsFrom, "", 0)
	w.put(until, abi.RowsUntil, "", 0)
	params := make([]int64, 0, len(e.Params)+1)
	for _, p := range e.Params {
		word, ok := w[p.String()]
		if !ok {
			c.keep(fmt.Errorf("%s: no word for %s", entry, p))
			return
		}
		params = append(params, word)
	}
	n := e.StateWords()
	states := make([]int64, blocks*n)
	e.Start(states, blocks, from, until, 1)
	at := c.alloc(8 * len(states))
	c.write(at, states)
	params = append(params, int64(at))
	shape := cuda.Shape{Grid: cuda.Dim{X: blocks}, Block: cuda.Dim{X: uint32(e.Threads)}}
	limit := int64(math.MaxInt64)
	if gauge != 0 {
		limit = c.read(gauge, 1)[0]
	}
	for ; c.err == nil; limit = math.MaxInt64 {
		if gauge != 0 {
			c.write(gauge+8, []int64{limit})
		}
		c.keep(c.stream.Launch(f, shape, params))
		states = c.read(at, len(states))
		through := true
		for b := range blocks {
			through = through && states[b*n] >= states[b*n+1]
		}
		if through {
			return
		}
		if limit == math.MaxInt64 {
			c.keep(fmt.Errorf("%s: a block stops below the limit, at %v", entry, states[:n]))
		}
	}
}
