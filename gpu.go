package redfox

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu"
	"github.com/redfoxdb/redfox/runtime/woven"
	weaver "github.com/redfoxdb/redfox/weaver/target"
)

// Device describes a GPU of this machine.
type Device struct {
	// Number is its place in the driver's order, which CUDA_VISIBLE_DEVICES changes.
	Number int
	Name   string // "NVIDIA H200"
	UUID   string // "GPU-..."
	PCI    string // its place in the machine
	// Architecture is what kernels are compiled for: "sm_90".
	Architecture    string
	Multiprocessors int
	Memory          int64   // bytes
	Free            int64   // of them; 0 if it can not be used
	Bandwidth       float64 // of the memory, at most, in bytes a second
	Driver          string  // the newest version of CUDA that the driver knows: "12.4"
	Usable          bool    // programs can run on it
	Detail          string  // what can run on it, or why nothing can
}

// Devices lists the GPUs of this machine. It opens each, which takes some tenths of a
// second. The error says why there are none.
func Devices() ([]Device, error) {
	found, err := openCUDA()
	if err != nil {
		return nil, err
	}
	_, missing := openLLVM()
	var out []Device
	for _, card := range found.Devices() {
		d := describeCard(card, found.Version(), missing)
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

// describeCard tells what is known of a GPU before it is opened. Without a compiler it
// runs what is compiled.
func describeCard(card driver.Device, version cuda.Version, missing error) Device {
	d := Device{
		Number:          card.Info().Index,
		Name:            card.Info().Name,
		UUID:            card.Info().UUID,
		PCI:             card.Info().PCI,
		Architecture:    card.Info().Architecture(),
		Multiprocessors: card.Info().Attributes.Multiprocessors,
		Memory:          int64(card.Info().Memory),
		Bandwidth:       card.Info().PeakBandwidth(),
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

// openCUDA opens the driver that package driver knows of, CUDA's unless a program has
// put another one into its place.
func openCUDA() (driver.Driver, error) {
	opened, err := driver.Open()
	var none *cuda.NotFoundError
	if errors.As(err, &none) {
		message, _ := strings.CutSuffix(none.Error(), "; "+none.Advice())
		return nil, &EnvironmentError{Message: message, Help: none.Advice(), Err: err}
	}
	if err != nil {
		return nil, &EnvironmentError{Message: err.Error(), Err: err}
	}
	return opened, nil
}

// isGPUProblem reports whether the machine seems to have a GPU although none can be
// used. On one without, that is not worth a word.
func isGPUProblem() bool {
	_, err := driver.Open()
	var none *cuda.NotFoundError
	if !errors.As(err, &none) {
		return true
	}
	return none.Named || none.Problem() == cuda.DriverTooOld || none.Problem() == cuda.DriverRefuses
}

// gpuInfo says whether there is a GPU that can run any program.
func gpuInfo() EngineInfo {
	found, err := openCUDA()
	if err != nil {
		return unavailable("gpu", err)
	}
	card, err := pickCard(found.Devices(), "")
	if err != nil {
		return unavailable("gpu", err)
	}
	lib, err := openLLVM()
	if err != nil {
		info := unavailable("gpu", err)
		info.Detail = fmt.Sprintf("%s is there, for compiled programs with code for it; for others: %s", cardText(card), info.Detail)
		return info
	}
	return EngineInfo{Name: "gpu", Available: true,
		Detail: fmt.Sprintf("%s, with a driver for CUDA %v; PTX compiled by LLVM %v (%s)", cardText(card), found.Version(), lib.Version(), lib.Path())}
}

// cardText names a GPU: "GPU 0, NVIDIA H200 (sm_90)".
func cardText(card driver.Device) string {
	return fmt.Sprintf("GPU %d, %s (%s)", card.Info().Index, card.Info().Name, card.Info().Architecture())
}

// tooOld returns an error if kernels can not be compiled for a GPU.
func tooOld(card driver.Device) error {
	if smOf(card) >= weaver.OldestSM {
		return nil
	}
	return &EnvironmentError{Message: fmt.Sprintf("%s is too old: redfox needs compute capability %d.%d, and it has %d.%d", cardText(card),
		weaver.OldestSM/10, weaver.OldestSM%10, card.Info().Attributes.Major, card.Info().Attributes.Minor), Help: "use --engine cpu"}
}

// smOf returns the compute capability of a GPU as targets write it: 90.
func smOf(card driver.Device) int {
	return 10*card.Info().Attributes.Major + card.Info().Attributes.Minor
}

// pickCard finds the GPU of a number or UUID; "" is the first one that can be used.
func pickCard(cards []driver.Device, name string) (driver.Device, error) {
	var names []string
	for _, card := range cards {
		switch {
		case name == "" && tooOld(card) == nil, name != "" && (name == strconv.Itoa(card.Info().Index) || name == card.Info().UUID):
			return card, tooOld(card)
		}
		names = append(names, fmt.Sprintf("%d: %s (%s)", card.Info().Index, card.Info().Name, card.Info().Architecture()))
	}
	if name == "" {
		return nil, tooOld(cards[0])
	}
	return nil, &EnvironmentError{Message: fmt.Sprintf("there is no GPU %q", name), Help: "there are " + strings.Join(names, ", ")}
}

// chooseCard finds the GPU for a run, and sees that there can be code for it.
func (p *Program) chooseCard(opts RunOptions) (driver.Device, error) {
	card, err := findCard(opts.Device)
	if err != nil {
		return nil, err
	}
	return card, p.checkCode(card)
}

// findCard finds the GPU of a number or UUID, "" being the first that can be used.
func findCard(name string) (driver.Device, error) {
	found, err := openCUDA()
	if err != nil {
		return nil, unavailable("gpu", err).error()
	}
	return pickCard(found.Devices(), name)
}

// checkCode returns an error if a program has no code for a GPU and none can be made.
func (p *Program) checkCode(card driver.Device) error {
	_, missing := openLLVM()
	if missing == nil || p.codeFor(smOf(card)) != nil {
		return nil
	}
	none := unavailable("gpu", missing)
	if p.storedFor(smOf(card)) != nil {
		return &EnvironmentError{
			Message: "the compiled program's code is not trusted, and it cannot be compiled here: " + none.Detail,
			Help: "give --trust-code if you trust whoever made the file, as the code can do all that you can; or " +
				none.Help + ", or use --engine go",
			Err: missing,
		}
	}
	message := "code for a GPU must be compiled, and " + none.Detail
	if have := p.codeTargets(); len(have) > 0 {
		message = fmt.Sprintf("the compiled program has code for %s, and %s needs it for gpu:%s or an older one; it can not be compiled here: %s",
			strings.Join(have, ", "), cardText(card), card.Info().Architecture(), none.Detail)
	}
	help := fmt.Sprintf("%s, or compile the program where there is one, with redfox compile --target gpu:%s -o FILE%s", none.Help, card.Info().Architecture(), CompiledExtension)
	return &EnvironmentError{Message: message, Help: help, Err: missing}
}

// newGPU returns an engine for a GPU, which may take so many bytes of its memory. That the
// GPU can not be opened, its runs say.
func (s *engines) newGPU(card driver.Device, memory int64, how fusing) (runtime.Engine, error) {
	found, err := openCUDA()
	if err != nil {
		return nil, err
	}
	t, err := parseTarget("gpu:" + card.Info().Architecture())
	if err != nil {
		return nil, err
	}
	t.ptx = ptxOf(found.Version())
	t.Shared = card.Info().Attributes.SharedPerBlockOptin
	return gpu.Start(gpu.Options{
		Device:  card,
		Version: found.Version(),
		Limit:   memory,
		Cache:   kernelcache.Open(),
		Lower:   lowering(t, how),
		Compile: func(graph *harmony.Program, k woven.Knowledge, early func(ptx string)) (*gpu.Code, error) {
			return s.compileGPU(t, graph, k, early)
		},
	}), nil
}

// ptxOf returns the newest version of PTX that a driver reads: CUDA 11.8 came with
// PTX 7.8, 12.4 with 8.4.
func ptxOf(v cuda.Version) int { return int(v)/100 - 40 + int(v)%100/10 }

// compileGPU returns code for kernels: that of a compiled program if what it takes for
// granted is true, or else it is made, and early gets that of each kernel as soon as it is.
func (s *engines) compileGPU(t target, graph *harmony.Program, k woven.Knowledge, early func(ptx string)) (*gpu.Code, error) {
	code, refused := s.stored(t, graph, k)
	if code != nil {
		return code, nil
	}
	if _, err := openLLVM(); err != nil && refused != nil {
		return nil, refused
	}
	a, err := newAssembler(t)
	if err != nil {
		return nil, err
	}
	a.early = early
	made, err := a.compile(graph, k)
	if err != nil {
		return nil, err
	}
	module, err := made.Module()
	if err != nil {
		return nil, &InternalError{Phase: "code generation", Err: err}
	}
	return &gpu.Code{Module: module, PTX: made.Text}, nil
}

// deviceError words what a GPU or its driver refuses, which is the environment's. Other
// errors stay as they are.
func deviceError(err error) error {
	var device *runtime.DeviceError
	if errors.As(err, &device) {
		try := device.Try
		short := *device
		short.Try = ""
		return &EnvironmentError{Message: short.Error(), Help: try, Err: err}
	}
	var failed *cuda.Error
	if !errors.As(err, &failed) {
		return err
	}
	for _, k := range deviceFailures {
		if errors.Is(err, k.kind) {
			return &EnvironmentError{Message: k.message + ": " + failed.Error(), Help: k.help, Err: err}
		}
	}
	return err
}

// deviceFailures words the driver's kinds of failure.
var deviceFailures = []struct {
	kind          error
	message, help string
}{
	{cuda.ErrLost, "the GPU was lost to a fault",
		"run again; if that fails, start the program again, and see what dmesg says of Xid; --engine cpu needs no GPU"},
	{cuda.ErrOutOfMemory, "out of memory of the GPU", "free some, name another GPU with --device, or use --engine cpu"},
	{cuda.ErrUnsupportedPTX, "the GPU's driver is too old for the code", "install a newer driver, or compile the program on this machine"},
	{cuda.ErrNoBinary, "the code is not for this GPU", "compile it for this one, with redfox compile --target"},
	{errors.ErrUnsupported, "the GPU or its driver lacks what the engine needs", "install a newer driver, or use --engine cpu"},
}
