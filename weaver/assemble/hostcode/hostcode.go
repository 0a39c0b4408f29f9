package hostcode

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/primitives"
)

// Cache keeps objects by key, as package kernelcache does.
type Cache interface {
	Get(key string) ([]byte, bool)
	Put(key string, object []byte)
}

// Target returns what the primitives are compiled for on this machine.
func Target() (primitives.Target, error) {
	switch goruntime.GOARCH {
	case "amd64":
		return primitives.X86_64, nil
	case "arm64":
		return primitives.AArch64, nil
	}
	return "", fmt.Errorf("there are no primitives for %s processors", goruntime.GOARCH)
}

// Bitcode returns the primitives for this machine's processor.
func Bitcode() ([]byte, error) {
	target, err := Target()
	if err != nil {
		return nil, err
	}
	return primitives.Bitcode(target)
}

// key tells objects for this machine apart: by what they are made of, as text
// and as primitives, by LLVM and by the processor.
func key(lib *llvm.Library, text string) (string, error) {
	target, err := Target()
	if err != nil {
		return "", err
	}
	digest, err := primitives.Digest(target)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s", lib.Key(), digest, text)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Calls returns the symbols of primitives that IR calls, sorted.
func Calls(ir string) []string {
	found := map[string]bool{}
	const mark = "@" + primitives.CallPrefix
	for {
		at := strings.Index(ir, mark)
		if at < 0 {
			return slices.Sorted(maps.Keys(found))
		}
		ir = ir[at+1:]
		if end := strings.IndexByte(ir, '('); end > 0 {
			found[ir[:end]] = true
		}
	}
}

// library is the code that one libLLVM has compiled, which stays for the life
// of the process.
type library struct {
	mu        sync.Mutex
	addresses map[string]uintptr
}

var libraries sync.Map // *llvm.Library to *library

// Symbols returns the addresses of primitives of whole tiles, by the symbols
// that code calls them by. What this process has not had before comes out of
// the cache or is compiled; cache may be nil.
func Symbols(lib *llvm.Library, cache Cache, symbols []string) (map[string]uintptr, error) {
	return symbolsOf(Options{Library: lib, Cache: cache}, symbols)
}

// symbolsOf is Symbols with a bound on the cores.
func symbolsOf(o Options, symbols []string) (map[string]uintptr, error) {
	found, _ := libraries.LoadOrStore(o.Library, &library{addresses: map[string]uintptr{}})
	return found.(*library).symbols(o, symbols)
}

func (l *library) symbols(o Options, symbols []string) (map[string]uintptr, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	missing := list.Filter(symbols, func(s string) bool { return l.addresses[s] == 0 })
	if err := l.load(o, missing); err != nil {
		return nil, err
	}
	out := map[string]uintptr{}
	for _, s := range symbols {
		out[s] = l.addresses[s]
	}
	return out, nil
}

// load compiles primitives and links them.
func (l *library) load(o Options, symbols []string) error {
	if len(symbols) == 0 {
		return nil
	}
	objects, errs := make([][]byte, len(symbols)), make([]error, len(symbols))
	cores := make(chan bool, o.cores(len(symbols)))
	var wg sync.WaitGroup
	for i, s := range symbols {
		wg.Go(func() {
			cores <- true
			defer func() { <-cores }()
			objects[i], errs[i] = object(o.Library, o.Cache, s)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	code, err := link(o.Library, objects, nil, symbols)
	if err == nil {
		maps.Copy(l.addresses, code.Functions)
	}
	return err
}

// object returns a primitive's object file.
func object(lib *llvm.Library, cache Cache, symbol string) ([]byte, error) {
	id, err := key(lib, symbol)
	if err != nil {
		return nil, err
	}
	if cache != nil {
		if object, ok := cache.Get(id); ok {
			return object, nil
		}
	}
	// The catalogue takes some milliseconds to read.
	p, ok := primitives.Lookup(strings.TrimPrefix(symbol, primitives.CallPrefix))
	if !ok || !p.WholeTile() {
		return nil, fmt.Errorf("there is no primitive for %s", symbol)
	}
	bitcode, err := Bitcode()
	if err != nil {
		return nil, err
	}
	work := llvm.Compilation{Name: symbol, IR: caller(p), Library: "primitives", Bitcode: bitcode,
		Keep: []string{symbol}, Passes: []string{"globaldce,default<O3>"}, Object: true}
	object, err := compile(lib, lib.HostOptions(), work)
	if err == nil && cache != nil {
		cache.Put(id, object)
	}
	return object, err
}

// caller returns IR with a function that calls a primitive, which is inlined
// into it.
func caller(p primitives.Primitive) string {
	result, params := p.Prototype()
	args := make([]string, len(params))
	for i, t := range params {
		args[i] = fmt.Sprintf("%s %%%d", t, i)
	}
	list := strings.Join(args, ", ")
	ir := fmt.Sprintf("declare %s @%s(%s)\n", result, p.Name, strings.Join(params, ", "))
	ir += fmt.Sprintf("define %s @%s%s(%s) nounwind {\n", result, primitives.CallPrefix, p.Name,
		list)
	if result == "void" {
		return ir + fmt.Sprintf("  call void @%s(%s)\n  ret void\n}\n", p.Name, list)
	}
	return ir + fmt.Sprintf("  %%r = call %s @%s(%s)\n  ret %s %%r\n}\n", result, p.Name, list,
		result)
}
