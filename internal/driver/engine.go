package driver

import (
	"context"
	"errors"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/runtime/pool"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// process holds the engines of all runs outside sessions.
var process = pool.New(machine.Host())

// Settle waits, after the runs of a command, for code that engines compile
// while runs go on without it: the cache has it for the next process. The end
// of the context ends the wait.
func Settle(ctx context.Context) { _ = process.Settle(ctx) }

// The names of engines, for RunOptions.Engine. EngineAuto is the best for the
// facts.
const (
	EngineGPU   = machine.GPU
	EngineCPU   = machine.CPU
	EngineGo    = machine.Go
	EngineMixed = machine.Mixed
	EngineAuto  = machine.Auto
)

// EngineInfo says whether this machine can run programs with an engine.
type EngineInfo = machine.Info

// Device describes a GPU of this machine.
type Device = machine.Device

// The targets that kernels are compiled for by default. PTX for sm_80 runs on
// every later GPU; code for the cpu is completed on the machine that runs it.
const (
	DefaultGPU = machine.DefaultGPU
	DefaultCPU = machine.DefaultCPU
)

// Engines lists the engines, fastest first. The gpu engine is available if it
// can run any program; Devices tells more.
func Engines() []EngineInfo { return process.Machine.Engines() }

// Devices lists the GPUs of this machine. It opens each of them, which takes
// some tenths of a second. The error says why there are none.
func Devices() ([]Device, error) { return process.Machine.Devices() }

// CheckEngine returns an error if no engine has that name.
func CheckEngine(name string) error { return machine.CheckEngine(name) }

// CheckTarget returns the error with which compiling for a target of that name
// would fail.
func CheckTarget(name string) error {
	_, err := assemble.ParseTarget(name)
	return err
}

// ChooseEngine resolves the name of an engine; "auto" and "" stand for the best
// that the machine has for any program over many facts. It returns the engine,
// and those that auto would have taken had they been available. Of the gpu
// engine it looks at the first GPU that can be used.
func ChooseEngine(name string) (chosen EngineInfo, passed []EngineInfo, err error) {
	return process.Machine.Best(name)
}

// EngineFor returns the engine that RunOptions.Engine and RunOptions.Device
// mean: naming a device implies engine gpu.
func EngineFor(engine, device string) string { return machine.EngineFor(engine, device) }

// ChooseEngine returns the engine that a run with these options begins on, and
// those that auto would have taken had they been available; over few facts auto
// does not look for the faster ones before a loop takes long. With a nil db the
// facts are not known yet. The error is that with which the run would fail.
func (p *Program) ChooseEngine(db *Database,
	opts RunOptions) (chosen EngineInfo, passed []EngineInfo, err error) {
	c, err := p.chooseFor(process.Machine, db, opts)
	return c.Info, c.Passed, err
}

// choose returns the engine of a run. It is the one place where the options of
// a run become an engine.
func (p *Program) choose(m *machine.Machine, db *Database,
	opts RunOptions) (machine.Choice, error) {
	s, err := m.Select(opts.want())
	if err != nil {
		return machine.Choice{}, err
	}
	return s.Choose(db.size(p), &p.codes)
}

// want is what the options say of the engine.
func (o RunOptions) want() machine.Want {
	return machine.Want{Engine: o.Engine, Device: o.Device, Memory: o.DeviceMemory}
}

// StartEngine begins to open what runs with these options need, of programs
// that are compiled with those: for the gpu engine the driver and the device,
// and libLLVM unless an earlier process has left its note. That takes some
// tenths of a second, in which the program can be compiled and facts be loaded.
// Errors are ignored here; the first run returns them. It is for processes that
// run one program at a time: with two hardware queues the device opens sooner,
// but the kernels of several runs could wait for each other.
func StartEngine(run RunOptions, program Options) {
	cuda.LimitQueues(runQueues)
	start(process, run, program.fusing())
}

// start opens the engine of runs ahead of them. Wrong options are the first
// run's to refuse.
func start(p *pool.Pool, opts RunOptions, how assemble.Fusing) {
	if s, err := p.Machine.Select(opts.want()); err == nil {
		p.Start(s, how, opts.Trace)
	}
}

// runQueues are the hardware queues that one run at a time needs: one for its
// work, and one for what interrupts it, which in the same queue would wait for
// that work. Copies beside kernels have queues of their own.
const runQueues = 2

// CodeFolder returns the folder where compiled code is kept for later
// processes: that of the environment variable REDFOX_CACHE, or redfox in the
// user's folder of caches. It is "" if there is none. The error, an
// *EnvironmentError, is the reason why the folder is not used: others could
// have put code into it.
func CodeFolder() (string, error) {
	cache := kernelcache.Open()
	err := cache.Problem()
	var untrusted *kernelcache.UntrustedError
	if errors.As(err, &untrusted) {
		return cache.Dir(), &EnvironmentError{Message: err.Error(), Help: untrusted.Help, Err: err}
	}
	return cache.Dir(), err
}
