package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/cudatest"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// measure prints what calls cost through each implementation, and for launches
// through package cuda without the interface.
func measure(index int) error {
	fmt.Printf("%-40s", "what a call costs")
	var columns [][]cost
	for _, i := range implementations {
		fmt.Printf("%14s", i.name)
		c, err := i.costs(index)
		if err != nil {
			return err
		}
		columns = append(columns, c)
	}
	bare, err := bareLaunch(index)
	if err != nil {
		return err
	}
	fmt.Printf("%14s\n", "bare purego")
	for row, c := range columns[0] {
		fmt.Printf("%-40s", c.name)
		for _, column := range columns {
			fmt.Printf("%14v", column[row].took)
		}
		if c.name == launchName {
			fmt.Printf("%14v", bare)
		}
		fmt.Println()
	}
	return nil
}

// cost is the mean time of a call.
type cost struct {
	name string
	took time.Duration
}

// launchName is the row that package cuda has without the interface, too.
const launchName = "launch with 4 words"

// mean calls n times and then waits, and returns the time a call.
func mean(n int, f, wait func() error) (time.Duration, error) {
	if err := f(); err != nil {
		return 0, err
	}
	if err := wait(); err != nil {
		return 0, err
	}
	began := time.Now()
	for range n {
		if err := f(); err != nil {
			return 0, err
		}
	}
	took := time.Since(began) / time.Duration(n)
	return took, wait()
}

// nothing is a launch of the kernel line that writes nothing.
var (
	nothing  = make([]int64, 4)
	oneBlock = cuda.Shape{Grid: cuda.Dim{X: 1}, Block: cuda.Dim{X: 32}}
)

// launchesInARow fit the driver's queue, so that a launch does not wait for
// another.
const launchesInARow = 500

func (i implementation) costs(index int) (out []cost, err error) {
	_, v, err := i.device(index)
	if err != nil {
		return nil, err
	}
	gpu, err := v.OpenContext()
	if err != nil {
		return nil, err
	}
	defer gpu.Close()
	s, err := gpu.NewStream()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	e, err := gpu.NewEvent()
	if err != nil {
		return nil, err
	}
	defer e.Close()
	m, err := gpu.LoadModule(cuda.Image{Name: "kernels", Code: cudatest.Kernels},
		cuda.ModuleOptions{})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	line, err := m.Function("line")
	if err != nil {
		return nil, err
	}
	const size = 256 << 20
	p, err := gpu.Alloc(size)
	if err != nil {
		return nil, err
	}
	defer gpu.Free(p)
	host := make([]byte, size)
	for i := range host {
		host[i] = byte(i)
	}
	sync := func() error { return s.Synchronize(context.Background()) }
	launch := func() error { return s.Launch(line, oneBlock, nothing) }
	for _, row := range []struct {
		name string
		n    int
		call func() error
	}{
		{"a question to an event", 10_000, func() error { _, err := e.IsDone(); return err }},
		{launchName, launchesInARow, launch},
		{"launch with 4 words, and wait", 2000, func() error {
			if err := launch(); err != nil {
				return err
			}
			return sync()
		}},
		{"copy 8 bytes to Go's memory, and wait", 2000, func() error {
			if err := s.CopyToHost(host[:8], p); err != nil {
				return err
			}
			return sync()
		}},
		{"allocate and free 64 MiB", 50, func() error { return allocate(gpu) }},
		{"copy 256 MiB from Go's memory", 3, func() error { return gpu.CopyToDevice(p, host) }},
		{"copy 256 MiB to Go's memory", 3, func() error { return gpu.CopyToHost(host, p) }},
	} {
		took, err := mean(row.n, row.call, sync)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", row.name, err)
		}
		out = append(out, cost{row.name, took})
	}
	return out, nil
}

func allocate(gpu driver.Context) error {
	p, err := gpu.Alloc(64 << 20)
	if err != nil {
		return err
	}
	return gpu.Free(p)
}

// bareLaunch is a launch by package cuda's own types.
func bareLaunch(index int) (time.Duration, error) {
	d, err := cuda.Open()
	if err != nil {
		return 0, err
	}
	gpu, err := d.Devices()[index].OpenContext()
	if err != nil {
		return 0, err
	}
	defer gpu.Close()
	if loading := os.Getenv("CUDA_MODULE_LOADING"); loading == "EAGER" && !d.IsEager() {
		return 0,
			errors.New("the driver loads modules lazily; CUDA_MODULE_LOADING was set too late")
	}
	s, err := gpu.NewStream()
	if err != nil {
		return 0, err
	}
	defer s.Close()
	m, err := gpu.LoadModule(cuda.Image{Name: "kernels", Code: cudatest.Kernels},
		cuda.ModuleOptions{})
	if err != nil {
		return 0, err
	}
	defer m.Close()
	line, err := m.Function("line")
	if err != nil {
		return 0, err
	}
	return mean(launchesInARow,
		func() error { return s.Launch(line, oneBlock, nothing) },
		func() error { return s.Synchronize(context.Background()) })
}
