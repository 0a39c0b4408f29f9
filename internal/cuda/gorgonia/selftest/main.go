package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/cuda/driver/conformance"
	"github.com/redfoxdb/redfox/internal/cuda/gorgonia"
)

// implementation is a driver under test.
type implementation struct {
	name string
	open func() (driver.Driver, error)
}

var implementations = []implementation{
	{"gorgonia", gorgonia.Open},
	{"purego", func() (driver.Driver, error) {
		d, err := cuda.Open()
		if err != nil {
			return nil, err
		}
		return driver.Of(d), nil
	}},
}

func main() {
	index := flag.Int("device", 0, "the `number` of the GPU to use")
	only := flag.String("driver", "", "test one driver alone, `gorgonia` or purego")
	fault := flag.Bool("fault", false,
		"see what a kernel's fault does, and nothing else; this may cost the process its GPU")
	flag.Parse()
	list := implementations
	if *only != "" {
		list = slices.DeleteFunc(slices.Clone(list), func(i implementation) bool {
			return i.name != *only
		})
	}
	if flag.NArg() > 0 || len(list) == 0 {
		flag.Usage()
		os.Exit(2)
	}
	failed := 0
	for _, i := range list {
		n, err := i.test(*index, *fault)
		if err != nil {
			fmt.Printf("%s: %v\n", i.name, err)
			n++
		}
		failed += n
	}
	if *fault {
		os.Exit(min(failed, 1))
	}
	if *only == "" && failed == 0 {
		if err := measure(*index); err != nil {
			fmt.Println("measuring:", err)
			failed++
		}
	}
	if failed > 0 {
		fmt.Println("FAILED:", failed)
		os.Exit(1)
	}
	fmt.Println("all holds")
}

// device opens the driver and returns one of its GPUs.
func (i implementation) device(index int) (driver.Driver, driver.Device, error) {
	d, err := i.open()
	if err != nil {
		return nil, nil, err
	}
	all := d.Devices()
	if index < 0 || index >= len(all) {
		return nil, nil, fmt.Errorf("there is no GPU %d; the driver finds %d, from 0", index,
			len(all))
	}
	return d, all[index], nil
}

// test returns how many properties do not hold.
func (i implementation) test(index int, fault bool) (failed int, err error) {
	d, v, err := i.device(index)
	if err != nil {
		return 0, err
	}
	if fault {
		return 0, conformance.Fault(v)
	}
	info := v.Info()
	fmt.Printf("%s: %s, CUDA %v, GPU %d: %s (%s), %s, %s\n", i.name, d.Name(), d.Version(),
		info.Index, info.Name, info.Architecture(), info.UUID, info.PCI)
	gpu, err := v.OpenContext()
	if err != nil {
		return 0, err
	}
	report := func(name string, optional bool, f func() error) {
		began := time.Now()
		err := f()
		took := time.Since(began).Round(100 * time.Microsecond)
		switch {
		case err == nil:
			fmt.Printf("  ok     %-34s %8v\n", name, took)
		case optional && errors.Is(err, errors.ErrUnsupported):
			fmt.Printf("  lacks  %-34s %v\n", name, err)
		default:
			fmt.Printf("  FAILS  %-34s %v\n", name, err)
			failed++
		}
	}
	for _, c := range conformance.Checks() {
		report(c.Name, c.Optional, func() error { return c.Run(gpu) })
	}
	for _, p := range programs {
		for _, form := range p.forms {
			report(fmt.Sprintf("kernels of %s.logic, %v", p.name, form), true, func() error {
				return p.run(gpu, form)
			})
		}
	}
	report("a kernel that faults", false, func() error {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		out, err := exec.Command(self, "-fault", "-driver", i.name, "-device",
			fmt.Sprint(index)).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
		}
		return nil
	})
	return failed, gpu.Close()
}
