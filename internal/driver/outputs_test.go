package driver

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/randprog"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

var (
	outputsSeed     = flag.Uint64("outputs.seed", 8_100_000, "first seed of TestOutputsByThemselves")
	outputsGo       = flag.Uint64("outputs.go", 60, "its programs for the go engine")
	outputsCompiled = flag.Uint64("outputs.compiled", 3, "its programs for each other engine")
)

// TestOutputsByThemselves runs random programs for all outputs, for each alone
// and for some: what an output is does not depend on the others. Facts are read
// for those outputs alone, from files and from a database, and passes are left
// out at random. The go engine also runs in little memory.
func TestOutputsByThemselves(t *testing.T) {
	t.Run(EngineGo, func(t *testing.T) { outputsByThemselves(t, EngineGo, *outputsGo) })
	t.Run(EngineCPU, func(t *testing.T) {
		if _, err := process.Machine.Tools.LLVM(); err != nil {
			t.Skip(err)
		}
		outputsByThemselves(t, EngineCPU, *outputsCompiled)
	})
	t.Run(EngineGPU, func(t *testing.T) {
		emulateGPU(t, emulated.Options{Seed: 5})
		outputsByThemselves(t, EngineGPU, *outputsCompiled)
	})
	t.Run(EngineMixed, func(t *testing.T) {
		onMixed(t, 1, 1)
		outputsByThemselves(t, EngineMixed, *outputsCompiled)
	})
}

func outputsByThemselves(t *testing.T, engine string, count uint64) {
	compared, parts := 0, 0
	for seed := *outputsSeed; seed < *outputsSeed+short.Count(t, count, "random programs"); seed++ {
		random := randprog.New(seed).WithTerms()
		rng := rand.New(rand.NewPCG(seed, 77))
		all := optionalPasses()
		var disable []string
		for range rng.IntN(2) * rng.IntN(5) {
			disable = append(disable, all[rng.IntN(len(all))])
		}
		opts := Options{Disable: disable, NoFuse: rng.IntN(4) == 0}
		n, m, why := differentOutputs(t, random, opts, engine, seed)
		compared, parts = compared+n, parts+m
		if why != "" {
			small := randprog.Shrink(random, func(p *randprog.Program) bool {
				_, _, why := differentOutputs(t, p, opts, engine, seed)
				return why != ""
			})
			_, _, last := differentOutputs(t, small, opts, engine, seed)
			t.Errorf("seed %d, %s engine, %+v: %s\nshrunk: %s\n%s%v", seed, engine, opts, why, last,
				small.Text(), small.FactFiles())
		}
	}
	t.Logf("%d sets of outputs, %d in little memory", compared, parts)
	if compared == 0 || parts == 0 && engine == EngineGo {
		t.Errorf("%d sets of outputs, %d in little memory", compared, parts)
	}
}

// differentOutputs returns how many sets of outputs it compared, how many of
// them in little memory, and what differs.
func differentOutputs(t *testing.T, random *randprog.Program, opts Options, engine string,
	seed uint64) (compared, spilled int, why string) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			why = fmt.Sprint("panic: ", r)
		}
	}()
	ctx, dir := context.Background(), t.TempDir()
	if err := random.Write(dir); err != nil {
		t.Fatal(err)
	}
	prog, err := Compile(ctx, []Source{Text("p.logic", random.Text())}, opts)
	if err != nil {
		return 0, 0, ""
	}
	kept := keptProofs(map[string][]byte{})
	facts, opened := FactsIn(filepath.Join(dir, "facts")), RunOptions{Engine: engine,
		Load: LoadOptions{proofs: kept, allLate: true, always: seed%2 == 1}}
	run := func(outputs []string) (map[string]string, error) {
		opened.Outputs = outputs
		res, err := prog.Run(ctx, facts, opened)
		if err != nil {
			return nil, err
		}
		out := map[string]string{}
		for _, pred := range res.Predicates() {
			var b strings.Builder
			if err := res.Write(&b, pred, TSV, WriteOptions{}); err != nil {
				return nil, err
			}
			out[pred] = b.String()
		}
		return out, nil
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	whole, failure := run(nil)
	var wrong *ProgramError
	switch {
	case errors.As(failure, &wrong):
		return 0, 0, ""
	case failure != nil:
		return 0, 0, failure.Error()
	}
	var names []string
	for name := range whole {
		names = append(names, name)
	}
	slices.Sort(names)
	var lists [][]string
	for _, name := range names {
		lists = append(lists, []string{name})
	}
	if len(names) > 2 {
		lists = append(lists, slices.DeleteFunc(slices.Clone(names), func(string) bool {
			return rng.IntN(2) == 0
		}))
	}
	if engine != EngineGo && len(lists) > 0 { // code for each takes its time
		one := rng.IntN(len(lists))
		lists = lists[one : one+1]
	}
	stored := filepath.Join(dir, "f.rfdb")
	if _, err := prog.Store(ctx, facts, stored, LoadOptions{}); err != nil {
		return 0, 0, "" // loading refuses facts of the program's own text
	}
	if engine == EngineGo {
		lists = append(lists, names, names)
	}
	for i, list := range lists {
		compared++
		switch i {
		case len(names): // from here on
			facts = NewFacts().Dir(stored)
		case len(lists) - 1:
			if engine == EngineGo {
				opened.Memory, opened.Spill = 1<<[]int{16, 17, 18, 20}[seed%4], dir
			}
		}
		part, err := run(list)
		var full *EnvironmentError
		if opened.Spill != "" && errors.As(err, &full) {
			continue // it has no room for one part
		}
		if err != nil {
			return compared, spilled, fmt.Sprintf("with the outputs %s: %v", list, err)
		}
		if opened.Spill != "" {
			spilled++
		}
		for _, name := range list {
			if part[name] != whole[name] {
				return compared, spilled, fmt.Sprintf("with the outputs %s, %s is\n%s\nnot\n%s", list, name,
					part[name], whole[name])
			}
		}
	}
	return compared, spilled, ""
}
