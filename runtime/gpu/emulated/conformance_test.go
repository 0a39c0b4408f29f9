package emulated

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/cudatest"
	"github.com/redfoxdb/redfox/internal/cuda/driver/conformance"
)

// cardKernels knows cudatest.Kernels, and as much of PTX as the checks need.
func cardKernels(code []byte) (map[string]*Kernel, error) {
	if bytes.Equal(code, cudatest.Kernels) {
		return map[string]*Kernel{
			"empty":   {Run: func(*Memory, cuda.Shape, []int64) error { return nil }},
			"line":    {Params: 4, Run: line},
			"reverse": {Params: 1, Run: reverse},
			"wait": {Params: 1, Run: func(_ *Memory, _ cuda.Shape, p []int64) error {
				time.Sleep(time.Duration(p[0]))
				return nil
			}},
			"fault": {Run: func(*Memory, cuda.Shape, []int64) error {
				return errors.New("a store where nothing is")
			}},
			"narrow": {Params: -1},
			"answer": {Variable: binary.LittleEndian.AppendUint64(nil, 42)},
		}, nil
	}
	fail := func(code cuda.Code, log string) error {
		e := failure("cuModuleLoadDataEx", code, "")
		e.Log = log
		return e
	}
	for i, text := range strings.Split(string(code), "\n") {
		switch {
		case strings.HasPrefix(text, ".version 9"):
			return nil, fail(222, "")
		case strings.Contains(text, "nonsense"):
			return nil, fail(invalidPTX, fmt.Sprintf("line %d: syntax error", i+1))
		case strings.Contains(text, "%r1"):
			return nil, fail(invalidPTX, fmt.Sprintf("line %d: %%r1 is unknown", i+1))
		case strings.Contains(text, ".entry k()"):
			return map[string]*Kernel{"k": {Run: func(*Memory, cuda.Shape, []int64) error {
				return nil
			}}}, nil
		}
	}
	return nil, nil
}

func line(m *Memory, shape cuda.Shape, p []int64) error {
	n := min(p[1], volume(shape.Grid)*volume(shape.Block))
	out, err := m.Words(p[0], n)
	for i := range out {
		out[i] = uint64(p[2]*int64(i) + p[3])
	}
	return err
}

func reverse(m *Memory, shape cuda.Shape, p []int64) error {
	words, err := m.Words(p[0], volume(shape.Block))
	slices.Reverse(words)
	return err
}

// TestConformance holds the emulator against what a driver on a card has to do.
func TestConformance(t *testing.T) {
	for _, bare := range []bool{false, true} {
		for seed := range uint64(3) {
			d := New(Options{Seed: seed, Memory: 256 << 20, Bare: bare, Kernels: cardKernels})
			gpu, err := d.Devices()[0].OpenContext()
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range conformance.Checks() {
				t.Run(fmt.Sprintf("%s, bare %v, seed %d", c.Name, bare, seed), func(t *testing.T) {
					err := c.Run(gpu)
					// Times are those of a machine that has other things to do.
					for n := 0; n < 10 && err != nil &&
						slices.Contains([]string{"timers", "waits and their interruption",
							"events between streams"}, c.Name); n++ {
						err = c.Run(gpu)
					}
					if bare && c.Optional && errors.Is(err, errors.ErrUnsupported) {
						return
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			d.Check() // some checks do what is wrong, to be told so
			if err := gpu.Close(); err != nil {
				t.Error(err)
			}
			if err := d.Check(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestFault wants a faulting kernel to cost the context, and a device that
// recovers or says that it does not.
func TestFault(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		d := New(Options{Stuck: stuck, Kernels: cardKernels})
		if err := conformance.Fault(d.Devices()[0]); err != nil {
			t.Errorf("stuck %v: %v", stuck, err)
		}
		_, err := d.Devices()[0].OpenContext()
		if lost := errors.Is(err, cuda.ErrLost); lost != stuck {
			t.Errorf("stuck %v: %v", stuck, err)
		}
	}
}
