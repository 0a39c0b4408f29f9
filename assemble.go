package redfox

import (
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/buildid"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/internal/trace"
	"github.com/redfoxdb/redfox/primitives"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/weaver/assemble/codecache"
	"github.com/redfoxdb/redfox/weaver/emit"
)

// assembler makes code for a target: PTX for a GPU, assembly of this machine for the
// cpu. What has been compiled before comes out of the cache.
type assembler struct {
	target   target
	lib      *llvm.Library
	options  llvm.TargetOptions
	passes   []string
	kind     primitives.Target
	compiler string
	key      string // all that code depends on beside its IR
	cache    *kernelcache.Cache
	trace    func(Span) // nil for none, see EmitOptions
	// early, if set, gets the PTX of each function when it is there, from any goroutine.
	early func(ptx string)
}

// maxPTX bounds the version of PTX by 7.8, the first one with sm_90: drivers of CUDA
// 11.8 and later read it. That of the newest LLVM would need the newest driver.
const maxPTX = 78

func newAssembler(t target) (*assembler, error) {
	lib, err := openLLVM()
	if err != nil {
		return nil, err
	}
	if emulated != nil && t.GPU {
		return &assembler{target: t, compiler: "an emulator"}, nil
	}
	a := &assembler{target: t, lib: lib, passes: t.Passes(lib.Version().Major), compiler: "LLVM " + lib.Version().String(), cache: kernelcache.Open()}
	if !t.GPU {
		a.options = lib.HostOptions()
	} else if a.options, err = lib.PTXOptions(t.SM, min(maxPTX, t.ptx)); err != nil {
		return nil, &EnvironmentError{Message: err.Error(), Help: "install another libLLVM", Err: err}
	}
	a.options.Level = t.Effort()
	kind, err := t.primitives()
	if err != nil {
		return nil, err
	}
	a.kind = kind
	digest, err := primitives.Digest(kind)
	if err != nil {
		return nil, &InternalError{Phase: "LLVM", Err: err}
	}
	a.key = strings.Join([]string{a.compiler, fmt.Sprintf("%+v", a.options), strings.Join(a.passes, ";"), digest}, "\x00")
	return a, nil
}

// compile returns the PTX of a graph for what is known of facts. Where it was compiled
// before, no IR is generated.
func (a *assembler) compile(graph *harmony.Program, k woven.Knowledge) (*codecache.Code, error) {
	return compileOnce(a.cache, graph, a.target, a.key, k, func(heard woven.Knowledge) (*codecache.Code, error) {
		start := time.Now()
		code, err := emitKernels(graph, a.target, heard)
		if err != nil {
			return nil, err
		}
		trace.Func(a.trace).Since(trace.Code, start)
		text, err := a.units(code)
		if err != nil {
			return nil, err
		}
		return codecache.NewCode(code.Module, text), nil
	})
}

// compileOnce returns the code of a graph out of a cache, or has it generated. The
// compiler says how IR is compiled.
func compileOnce(cache *kernelcache.Cache, graph *harmony.Program, t target, compiler string, k woven.Knowledge,
	generate func(woven.Knowledge) (*codecache.Code, error)) (*codecache.Code, error) {
	maker, err := makerOf(t, compiler)
	if err != nil { // there is no telling which generator made what is there
		cache = nil
	}
	return codecache.Compile(cache, graph, maker, k, generate)
}

// makerOf names what makes code, in keys of the cache: this very redfox, which knows targets,
// and what compiles IR.
func makerOf(t target, compiler string) (string, error) {
	build, err := buildid.Get()
	return strings.Join([]string{fmt.Sprintf("%+v", t.Target), build, compiler}, "\x00"), err
}

// assembly returns a cpu's code.
func (a *assembler) assembly(code *emit.Code) (text string, err error) {
	defer failure.Recover("LLVM", &err)
	text, err = a.text(0, code.Module.Target, code.IR, code.Module.Symbols()...)
	if err != nil {
		return "", llvmError(err)
	}
	return text, nil
}

// text returns the code of IR in which some symbols are to be visible. The worker is
// who compiles it if that must be.
func (a *assembler) text(worker int, name, ir string, symbols ...string) (string, error) {
	key := strings.Join([]string{"assembly", a.key, ir}, "\x00")
	if text, ok := a.cache.Get(key); ok {
		return string(text), nil
	}
	bitcode, err := primitives.Bitcode(a.kind)
	if err != nil {
		return "", err
	}
	machine, err := a.lib.NewTargetMachine(a.options)
	if err != nil {
		return "", err
	}
	defer machine.Close()
	start := time.Now()
	text, times, err := machine.Compile(llvm.Compilation{Name: name, IR: ir, Library: "the primitives", Bitcode: bitcode, Keep: symbols, Passes: a.passes})
	if err != nil {
		return "", err
	}
	a.traceLLVM(worker, name, start, times)
	a.cache.Put(key, text)
	return string(text), nil
}

// traceLLVM tells of the steps of a compilation, which follow each other.
func (a *assembler) traceLLVM(worker int, name string, start time.Time, times llvm.Times) {
	if a.trace == nil {
		return
	}
	for _, step := range []struct {
		name string
		took time.Duration
	}{{TraceRead, times.Parse + times.Link}, {TraceOptimise, times.Optimize}, {TraceBackEnd, times.Emit}} {
		a.trace(Span{Track: fmt.Sprintf("LLVM %d", worker+1), Name: step.name, Start: start, Duration: step.took, Args: map[string]any{"code": name}})
		start = start.Add(step.took)
	}
}

// units compiles each function by itself, on all cores, those that take long first.
// Functions that differ in their names alone are compiled once.
func (a *assembler) units(code *emit.Code) (string, error) {
	if emulated != nil {
		return emulated.text(code), nil
	}
	results := map[string]*unit{}
	var order []string
	for i, u := range code.Units {
		if results[u] == nil {
			results[u] = &unit{}
			order = append(order, u)
		}
		results[u].symbols = append(results[u].symbols, code.Module.Entries[i].Symbol)
	}
	slices.SortStableFunc(order, func(a, b string) int { return len(b) - len(a) })
	work := make(chan string)
	var wg sync.WaitGroup
	for worker := range min(goruntime.GOMAXPROCS(0), len(order)) {
		wg.Go(func() {
			for u := range work {
				results[u].compile(a, worker, u)
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
			return "", llvmError(err)
		}
		parts[i] = results[u].as(code.Module.Entries[i].Symbol)
	}
	return joinPTX(parts), nil
}

// unit is what a function's IR becomes.
type unit struct {
	symbols []string // of the entries that have it
	text    string
	err     error
}

func (u *unit) compile(a *assembler, worker int, ir string) {
	defer failure.Recover("LLVM", &u.err)
	u.text, u.err = a.text(worker, u.symbols[0], ir, emit.UnitSymbol)
	if u.err == nil && a.early != nil {
		for _, symbol := range u.symbols {
			a.early(u.as(symbol))
		}
	}
}

// as returns the text of an entry.
func (u *unit) as(symbol string) string { return strings.ReplaceAll(u.text, emit.UnitSymbol, symbol) }

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
