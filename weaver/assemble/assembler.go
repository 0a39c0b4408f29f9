package assemble

import (
	"bytes"
	"errors"
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
	"github.com/redfoxdb/redfox/weaver/assemble/codecache"
	"github.com/redfoxdb/redfox/weaver/emit"
)

// Assembler compiles IR for a target: to PTX for a GPU, to assembly of this
// machine for the cpu. Code that was compiled before comes from the cache.
type Assembler struct {
	Compiler string // names what compiles IR
	// Trace receives what took time.
	Trace trace.Func
	// Early, if set, receives the PTX of each function as soon as it is
	// compiled, from any goroutine.
	Early func(ptx string)

	tools   *Tools
	target  Target
	lib     *llvm.Library
	options llvm.TargetOptions
	passes  []string
	kind    primitives.Target
	key     string // all that code depends on beside its IR
	cache   *kernelcache.Cache
}

// NewAssembler returns an assembler for a target. The error is an
// *failure.Environment if the machine lacks what it takes.
func (t *Tools) NewAssembler(to Target) (*Assembler, error) {
	lib, err := t.LLVM()
	if err != nil {
		return nil, err
	}
	if t.emulates(to) {
		return &Assembler{tools: t, target: to, Compiler: "an emulator"}, nil
	}
	a := &Assembler{tools: t, target: to, lib: lib, passes: to.Passes(lib.Version().Major),
		Compiler: "LLVM " + lib.Version().String(), cache: kernelcache.Open()}
	if !to.GPU {
		a.options = lib.HostOptions()
	} else if a.options, err = lib.PTXOptions(to.SM, min(maxPTX, to.PTX)); err != nil {
		return nil, &failure.Environment{Message: err.Error(), Help: "install another libLLVM",
			Err: err}
	}
	a.options.Level = to.Effort()
	kind, err := to.primitives()
	if err != nil {
		return nil, err
	}
	a.kind = kind
	digest, err := primitives.Digest(kind)
	if err != nil {
		return nil, &failure.Internal{Phase: "LLVM", Err: err}
	}
	a.key = strings.Join([]string{a.Compiler, fmt.Sprintf("%+v", a.options),
		strings.Join(a.passes, ";"), digest}, "\x00")
	return a, nil
}

// WithoutCache returns an assembler that compiles everything again.
func (a *Assembler) WithoutCache() *Assembler {
	fresh := *a
	fresh.cache = nil
	return &fresh
}

// Compile returns the PTX of a graph for what is known of the facts. If it was
// compiled before, no IR is generated.
func (a *Assembler) Compile(graph *harmony.Program,
	k codecache.Knowledge) (*codecache.Code, error) {
	return compileOnce(a.codes(), graph, a.target, a.key, k,
		func(heard codecache.Knowledge) (*codecache.Code, error) {
			start := time.Now()
			if a.lib != nil {
				openBeside(a.lib)
			}
			shaped := emit.Units
			if a.tools.emulates(a.target) {
				shaped = emit.Shaped
			}
			code, err := a.tools.emit(graph, a.target, heard, shaped)
			if err != nil {
				return nil, err
			}
			a.Trace.Since(trace.Code, start)
			text, err := a.units(code)
			if err != nil {
				return nil, err
			}
			return codecache.NewCode(code.Module, text), nil
		})
}

// Made returns what Compile returned before for a graph, in this process or an
// earlier one; nil if there is nothing.
func (a *Assembler) Made(graph *harmony.Program,
	k codecache.Knowledge) (*codecache.Code, error) {
	code, err := compileOnce(a.codes(), graph, a.target, a.key, k,
		func(codecache.Knowledge) (*codecache.Code, error) { return nil, errAbsent })
	if errors.Is(err, errAbsent) {
		return nil, nil
	}
	return code, err
}

// codes returns the cache of compiled graphs, or nil.
func (a *Assembler) codes() *kernelcache.Cache {
	if a.target.Lines {
		return nil
	}
	return a.cache
}

// Once returns the text of a whole program: the cached one, or what assemble
// makes. The function about names all that the text depends on beside the
// target and the assembler; it is called only if there is a cache.
func (a *Assembler) Once(about func() []string, assemble func() (string, error)) (string, error) {
	maker, err := makerOf(a.target, a.key)
	// Without the generator's name, no entry can be trusted.
	if err != nil || a.cache == nil || a.target.Lines {
		return assemble()
	}
	key := strings.Join(append([]string{"program", maker}, about()...), "\x00")
	if text, ok := a.cache.Get(key); ok {
		return string(text), nil
	}
	text, err := assemble()
	if err == nil {
		a.cache.Put(key, []byte(text))
	}
	return text, err
}

