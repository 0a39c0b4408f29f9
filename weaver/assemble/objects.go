package assemble

import (
	"errors"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/buildid"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/weaver/assemble/codecache"
	"github.com/redfoxdb/redfox/weaver/assemble/hostcode"
)

// Native is the code of a graph for the processor of this machine.
type Native struct {
	Module  *abi.Module
	Objects [][]byte // for hostcode.Link
	Calls   []string // the primitives that the objects call
	// Cold are the symbols whose code is general and made with little effort.
	Cold []string
}

// Objects compiles a graph for the processor of this machine, on so many cores,
// all for 0. If it was compiled before, no IR is generated.
func (t *Tools) Objects(graph *harmony.Program, to Target, k codecache.Knowledge,
	cores int) (*Native, error) {
	options, cache, err := t.host()
	if err != nil {
		return nil, err
	}
	options.Cores = cores
	made, err := t.objects(graph, to, k, options, cache,
		func(heard codecache.Knowledge) (*codecache.Code, error) {
			openBeside(options.Library)
			isCold := coldOf(graph)
			heard.General = func(of string) bool { return isCold[of] }
			code, err := t.IR(graph, to, heard)
			if err != nil {
				return nil, err
			}
			all := code.Module.Symbols()
			cold, warm := divide(code.Module, isCold)
			var objects, quick [][]byte
			if len(cold) == 0 {
				objects, err = hostcode.Objects(options, code.IR, all)
			} else {
				objects, err = hostcode.ObjectsOf(options, code.IR, all, warm)
			}
			if err != nil {
				return nil, err
			}
			options.Quick = true
			if quick, err = hostcode.ObjectsOf(options, code.IR, all, cold); err != nil {
				return nil, err
			}
			lists := [][]byte{[]byte(strings.Join(cold, "\n")),
				[]byte(strings.Join(hostcode.Calls(code.IR), "\n"))}
			return codecache.NewCode(code.Module,
				string(hostcode.Join(slices.Concat(lists, objects, quick)))), nil
		})
	if about, ok := noteOf(graph); ok && err == nil && !noted(cache, about) {
		cache.Put(about, []byte{1})
	}
	return made, err
}

// noteOf returns the key of the note that this build of redfox has made native
// code of a graph, by any compiler and for any facts.
func noteOf(graph *harmony.Program) (key string, ok bool) {
	build, err := buildid.Get()
	return strings.Join([]string{"made", build, graph.String()}, "\x00"), err == nil
}

func noted(cache *kernelcache.Cache, about string) bool {
	_, ok := cache.Get(about)
	return ok
}

// errAbsent says that a graph was not compiled before.
var errAbsent = errors.New("the cache has no code")

// Made returns what Objects returned before for a graph, in this process or an
// earlier one; nil if there is nothing. It asks for libLLVM only if there is
// code of the graph.
func (t *Tools) Made(graph *harmony.Program, to Target, k codecache.Knowledge) (*Native, error) {
	if about, ok := noteOf(graph); !ok || !noted(kernelcache.Open(), about) {
		return nil, nil
	}
	options, cache, err := t.host()
	if err != nil {
		return nil, err
	}
	code, err := t.objects(graph, to, k, options, cache,
		func(codecache.Knowledge) (*codecache.Code, error) { return nil, errAbsent })
	if errors.Is(err, errAbsent) {
		return nil, nil
	}
	return code, err
}

// objects returns the code of a graph from the cache, or what compile makes.
// The first parts of the text list the cold symbols, and the primitives that
// the objects behind them call.
func (t *Tools) objects(graph *harmony.Program, to Target, k codecache.Knowledge,
	options hostcode.Options, cache *kernelcache.Cache,
	compile func(codecache.Knowledge) (*codecache.Code, error)) (*Native, error) {
	compiler, err := options.Key("")
	if err != nil {
		return nil, err
	}
	code, err := compileOnce(cache, graph, to, compiler, k, compile)
	if err != nil {
		return nil, err
	}
	module, err := code.Module()
	if err != nil {
		return nil, &failure.Internal{Phase: "code generation", Err: err}
	}
	parts, ok := hostcode.Split([]byte(code.Text))
	if !ok || len(parts) < 2 {
		return nil, &failure.Internal{Phase: "code generation",
			Err: errors.New("the cache has objects that are none")}
	}
	return &Native{Module: module, Objects: parts[2:], Calls: strings.Fields(string(parts[1])),
		Cold: strings.Fields(string(parts[0]))}, nil
}
