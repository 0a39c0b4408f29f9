package redfox

import (
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/primitives"
	"github.com/redfoxdb/redfox/weaver/emit"
)

// assembler compiles IR for a target.
type assembler struct {
	target   target
	lib      *llvm.Library
	options  llvm.TargetOptions
	passes   string
	bitcode  []byte // of the primitives
	compiler string
	key      string // all that code depends on beside its IR
	cache    *kernelcache.Cache
}

func newAssembler(t target, lib *llvm.Library, options llvm.TargetOptions) (*assembler, error) {
	a := &assembler{target: t, lib: lib, options: options, passes: t.Passes(lib.Version().Major), compiler: "LLVM " + lib.Version().String(), cache: kernelcache.Open()}
	a.options.Level = t.Effort()
	kind, err := t.primitives()
	if err != nil {
		return nil, err
	}
	digest, err := primitives.Digest(kind)
	if err == nil {
		a.bitcode, err = primitives.Bitcode(kind)
	}
	if err != nil {
		return nil, &InternalError{Phase: "LLVM", Err: err}
	}
	a.key = strings.Join([]string{"assembly", a.compiler, fmt.Sprintf("%+v", a.options), a.passes, digest}, "\x00")
	return a, nil
}

// text returns the code of IR in which some symbols are to be visible.
func (a *assembler) text(name, ir string, symbols ...string) (string, error) {
	key := a.key + "\x00" + ir
	if text, ok := a.cache.Get(key); ok {
		return string(text), nil
	}
	machine, err := a.lib.NewTargetMachine(a.options)
	if err != nil {
		return "", err
	}
	defer machine.Close()
	text, _, err := machine.Compile(llvm.Compilation{Name: name, IR: ir, Library: "the primitives", Bitcode: a.bitcode, Keep: symbols, Passes: a.passes})
	if err != nil {
		return "", err
	}
	a.cache.Put(key, text)
	return string(text), nil
}

// units compiles each function by itself, on all cores, those that take long first.
// Functions that differ in their names alone are compiled once.
func (a *assembler) units(code *emit.Code) (string, error) {
	type result struct {
		text string
		err  error
	}
	results := map[string]*result{}
	var order []string
	for _, u := range code.Units {
		if results[u] == nil {
			results[u] = &result{}
			order = append(order, u)
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return len(b) - len(a) })
	work := make(chan string)
	var wg sync.WaitGroup
	for range min(goruntime.GOMAXPROCS(0), len(order)) {
		wg.Go(func() {
			for u := range work {
				r := results[u]
				r.text, r.err = a.text(code.Module.Target, u, emit.UnitSymbol)
			}
		})
	}
	for _, u := range order {
		work <- u
	}
	close(work)
	wg.Wait()
	parts := make([]string, len(code.Units))
	for i, u := range code.Units {
		if err := results[u].err; err != nil {
			return "", fmt.Errorf("%s: %w", code.Module.Entries[i].Symbol, err)
		}
		parts[i] = strings.ReplaceAll(results[u].text, emit.UnitSymbol, code.Module.Entries[i].Symbol)
	}
	return joinPTX(parts), nil
}

// joinPTX makes one module of several, whose heads are the same: what comes before
// the line with the size of addresses, and that line.
func joinPTX(parts []string) string {
	var b strings.Builder
	const end = ".address_size 64\n"
	for i, p := range parts {
		if at := strings.Index(p, end); i > 0 && at >= 0 {
			p = p[at+len(end):]
		}
		b.WriteString(p)
	}
	return b.String()
}