// compileOnce returns the code of a graph from the cache, or generates it. The
// compiler names what compiles IR.
func compileOnce(cache *kernelcache.Cache, graph *harmony.Program, t Target, compiler string,
	k codecache.Knowledge,
	generate func(codecache.Knowledge) (*codecache.Code, error)) (*codecache.Code, error) {
	maker, err := makerOf(t, compiler)
	if err != nil { // without the generator's name, no entry can be trusted
		cache = nil
	}
	return codecache.Compile(cache, graph, maker, k, generate)
}

// makerOf names what makes code, for keys of the cache: this build of redfox,
// which defines the targets, and what compiles IR.
func makerOf(t Target, compiler string) (string, error) {
	build, err := buildid.Get()
	return strings.Join([]string{fmt.Sprintf("%+v", t.Target), build, compiler}, "\x00"), err
}

// Assembly returns the code of a cpu as text.
func (a *Assembler) Assembly(code *emit.Code) (text string, err error) {
	defer failure.Recover("LLVM", &err)
	text, err = a.text(0, code.Module.Target, code.IR, code.Module.Symbols()...)
	if err != nil {
		return "", llvmError(err)
	}
	return text, nil
}

// text compiles IR in which some symbols are to be visible. The worker names
// the track of the trace.
func (a *Assembler) text(worker int, name, ir string, symbols ...string) (string, error) {
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
	text, times, err := machine.Compile(llvm.Compilation{Name: name, IR: ir,
		Library: "the primitives", Bitcode: bitcode, Keep: symbols, Passes: a.passes})
	if err != nil {
		return "", err
	}
	a.traceLLVM(worker, name, start, times)
	text = withoutNumbers(text)
	a.cache.Put(key, text)
	return string(text), nil
}

// traceLLVM reports the steps of a compilation, which follow one another.
func (a *Assembler) traceLLVM(worker int, name string, start time.Time, times llvm.Times) {
	if a.Trace == nil {
		return
	}
	for _, step := range []struct {
		name string
		took time.Duration
	}{
		{trace.Read, times.Parse + times.Link},
		{trace.Optimise, times.Optimize},
		{trace.BackEnd, times.Emit},
	} {
		a.Trace(trace.Span{Track: fmt.Sprintf("LLVM %d", worker+1), Name: step.name, Start: start,
			Duration: step.took, Args: map[string]any{"code": name}})
		start = start.Add(step.took)
	}
}

// units compiles each function separately, on all cores, the longest first.
// Functions that differ only in their names are compiled once.
func (a *Assembler) units(code *emit.Code) (string, error) {
	if a.tools.emulates(a.target) {
		return a.tools.Emulation.Text(code), nil
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
	if a.target.Lines {
		return joinLines(parts), nil
	}
	return joinPTX(parts), nil
}

// unit is a function that is compiled separately.
type unit struct {
	symbols []string // of the entries that have it
	text    string
	err     error
}

func (u *unit) compile(a *Assembler, worker int, ir string) {
	defer failure.Recover("LLVM", &u.err)
	u.text, u.err = a.text(worker, u.symbols[0], ir, emit.UnitSymbol)
	if u.err == nil && a.Early != nil {
		a.Early(u.as(u.symbols[0]))
	}
}

// as returns the text under the symbol of an entry.
func (u *unit) as(symbol string) string {
	return strings.ReplaceAll(u.text, emit.UnitSymbol, symbol)
}

// withoutNumbers returns PTX without the comments in which LLVM numbers calls.
// It counts those of all functions that it compiles at a time, so the numbers
// differ from run to run.
func withoutNumbers(text []byte) []byte {
	comment := []byte(" // callseq ")
	out := make([]byte, 0, len(text))
	for {
		before, after, found := bytes.Cut(text, comment)
		out = append(out, before...)
		if !found {
			return out
		}
		text = after[bytes.IndexByte(after, '\n'):]
	}
}

// joinPTX makes one module of several, whose heads, up to the line with the
// size of addresses, are the same.
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
