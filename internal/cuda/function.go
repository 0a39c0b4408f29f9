package cuda

// Function is a kernel of a module. It is valid as long as the module.
type Function struct {
	module     *Module
	handle     functionHandle
	name       string
	parameters int // unknown if negative
	attributes FunctionAttributes
}

// FunctionAttributes say what a kernel takes. Sizes are in bytes.
type FunctionAttributes struct {
	Registers     int // of a thread
	Local         int // of a thread: spills and arrays that are not in registers
	Shared        int // of a block, static
	Const         int
	MaxThreads    int // of a block, by what the kernel takes
	PTXVersion    int // the architecture of the PTX: 80 for sm_80
	BinaryVersion int // the architecture of the machine code
}

// Read fills the attributes by asking for each by its number in
// CUfunction_attribute.
func (a *FunctionAttributes) Read(ask func(attribute int32) (value int32, err error)) error {
	for _, field := range []struct {
		attribute int32
		to        *int
	}{
		{functionRegisters, &a.Registers}, {functionLocal, &a.Local}, {functionShared, &a.Shared},
		{functionConst, &a.Const}, {functionMaxThreads, &a.MaxThreads},
		{functionPTXVersion, &a.PTXVersion}, {functionBinaryVersion, &a.BinaryVersion},
	} {
		value, err := ask(field.attribute)
		if err != nil {
			return err
		}
		*field.to = int(value)
	}
	return nil
}

// Function finds a kernel, loads it if the module was loaded lazily, and reads
// what it takes.
func (m *Module) Function(name string) (*Function, error) {
	f := &Function{module: m, name: name, parameters: -1}
	fn := m.ctx.fn
	err := m.call("cuModuleGetFunction", func(h moduleHandle) Code {
		return fn.ModuleGetFunction(&f.handle, h, name)
	})
	if err != nil {
		return nil, describe(err, "kernel %s of module %s", name, m.name)
	}
	err = f.call("cuFuncLoad", func(h functionHandle) Code {
		if code := fn.FuncLoad(h); code != missingFunction {
			return code
		}
		return success // a driver of that age has loaded it
	})
	if err != nil {
		return nil, err
	}
	if err := f.attributes.Read(f.attribute); err != nil {
		return nil, err
	}
	if err := f.countParameters(); err != nil {
		return nil, err
	}
	return f, nil
}

// countParameters asks the driver how many parameters the kernel has, and sees
// that each is a word. Drivers before 12.4 do not tell.
func (f *Function) countParameters() error {
	n, isWord := 0, true
	err := f.call("cuFuncGetParamInfo", func(h functionHandle) Code {
		for ; ; n++ {
			var offset, size uintptr
			switch code := f.module.ctx.fn.FuncGetParamInfo(h, uintptr(n), &offset, &size); code {
			case success:
				isWord = isWord && size == 8
			case invalidValue: // there are no more
				return success
			case missingFunction:
				n = -1
				return success
			default:
				return code
			}
		}
	})
	if err == nil && !isWord {
		err = refused("cuFuncGetParamInfo", nil,
			"a parameter is not of 64 bits; kernels are launched with words")
	}
	f.parameters = n
	return describe(err, "kernel %s of module %s", f.name, f.module.name)
}

// call makes calls of the driver that use the function.
func (f *Function) call(name string, g func(functionHandle) Code) error {
	err := f.module.call(name, func(moduleHandle) Code { return g(f.handle) })
	if err != nil {
		describe(err, "kernel %s of module %s", f.name, f.module.name)
	}
	return err
}

func (f *Function) attribute(attribute int32) (value int32, err error) {
	err = f.call("cuFuncGetAttribute", func(h functionHandle) Code {
		return f.module.ctx.fn.FuncGetAttribute(&value, attribute, h)
	})
	return value, err
}

func (f *Function) setAttribute(attribute int32, value int) error {
	err := f.call("cuFuncSetAttribute", func(h functionHandle) Code {
		return f.module.ctx.fn.FuncSetAttribute(h, attribute, int32(value))
	})
	if err != nil {
		describe(err, "kernel %s of module %s, attribute %d, value %d", f.name, f.module.name,
			attribute, value)
	}
	return err
}

// Name returns the kernel's name.
func (f *Function) Name() string { return f.name }

// Module returns the module that the kernel is of.
func (f *Function) Module() *Module { return f.module }

// Attributes returns what the kernel takes.
func (f *Function) Attributes() FunctionAttributes { return f.attributes }

// Parameters returns how many words the kernel takes, if the driver tells:
// since CUDA 12.4.
func (f *Function) Parameters() (n int, known bool) {
	return max(f.parameters, 0),
		f.parameters >= 0
}

// SetMaxDynamicShared lets launches ask for that many bytes of shared memory a
// block beside the static ones. Without it the bound is 48 KiB.
func (f *Function) SetMaxDynamicShared(bytes int) error {
	return f.setAttribute(functionMaxDynamicShared, bytes)
}

// SetSharedCarveout asks for a share of a multiprocessor's cache, in percent,
// to be shared memory; the rest caches loads. The driver takes it as a hint.
func (f *Function) SetSharedCarveout(percent int) error {
	return f.setAttribute(functionSharedCarveout, percent)
}

// BlocksPerMultiprocessor returns how many blocks of that many threads, with
// that many bytes of dynamic shared memory each, run on one multiprocessor at a
// time.
func (f *Function) BlocksPerMultiprocessor(threads, shared int) (int, error) {
	var blocks int32
	err := f.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", func(h functionHandle) Code {
		return f.module.ctx.fn.OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, h, int32(threads),
			uintptr(shared))
	})
	return int(blocks), err
}

// SuggestBlock returns the number of threads a block, at most limit if that is
// not 0, that keeps the most threads running, and how many such blocks fill the
// device.
func (f *Function) SuggestBlock(shared, limit int) (threads, blocks int, err error) {
	var b, t int32
	err = f.call("cuOccupancyMaxPotentialBlockSize", func(h functionHandle) Code {
		return f.module.ctx.fn.OccupancyMaxPotentialBlockSize(&b, &t, h, 0, uintptr(shared),
			int32(limit))
	})
	return int(t), int(b), err
}
