package conformance

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/cudatest"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// Check is a property of an implementation.
type Check struct {
	Name string
	// Optional says that an implementation may lack what the check uses.
	Optional bool
	check    func(f *fixture) error
}

// Checks returns all properties but that of Fault.
func Checks() []Check {
	return []Check{
		{Name: "device", check: device},
		{Name: "launches from many goroutines", check: launches},
		{Name: "launches that are refused", check: refusedLaunches},
		{Name: "kernel attributes, occupancy", check: function},
		{Name: "dynamic shared memory", check: dynamicShared},
		{Name: "module errors", check: moduleErrors},
		{Name: "variables of a module", check: variable},
		{Name: "machine code made ahead", check: link},
		{Name: "waits and their interruption", check: waits},
		{Name: "timers", check: timers},
		{Name: "events between streams", check: events},
		{Name: "copies and fills", check: copies},
		{Name: "lack of memory", check: outOfMemory},
		{Name: "use after Close", check: useAfterClose},
		{Name: "parameters are counted", Optional: true, check: parameters},
		{Name: "pinned host memory", Optional: true, check: hostMemory},
		{Name: "pools", Optional: true, check: pool},
		{Name: "regions", Optional: true, check: region},
		{Name: "graphs", Optional: true, check: graph},
		{Name: "cooperative launches", Optional: true, check: cooperative},
		{Name: "more than 48 KiB of shared memory", Optional: true, check: sharedOptin},
		{Name: "a carve-out of the cache", Optional: true, check: carveout},
	}
}

// Run sees whether the property holds. Of an optional one the error may be an
// errors.ErrUnsupported, which says what the implementation lacks.
func (c Check) Run(gpu driver.Context) (err error) {
	f := &fixture{Context: gpu}
	defer func() {
		for _, closer := range f.closers {
			if e := closer(); err == nil && e != nil {
				err = fmt.Errorf("closing: %w", e)
			}
		}
	}()
	if f.stream, err = gpu.NewStream(); err != nil {
		return err
	}
	f.closers = append(f.closers, f.stream.Close)
	if f.module, err = gpu.LoadModule(cuda.Image{Name: "kernels", Code: cudatest.Kernels},
		cuda.ModuleOptions{}); err != nil {
		return err
	}
	f.closers = append(f.closers, f.module.Close)
	err = c.check(f)
	if errors.Is(err, errors.ErrUnsupported) && !c.Optional {
		return fmt.Errorf("must be there: %v", err)
	}
	return err
}

// fixture is a context with the kernels and a stream.
type fixture struct {
	driver.Context
	stream  driver.Stream
	module  driver.Module
	closers []func() error // in this order, at the end
}

// limit ends waits for work that hangs. A busy machine does not reach it.
const limit = 10 * time.Minute

// sync waits for the stream.
func (f *fixture) sync() error { return wait(f.stream) }

func wait(s driver.Stream) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return s.Synchronize(ctx)
}

// launch starts a kernel of the fixture's module in its stream.
func (f *fixture) launch(kernel string, shape cuda.Shape, params ...int64) error {
	k, err := f.module.Function(kernel)
	if err != nil {
		return err
	}
	return f.stream.Launch(k, shape, params)
}

// busy keeps a stream busy.
func (f *fixture) busy(s driver.Stream, d time.Duration) error {
	k, err := f.module.Function("wait")
	if err != nil {
		return err
	}
	return s.Launch(k, one, []int64{d.Nanoseconds()})
}

// one is a thread.
var one = shape(1, 1)

func shape(blocks, threads uint32) cuda.Shape {
	return cuda.Shape{Grid: cuda.Dim{X: blocks}, Block: cuda.Dim{X: threads}}
}

// first returns the first error, as errors.Join does not.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// word returns the i-th word of bytes.
func word(bytes []byte, i int) int64 { return int64(binary.LittleEndian.Uint64(bytes[8*i:])) }

// wantKind wants an error of a kind.
func wantKind(what string, err, kind error) error {
	if errors.Is(err, kind) {
		return nil
	}
	return fmt.Errorf("%s: %v, and not: %v", what, err, kind)
}
