package machine

import (
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/weaver/target"
)

// The names of engines, and the name that stands for the best of them.
const (
	GPU   = runtime.GPU
	CPU   = runtime.CPU
	Go    = runtime.Go
	Mixed = runtime.Mixed
	Auto  = "auto"
)

// The targets that kernels are compiled for by default. PTX for sm_80 runs on
// every later GPU; code for the cpu is completed on the machine that runs it.
const (
	DefaultGPU = target.GPUPrefix + "80"
	DefaultCPU = target.CPUName
)

// Kind is a kind of engine.
type Kind struct {
	Name    string
	Package string // that implements it
	Target  string // of its kernels, by default; "" if it runs plans
}

// Kinds lists the engines that Auto chooses from, fastest first. The last one
// is always available. Joint is made of the others, for runs that ask for it.
var (
	Kinds = []Kind{
		{GPU, "runtime/gpu", DefaultGPU},
		{CPU, "runtime/native", DefaultCPU},
		{Go, "runtime/portable", ""},
	}
	Joint = Kind{Mixed, "runtime/mixed", DefaultGPU}
)

// Names lists what an engine may be called, Auto last.
func Names() []string {
	var out []string
	for _, k := range Kinds {
		out = append(out, k.Name)
	}
	return append(out, Joint.Name, Auto)
}
