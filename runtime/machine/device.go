package machine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/weaver/assemble"
	"github.com/redfoxdb/redfox/weaver/target"
)

// Device describes a GPU of this machine.
type Device struct {
	// Number is its place in the driver's order, which CUDA_VISIBLE_DEVICES
	// changes.
	Number int
	Name   string // "NVIDIA H200"
	UUID   string // "GPU-..."
	PCI    string // its place in the machine
	// Architecture is what kernels are compiled for: "sm_90".
	Architecture    string
	Multiprocessors int
	Memory          int64   // bytes
	Free            int64   // bytes; 0 if the GPU cannot be used
	Bandwidth       float64 // peak of the memory, in bytes a second
	Driver          string  // the newest version of CUDA that the driver knows: "12.4"
	Usable          bool    // programs can run on it
	Detail          string  // what can run on it, or why nothing can
}

// Devices describes the GPUs of this machine. It opens each of them, which
// takes some tenths of a second. The error says why there are none.
func (m *Machine) Devices() ([]Device, error) {
	found, err := m.CUDA()
	if err != nil {
		return nil, err
	}
	_, missing := m.Tools.LLVM()
	var out []Device
	for _, card := range found.Devices() {
		d := describe(card, found.Version(), missing)
		if d.Usable {
			free, err := freeMemory(card)
			if err != nil {
				d.Usable, d.Detail = false, err.Error()
			}
			d.Free = int64(free)
		}
		out = append(out, d)
	}
	return out, nil
}

// describe returns what is known of a GPU before it is opened. If the compiler
// is missing, the GPU runs only compiled programs.
func describe(card driver.Device, version cuda.Version, missing error) Device {
	info := card.Info()
	d := Device{
		Number:          info.Index,
		Name:            info.Name,
		UUID:            info.UUID,
		PCI:             info.PCI,
		Architecture:    info.Architecture(),
		Multiprocessors: info.Attributes.Multiprocessors,
		Memory:          int64(info.Memory),
		Bandwidth:       info.PeakBandwidth(),
		Driver:          version.String(),
	}
	switch old := tooOld(card); {
	case old != nil:
		d.Detail = old.Error()
	case missing != nil:
		d.Usable, d.Detail = true, "runs compiled programs with code for gpu:"+d.Architecture+
			" or an older one, with --trust-code; for others there is no libLLVM"
	default:
		d.Usable, d.Detail = true, "runs every program"
	}
	return d
}

func freeMemory(card driver.Device) (uint64, error) {
	c, err := card.OpenContext()
	if err != nil {
		return 0, err
	}
	free, _, err := c.MemoryInfo()
	return free, errors.Join(err, c.Close())
}

// CardText names a GPU: "GPU 0, NVIDIA H200 (sm_90)".
func CardText(card driver.Device) string {
	return fmt.Sprintf("GPU %d, %s (%s)", card.Info().Index, card.Info().Name,
		card.Info().Architecture())
}

// SM returns the compute capability of a GPU as targets write it: 90.
func SM(card driver.Device) int {
	return 10*card.Info().Attributes.Major + card.Info().Attributes.Minor
}

// TargetOf returns the target of the kernels of a GPU.
func (m *Machine) TargetOf(
	card driver.Device) (t assemble.Target, version cuda.Version, err error) {
	found, err := m.CUDA()
	if err != nil {
		return t, 0, err
	}
	if t, err = assemble.ParseTarget(targetName(card)); err != nil {
		return t, 0, err
	}
	t.PTX = ptxOf(found.Version())
	t.Shared = card.Info().Attributes.SharedPerBlockOptin
	return t, found.Version(), nil
}

// targetName returns the name of the target of a GPU: "gpu:sm_90".
func targetName(card driver.Device) string {
	return target.GPUPrefix + strconv.Itoa(SM(card))
}

// ptxOf returns the newest version of PTX that a driver reads: CUDA 11.8 came
// with PTX 7.8, 12.4 with 8.4.
func ptxOf(v cuda.Version) int { return int(v)/100 - 40 + int(v)%100/10 }

// tooOld returns an error if kernels cannot be compiled for a GPU.
func tooOld(card driver.Device) error {
	if SM(card) >= target.OldestSM {
		return nil
	}
	has := card.Info().Attributes
	return &failure.Environment{Message: fmt.Sprintf(
		"%s is too old: redfox needs compute capability %d.%d, and it has %d.%d",
		CardText(card), target.OldestSM/10, target.OldestSM%10, has.Major, has.Minor),
		Help: "use --engine cpu"}
}

// pick finds the GPU of a number or UUID; "" is the first that can be used.
func pick(cards []driver.Device, name string) (driver.Device, error) {
	var names []string
	for _, card := range cards {
		info := card.Info()
		switch name {
		case "":
			if tooOld(card) == nil {
				return card, nil
			}
		case strconv.Itoa(info.Index), info.UUID:
			return card, tooOld(card)
		}
		names = append(names,
			fmt.Sprintf("%d: %s (%s)", info.Index, info.Name, info.Architecture()))
	}
	if name == "" {
		return nil, tooOld(cards[0])
	}
	return nil, &failure.Environment{Message: fmt.Sprintf("there is no GPU %q", name),
		Help: "there are " + strings.Join(names, ", ")}
}
