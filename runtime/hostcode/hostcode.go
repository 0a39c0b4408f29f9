package hostcode

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/primitives"
)

// Cache keeps objects by key, as package kernelcache does.
type Cache interface {
	Get(key string) ([]byte, bool)
	Put(key string, object []byte)
}

// Bitcode returns the primitives for this machine's processor.
func Bitcode() ([]byte, error) {
	switch goruntime.GOARCH {
	case "amd64":
		return primitives.Bitcode(primitives.X86_64)
	case "arm64":
		return primitives.Bitcode(primitives.AArch64)
	}
	return nil, fmt.Errorf("there are no primitives for %s processors", goruntime.GOARCH)
}

// loaded is the code of one library, which stays for the life of the process.
type loaded struct {
	once      sync.Once
	addresses map[string]uintptr
	err       error
}

var all sync.Map // *llvm.Library to *loaded

// Symbols returns the addresses of the primitives of whole tiles by the symbols
// that code calls them by. The first call compiles them, unless the cache has them;
// cache may be nil.
func Symbols(lib *llvm.Library, cache Cache) (map[string]uintptr, error) {
	found, _ := all.LoadOrStore(lib, &loaded{})
	l := found.(*loaded)
	l.once.Do(func() { l.addresses, l.err = load(lib, cache) })
	return l.addresses, l.err
}

// load compiles the primitives into a JIT that is never closed.
func load(lib *llvm.Library, cache Cache) (map[string]uintptr, error) {
	bitcode, err := Bitcode()
	if err != nil {
		return nil, err
	}
	jit, err := lib.NewJIT()
	if err != nil {
		return nil, err
	}
	object, err := compiled(lib, jit.Target(), bitcode, cache)
	if err != nil {
		_ = jit.Close() // err says what went wrong
		return nil, err
	}
	if err := jit.AddObject("primitives", object); err != nil {
		return nil, err
	}
	addresses := map[string]uintptr{}
	for _, p := range primitives.Catalogue() {
		if !p.WholeTile() {
			continue
		}
		symbol := primitives.CallPrefix + p.Name
		if addresses[symbol], err = jit.Lookup(symbol); err != nil {
			return nil, err
		}
	}
	return addresses, nil
}

// compiled returns the primitives' object file.
func compiled(lib *llvm.Library, machine *llvm.TargetMachine, bitcode []byte, cache Cache) ([]byte, error) {
	o := machine.Options()
	sum := sha256.Sum256(fmt.Appendf(nil, "primitives\n%s\n%s\n%s\n%s\n%x", lib.Version(), o.Triple, o.CPU, o.Features, sha256.Sum256(bitcode)))
	key := hex.EncodeToString(sum[:])
	if cache != nil {
		if object, ok := cache.Get(key); ok {
			return object, nil
		}
	}
	ir, symbols := callers()
	m, err := machine.ParseIR("primitives", ir)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	if err := m.LinkBitcode("primitives", bitcode); err != nil {
		return nil, err
	}
	if err := m.Internalize(symbols...); err != nil {
		return nil, err
	}
	if err := m.Optimize(machine, "default<O3>", llvm.OptimizeOptions{}); err != nil {
		return nil, err
	}
	object, err := machine.EmitObject(m)
	if err == nil && cache != nil {
		cache.Put(key, object)
	}
	return object, err
}

// callers returns IR with a function for each primitive of whole tiles, into which
// it is inlined, and their names.
func callers() (ir string, symbols []string) {
	var b strings.Builder
	for _, p := range primitives.Catalogue() {
		if !p.WholeTile() {
			continue
		}
		result, params := p.Prototype()
		args := make([]string, len(params))
		for i, t := range params {
			args[i] = fmt.Sprintf("%s %%%d", t, i)
		}
		symbol := primitives.CallPrefix + p.Name
		symbols = append(symbols, symbol)
		fmt.Fprintf(&b, "declare %s @%s(%s)\n", result, p.Name, strings.Join(params, ", "))
		fmt.Fprintf(&b, "define %s @%s(%s) nounwind {\n", result, symbol, strings.Join(args, ", "))
		if result == "void" {
			fmt.Fprintf(&b, "  call void @%s(%s)\n  ret void\n}\n", p.Name, strings.Join(args, ", "))
		} else {
			fmt.Fprintf(&b, "  %%r = call %s @%s(%s)\n  ret %s %%r\n}\n", result, p.Name, strings.Join(args, ", "), result)
		}
	}
	return b.String(), symbols
}
