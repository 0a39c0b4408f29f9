package llvm

import "sync"

// Reloc is a relocation model.
type Reloc int

// The relocation models, as LLVMRelocMode numbers them.
const (
	RelocDefault Reloc = iota
	RelocStatic
	RelocPIC
)

// CodeModel bounds where code and data may lie.
type CodeModel int

// The code models, as LLVMCodeModel numbers them.
const (
	CodeModelDefault CodeModel = 0
	CodeModelSmall   CodeModel = 3
	CodeModelLarge   CodeModel = 6
)

// TargetOptions say what to generate code for.
type TargetOptions struct {
	Triple    string // such as nvptx64-nvidia-cuda
	CPU       string // such as sm_90; one that this version of LLVM knows
	Features  string // such as +ptx78; those that this version of LLVM knows
	Level     int    // effort of code generation, 0 to 3, as in -O
	Reloc     Reloc
	CodeModel CodeModel
}

// HostOptions are for the processor that redfox runs on, with all its features.
//
// Addresses in the code have 64 bits: the code model is the large one. LLVM's
// JIT maps the code of an object, its constants and its jump table apart,
// wherever the system has room. It does not notice distances above 2 GiB, which
// occur in a process with gigabytes of facts.
func (l *Library) HostOptions() TargetOptions { return l.Host }

func (l *Library) hostOptions() TargetOptions {
	return TargetOptions{
		Triple:    l.fn.takeMessage(l.fn.GetDefaultTargetTriple()),
		CPU:       l.fn.takeMessage(l.fn.GetHostCPUName()),
		Features:  l.fn.takeMessage(l.fn.GetHostCPUFeatures()),
		Level:     3,
		Reloc:     RelocStatic,
		CodeModel: CodeModelLarge,
	}
}

// TargetMachine generates code for a processor. It does one thing at a time.
type TargetMachine struct {
	lib     *Library
	options TargetOptions
	layout  string

	mu  sync.Mutex
	ref machineRef
}

// NewTargetMachine makes a generator of code. An unknown triple is an error;
// about a processor or a feature that it does not know, LLVM only warns on
// standard error.
func (l *Library) NewTargetMachine(o TargetOptions) (*TargetMachine, error) {
	if err := l.Open(); err != nil {
		return nil, err
	}
	t := &TargetMachine{lib: l, options: o}
	err, _ := attempt(t.create)
	if err != nil {
		return nil, &Error{Op: "make a target machine for " + o.Triple, Message: err.Error()}
	}
	layout := l.fn.CreateTargetDataLayout(t.ref)
	t.layout = l.fn.takeMessage(l.fn.CopyStringRepOfTargetData(layout))
	l.fn.DisposeTargetData(layout)
	return t, nil
}

// create makes LLVM's object.
func (t *TargetMachine) create() error {
	fn, o := &t.lib.fn, &t.options
	var target targetRef
	var p *byte
	if fn.GetTargetFromTriple(o.Triple, &target, &p) != 0 {
		return message(fn.takeMessage(p))
	}
	t.ref = fn.CreateTargetMachine(target, o.Triple, o.CPU, o.Features, int32(o.Level),
		int32(o.Reloc), int32(o.CodeModel))
	if t.ref == 0 {
		return message("LLVM has no target machine for it")
	}
	return nil
}

// Options returns what the target machine was made with.
func (t *TargetMachine) Options() TargetOptions { return t.options }

// DataLayout returns the layout of the target's memory, in LLVM's notation.
func (t *TargetMachine) DataLayout() string { return t.layout }

// Close frees the target machine.
func (t *TargetMachine) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ref != 0 {
		t.lib.fn.DisposeTargetMachine(t.ref)
		t.ref = 0
	}
}

// describe writes the target into a module.
func (t *TargetMachine) describe(m moduleRef) {
	t.lib.fn.SetTarget(m, t.options.Triple)
	t.lib.fn.SetDataLayout(m, t.layout)
}

// use runs a step with the target machine.
func (t *TargetMachine) use(op string, m *Module, step func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ref == 0 {
		return &Error{Op: op, Module: m.name, Message: "the target machine is closed"}
	}
	ended := false
	err := m.do(op, func() error {
		err := step()
		ended = true
		return err
	})
	if err != nil && !ended {
		// A fatal error may have come in the middle of a change of LLVM's
		// object, so that one is abandoned, too. What was created once can be
		// again; if not, the target machine counts as closed.
		t.ref = 0
		_, _ = attempt(t.create)
	}
	return err
}

// useOnCopy runs a step on a copy of a module, with the target machine.
func (t *TargetMachine) useOnCopy(op string, m *Module,
	step func(moduleRef) (replace bool, err error)) error {
	return t.use(op, m, func() error {
		return m.onCopy(func(c moduleRef) (bool, error) {
			t.describe(c)
			return step(c)
		})
	})
}

// EmitAssembly compiles a module to the target's assembly language, which is
// PTX for an NVIDIA GPU. The module is not changed.
func (t *TargetMachine) EmitAssembly(m *Module) ([]byte, error) {
	return t.emit("emit assembly of", m, assemblyFile)
}

// EmitObject compiles a module to an object file. The module is not changed.
func (t *TargetMachine) EmitObject(m *Module) ([]byte, error) {
	return t.emit("emit an object of", m, objectFile)
}

func (t *TargetMachine) emit(op string, m *Module, kind int32) (code []byte, err error) {
	err = t.useOnCopy(op, m, func(c moduleRef) (_ bool, err error) {
		code, err = t.write(c, kind)
		return false, err
	})
	return code, err
}

// write generates code for a module, which that changes.
func (t *TargetMachine) write(m moduleRef, kind int32) ([]byte, error) {
	fn := &t.lib.fn
	var p *byte
	var b bufferRef
	if fn.TargetMachineEmitToMemoryBuffer(t.ref, m, kind, &p, &b) != 0 {
		return nil, message(fn.takeMessage(p))
	}
	return fn.takeBuffer(b), nil
}

// OptimizeOptions tune a pass pipeline. The zero value is LLVM's own choice. No
// option disables vectorisation, because "default<O2>" and "default<O3>" enable
// it regardless of the setting.
type OptimizeOptions struct {
	VerifyEach       bool // verify the module after every pass
	NoLoopInterleave bool // do not run several iterations of a vectorised loop at once
	NoLoopUnroll     bool
}

// Optimize runs passes over the module, for a target machine: a pipeline in the
// notation of LLVM's opt, such as "default<O3>" or
// "function(sroa,instcombine)".
func (m *Module) Optimize(machine *TargetMachine, pipeline string, o OptimizeOptions) error {
	return machine.useOnCopy("optimize", m, func(c moduleRef) (bool, error) {
		return true, machine.optimize(c, pipeline, o)
	})
}

func (t *TargetMachine) optimize(m moduleRef, pipeline string, o OptimizeOptions) error {
	fn := &t.lib.fn
	passes := fn.CreatePassBuilderOptions()
	defer fn.DisposePassBuilderOptions(passes)
	fn.PassBuilderOptionsSetVerifyEach(passes, flag(o.VerifyEach))
	fn.PassBuilderOptionsSetLoopInterleaving(passes, flag(!o.NoLoopInterleave))
	fn.PassBuilderOptionsSetLoopUnrolling(passes, flag(!o.NoLoopUnroll))
	return t.lib.failed(fn.RunPasses(m, pipeline, t.ref, passes))
}

// flag returns an LLVMBool.
func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
