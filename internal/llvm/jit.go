package llvm

import (
	"cmp"
	"slices"
	"sync"
)

// JIT holds code that was compiled for this process. It is an ORC LLJIT that is
// fed with objects.
type JIT struct {
	lib     *Library
	machine *TargetMachine

	mu       sync.Mutex
	ref      jitRef
	dylib    dylibRef
	listener *listener
	lost     bool // a fatal error left ORC's objects half made, or its locks held
}

// NewJIT makes an empty JIT for the host. Its code can call every function that
// the process exports, libm's among them, and those given to Define.
func (l *Library) NewJIT() (*JIT, error) {
	machine, err := l.NewTargetMachine(l.HostOptions())
	if err != nil {
		return nil, err
	}
	j := &JIT{lib: l, machine: machine, listener: newListener()}
	if err, j.lost = attempt(j.create); err != nil {
		j.Close()
		return nil, &Error{Op: "make a JIT", Message: err.Error()}
	}
	return j, nil
}

// create makes LLVM's objects.
func (j *JIT) create() error {
	fn := &j.lib.fn
	if err := j.lib.failed(fn.OrcCreateLLJIT(&j.ref, 0)); err != nil {
		j.ref = 0
		return err
	}
	fn.OrcExecutionSessionSetErrorReporter(fn.OrcLLJITGetExecutionSession(j.ref), j.lib.onReport,
		j.listener.id)
	j.dylib = fn.OrcLLJITGetMainJITDylib(j.ref)
	var process generatorRef
	prefix := fn.OrcLLJITGetGlobalPrefix(j.ref)
	if err := j.lib.failed(fn.OrcCreateDynamicLibrarySearchGeneratorForProcess(&process, prefix, 0,
		0)); err != nil {
		return err
	}
	fn.OrcJITDylibAddGenerator(j.dylib, process)
	return nil
}

// Close frees the JIT and the code in it, which must not be running.
func (j *JIT) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.machine.Close()
	if j.listener == nil {
		return nil
	}
	var err error
	if j.ref != 0 && !j.lost {
		err, _ = attempt(func() error { return j.lib.failed(j.lib.fn.OrcDisposeLLJIT(j.ref)) })
		err = j.listener.takeErrors(err)
	}
	j.listener.close()
	j.ref, j.listener = 0, nil
	if err != nil {
		return &Error{Op: "close a JIT", Message: err.Error()}
	}
	return nil
}

// Target returns the machine that the JIT compiles with, to optimise modules
// for it. It belongs to the JIT.
func (j *JIT) Target() *TargetMachine { return j.machine }

// do runs one step on the JIT.
func (j *JIT) do(op string, step func() error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ref == 0 {
		return &Error{Op: op, Message: "the JIT is closed"}
	}
	if j.lost {
		return &Error{Op: op, Message: "a fatal error has made the JIT unusable; make another one"}
	}
	var err error
	err, j.lost = attempt(step)
	if err = j.listener.takeErrors(err); err != nil {
		return &Error{Op: op, Message: err.Error()}
	}
	return nil
}

// Define gives symbols addresses, such as those of callbacks, before code that
// uses them is looked up.
func (j *JIT) Define(addresses map[string]uintptr) error {
	if len(addresses) == 0 {
		return nil
	}
	return j.do("define symbols", func() error {
		fn := &j.lib.fn
		var pairs []absoluteSymbol
		for name, address := range addresses {
			pairs = append(pairs, absoluteSymbol{
				name:    fn.OrcLLJITMangleAndIntern(j.ref, name),
				address: uint64(address),
				flags:   symbolExported | symbolCallable,
			})
		}
		slices.SortFunc(pairs, func(a, b absoluteSymbol) int {
			return cmp.Compare(a.address, b.address)
		})
		unit := fn.OrcAbsoluteSymbols(&pairs[0], uintptr(len(pairs)))
		err := j.lib.failed(fn.OrcJITDylibDefine(j.dylib, unit))
		if err != nil {
			fn.OrcDisposeMaterializationUnit(unit) // only a success consumes it
		}
		return err
	})
}

// AddModule compiles a module, which is not changed and can be closed, and adds
// its functions.
func (j *JIT) AddModule(m *Module) error {
	object, err := j.machine.EmitObject(m)
	if err != nil {
		return err
	}
	return j.AddObject(m.name, object)
}

// AddObject adds an object file for the host, as EmitObject makes it.
func (j *JIT) AddObject(name string, object []byte) error {
	return j.do("add "+name, func() error {
		b := j.lib.fn.newBuffer(name, object)
		return j.lib.failed(j.lib.fn.OrcLLJITAddObjectFile(j.ref, j.dylib, b))
	})
}

// Lookup links what a function needs and returns its address, for [Call]. The
// address is good until Close.
func (j *JIT) Lookup(name string) (uintptr, error) {
	var address uint64
	err := j.do("look up "+name, func() error {
		return j.lib.failed(j.lib.fn.OrcLLJITLookup(j.ref, &address, name))
	})
	return uintptr(address), err
}
