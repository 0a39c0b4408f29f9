package redfox

import "github.com/redfoxdb/redfox/internal/driver"

// Engine says whether this machine can run programs with an engine.
type Engine struct {
	Name      string // for RunOptions.Engine and SessionOptions.Engine
	Available bool
	Detail    string // what it uses, or why it is not available
	Help      string // what to do about that; may be empty
}

// Engines lists the engines, fastest first. The gpu engine is available if it
// can run any program; Devices tells more.
func Engines() []Engine {
	var out []Engine
	for _, e := range driver.Engines() {
		out = append(out, Engine(e))
	}
	return out
}

// Device describes a GPU of this machine.
type Device struct {
	// Number is its place in the driver's order, which CUDA_VISIBLE_DEVICES
	// changes.
	Number       int
	Name         string // "NVIDIA H200"
	UUID         string // "GPU-..."
	Architecture string // what kernels are compiled for: "sm_90"
	Memory       int64  // bytes
	Free         int64  // bytes; 0 if the GPU cannot be used
	Usable       bool   // programs can run on it
	Detail       string // what can run on it, or why nothing can
}

// Devices lists the GPUs of this machine. It opens each of them, which takes
// some tenths of a second. The error says why there are none.
func Devices() ([]Device, error) {
	list, err := driver.Devices()
	var out []Device
	for _, d := range list {
		out = append(out, Device{Number: d.Number, Name: d.Name, UUID: d.UUID,
			Architecture: d.Architecture, Memory: d.Memory, Free: d.Free, Usable: d.Usable,
			Detail: d.Detail})
	}
	return out, public(err)
}

// Version returns the version of redfox: that of the module or, for a build
// from a checkout, the commit.
func Version() string { return driver.Version() }
