package hostcode

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/elfload"
	"github.com/redfoxdb/redfox/internal/llvm"
)

// Code is compiled functions in this process.
type Code struct {
	// Functions are their addresses by symbol, for llvm.Call, which are good
	// until Close.
	Functions map[string]uintptr

	image *elfload.Image
	jit   *llvm.JIT // instead of the image
}

// Options say how code is compiled.
type Options struct {
	Library *llvm.Library
	Cache   Cache // of objects; nil for none
	// Quick asks LLVM for little effort. Code is made in an eighth of the time
	// and runs several times slower. Tests of small data use it.
	Quick bool
	// Cores bounds the cores that compile at the same time; 0 stands for all.
	Cores int
}

// cores returns how many cores compile n pieces of code.
func (o Options) cores(n int) int {
	return min(n, cmp.Or(o.Cores, goruntime.GOMAXPROCS(0)))
}

// passes returns LLVM's passes, in its language for pipelines.
func (o Options) passes() string {
	if !o.Quick {
		return "default<O3>"
	}
	combine := "instcombine"
	if o.Library.Version().Major >= 18 {
		combine = "instcombine<no-verify-fixpoint>" // the default fails without a fixpoint
	}
	return "always-inline,function(sroa,early-cse," + combine + ",simplifycfg,adce)"
}

// machine returns what code is generated for.
func (o Options) machine() llvm.TargetOptions {
	machine := o.Library.HostOptions()
	if o.Quick {
		machine.Level = 0
	}
	return machine
}

// Key tells objects of a text apart that are made with other options, by
// another LLVM or for another processor.
func (o Options) Key(text string) (string, error) {
	return key(o.Library, fmt.Sprintf("%s\n%d\n%s", o.passes(), o.machine().Level, text))
}

// Load compiles functions of IR that calls primitives, or finds them compiled,
// and makes them ready to be called.
func Load(o Options, ir string, symbols []string) (*Code, error) {
	objects, err := Objects(o, ir, symbols)
	if err != nil {
		return nil, err
	}
	return Link(o, objects, Calls(ir), symbols)
}

// Objects compiles functions of IR that calls primitives, on all cores, or
// finds them compiled. Functions that differ in nothing but their names are
// compiled once. The objects call the whole-tile primitives of Calls.
func Objects(o Options, ir string, symbols []string) ([][]byte, error) {
	if len(symbols) == 0 {
		return nil, nil
	}
	key, err := o.Key(ir)
	if err != nil {
		return nil, err
	}
	if o.Cache != nil {
		if data, ok := o.Cache.Get(key); ok {
			if objects, ok := Split(data); ok {
				return objects, nil
			}
		}
	}
	objects, err := ObjectsOf(o, ir, symbols, symbols)
	if err == nil && o.Cache != nil {
		o.Cache.Put(key, Join(objects))
	}
	return objects, err
}

// ObjectsOf is Objects for some of all symbols, whose objects it does not look
// for in the cache.
func ObjectsOf(o Options, ir string, all, some []string) ([][]byte, error) {
	if len(some) == 0 {
		return nil, nil
	}
	cores := goruntime.GOMAXPROCS(0)
	modules := modulesOf(ir, all, some, cores)
	objects, errs := make([][]byte, len(modules)), make([]error, len(modules))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range o.cores(len(modules)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(modules)); i = next.Add(1) - 1 {
				objects[i], errs[i] = o.compile(modules[i].ir, modules[i].symbols)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return objects, nil
}

// compile links the primitives to IR, and optimises and compiles some of its
// functions.
func (o Options) compile(ir string, symbols []string) ([]byte, error) {
	c := llvm.Compilation{Name: "kernels", IR: ir, Keep: symbols, Passes: []string{o.passes()},
		Object: true}
	// Code that only calls primitives needs none of their bitcode.
	if strings.Contains(ir, "@rf_") {
		library, err := Bitcode()
		if err != nil {
			return nil, err
		}
		c.Library, c.Bitcode = "primitives", library
	}
	return compile(o.Library, o.machine(), c)
}

// compile compiles for a machine.
func compile(lib *llvm.Library, o llvm.TargetOptions, c llvm.Compilation) ([]byte, error) {
	machine, err := lib.NewTargetMachine(o)
	if err != nil {
		return nil, err
	}
	defer machine.Close()
	object, _, err := machine.Compile(c)
	return object, err
}

// Join makes one entry of a cache of several objects, each after its length.
func Join(objects [][]byte) []byte {
	var data []byte
	for _, o := range objects {
		data = binary.AppendUvarint(data, uint64(len(o)))
		data = append(data, o...)
	}
	return data
}

// Split is the inverse of Join; not ok if the data are of no Join.
func Split(data []byte) (objects [][]byte, ok bool) {
	for len(data) > 0 {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > uint64(len(data)-size) {
			return nil, false
		}
		objects = append(objects, data[size:size+int(n)])
		data = data[size+int(n):]
	}
	return objects, true
}
