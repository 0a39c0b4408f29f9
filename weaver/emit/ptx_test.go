package emit

import (
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/harmony/lower"
	"github.com/redfoxdb/redfox/harmony/ranges"
	"github.com/redfoxdb/redfox/internal/ptxas"
	"github.com/redfoxdb/redfox/internal/reference/testprograms"
	"github.com/redfoxdb/redfox/queryplan/build"
	"github.com/redfoxdb/redfox/queryplan/rewrite"
	"github.com/redfoxdb/redfox/queryplan/sortpairs"
	"github.com/redfoxdb/redfox/weaver/fuse"
	"github.com/redfoxdb/redfox/weaver/partition"
	"github.com/redfoxdb/redfox/weaver/target"
)

var every = flag.Bool("every", false,
	"assemble every kernel of the test programs, not one of each kind")

// gpuEntry is an entry of a test program, emitted alone for a GPU, with nothing
// known but the program.
type gpuEntry struct {
	name     string // of the program, how it is fused, and of the kernel or index
	features []string
	code     *Code
}

// gpuEntries emits all test programs for a GPU, fused and as they are lowered.
// None may have a kernel that there is no code for. Entries whose code is the
// same are one.
func gpuEntries(t *testing.T) []*gpuEntry {
	t.Helper()
	files := wholePrograms(t)
	if !*every && !rewrites() {
		// internal/driver assembles queries of benchmarks as they are for
		// their facts.
		files = slices.DeleteFunc(files, func(file string) bool {
			folder := filepath.Base(filepath.Dir(file))
			return folder == "tpch" || folder == "ssb"
		})
	}
	var out []*gpuEntry
	seen := map[string]bool{}
	for _, off := range []bool{false, true} {
		for _, file := range files {
			name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file),
				"../../testdata/"), ".logic")
			name = strings.TrimSuffix(strings.TrimPrefix(name, "programs/"), "/program")
			if off {
				name += " unfused"
			}
			p, err := partition.Partition(loweredFile(t, file))
			if err != nil {
				t.Fatal(err)
			}
			if p, _, err = fuse.Fuse(p,
				fuse.Options{Budget: target.GPU(80).Budget, Off: off}); err != nil {
				t.Fatal(err)
			}
			for _, e := range emitApart(t, name, p) {
				if text := e.text(); !seen[text] {
					seen[text] = true
					out = append(out, e)
				}
			}
		}
	}
	t.Logf("%d kernels and builds differ", len(out))
	return out
}

// wholePrograms lists the files of the programs of testdata.
func wholePrograms(t *testing.T) []string {
	t.Helper()
	files, err := testprograms.Find("../../testdata", "programs/*/program.logic", "tpch/*.logic",
		"ssb/*.logic", "fusion/*.logic", "graphs/*.logic", "quickstart/reach.logic")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// loweredFile compiles a program to kernels. One with queries yields them
// alone.
func loweredFile(t *testing.T, file string) *harmony.Program {
	t.Helper()
	text, err := testprograms.Text(file)
	if err != nil {
		t.Fatal(err)
	}
	prog, found := frontend.Compile([]*source.File{source.NewFile(file, text)}, frontend.Options{})
	if prog == nil {
		t.Fatalf("%s: %s", file, found[0].Message)
	}
	plan, err := build.Build(prog)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	queries := false
	for _, v := range plan.Vars {
		queries = queries || strings.HasPrefix(v.Name, "_")
	}
	for _, v := range plan.Vars {
		if queries && !strings.HasPrefix(v.Name, "_") {
			v.Output, v.OrderBy, v.Limit = false, nil, -1
		}
	}
	if plan, _, err = rewrite.Run(plan, nil, rewrite.Options{}); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	plan, _ = sortpairs.Apply(plan)
	p, err := lower.Lower(plan)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return p
}

// emitApart emits each command of a program as a module of its own.
func emitApart(t *testing.T, name string, p *harmony.Program) []*gpuEntry {
	t.Helper()
	domains := domain.Find(p)
	bounds := ranges.Find(p, domains, ranges.Options{UnknownLiterals: true})
	options := Options{Target: target.GPU(80), Domains: domains,
		Range: func(r *harmony.Reg) (lo, hi int64, ok bool) {
			bound, exact := bounds.Reg(r)
			return bound.Lo, bound.Hi, exact
		}}
	var out []*gpuEntry
	for _, b := range p.Blocks {
		for _, c := range b.Cmds {
			e := &gpuEntry{}
			switch c := c.(type) {
			case *harmony.Run:
				if c.Kernel.Host {
					continue
				}
				e.name, e.features = c.Kernel.Name, kernelFeatures(c.Kernel)
			case *harmony.Build:
				if c.Index.ByPosition() {
					continue
				}
				e.name, e.features = c.Index.Name, []string{indexFeature(c.Index)}
			default:
				continue
			}
			e.name = name + " " + e.name
			alone := *p
			alone.Blocks = []*harmony.Block{{Name: b.Name, Cmds: []harmony.Command{c},
				Term: &harmony.Halt{}}}
			code, err := Program(&alone, options)
			if err != nil {
				t.Errorf("%s: %v", e.name, err)
				continue
			}
			e.code = code
			out = append(out, e)
		}
	}
	return out
}

// text is the code without the names of its functions.
func (e *gpuEntry) text() string {
	text := e.code.IR
	for i, entry := range e.code.Module.Entries {
		text = strings.ReplaceAll(text, entry.Symbol, fmt.Sprintf("entry%d", i))
	}
	return text
}

// kernelFeatures says what is particular about the code of a kernel: which
// stage follows which, and what ends it. Functions are tested beside
// weaver/expr.
func kernelFeatures(k *harmony.Kernel) []string {
	var out []string
	last := fmt.Sprintf("%T", k.Source)
	follow := func(next string) {
		if next != last {
			out = append(out, last+", "+next)
		}
		last = next
	}
	for _, s := range k.Stages {
		switch s := s.(type) {
		case *harmony.Probe:
			follow(fmt.Sprintf("probe %s of %d", s.Kind, min(len(s.Key), 2)))
		case *harmony.Load, *harmony.Map: // move to where they are used
		default:
			follow(fmt.Sprintf("%T", s))
		}
	}
	for _, s := range k.Sinks {
		columns := min(len(harmony.SinkOperands(s)), 3)
		if g, ok := s.(*harmony.Group); ok {
			columns = len(g.Key)
			for i, a := range g.To.Accs {
				out = append(out, fmt.Sprintf("%s %s", a.Fn, g.Vals[i].Type()))
			}
		}
		out = append(out, fmt.Sprintf("%s, %T of %d", last, s, columns))
	}
	return out
}

// indexFeature says what is particular about the build of an index.
func indexFeature(x *harmony.Index) string {
	return fmt.Sprintf("build %s of %d", x.Kind, len(x.Key))
}

// choose returns those entries, small ones first, that have a feature which
// none before them has; or all entries, if that is asked for or the record is
// rewritten.
func choose(entries []*gpuEntry) []*gpuEntry {
	if *every || rewrites() {
		return entries
	}
	slices.SortStableFunc(entries, func(a, b *gpuEntry) int {
		return len(a.code.IR) - len(b.code.IR)
	})
	seen := map[string]bool{}
	var out []*gpuEntry
	for _, e := range entries {
		chosen := false
		for _, f := range e.features {
			chosen = chosen || !seen[f]
		}
		if !chosen {
			continue
		}
		for _, f := range e.features {
			seen[f] = true
		}
		out = append(out, e)
	}
	return out
}

// TestPTXRegisters emits all test programs for GPUs, assembles what differs,
// and compares the stack, in which spills are, with testdata/ptx-registers.txt,
// which -rewrite writes anew for this version of LLVM. A kernel that is not
// listed has none. Registers are listed for the reader: they change with every
// change of the code.
func TestPTXRegisters(t *testing.T) {
	ptxas.Need(t)
	version := library(t).Version().Major
	entries := choose(gpuEntries(t))
	t.Logf("%d of them are assembled", len(entries))
	var mu sync.Mutex
	var found []ptxas.Usage // named by entry and architecture
	t.Run("assemble", func(t *testing.T) {
		for _, e := range entries {
			t.Run(strings.ReplaceAll(e.name, " ", "/"), func(t *testing.T) {
				t.Parallel()
				ptx := ptxOf(t, e.code, 80)
				for _, arch := range []string{"sm_80", "sm_90"} {
					r, err := ptxas.Assemble(ptx, arch)
					if err != nil {
						t.Fatal(err)
					}
					if len(r.Kernels) != len(e.code.Module.Entries) {
						t.Errorf("%d kernels of %d entries", len(r.Kernels),
							len(e.code.Module.Entries))
					}
					mu.Lock()
					for _, u := range append(r.Kernels, r.Functions...) {
						u.Name = fmt.Sprintf("%s %s %s", e.name, u.Name, arch)
						found = append(found, u)
					}
					mu.Unlock()
				}
			})
		}
	})
	if t.Failed() {
		return
	}
	recorded := false
	datadriven.RunTest(t, "testdata/ptx-registers.txt",
		func(t *testing.T, d *datadriven.TestData) string {
			var major int
			if d.ScanArgs(t, "llvm", &major); major != version {
				return d.Expected
			}
			recorded = true
			if rewrites() {
				var lines []string
				for _, u := range found {
					lines = append(lines, u.String())
				}
				slices.Sort(lines)
				return strings.Join(lines, "\n") + "\n"
			}
			for _, u := range found {
				// The size of spills varies a little with every change.
				if u.Stack > 2*recordedStack(d.Expected, u.Name) {
					t.Errorf("more stack than in the record: %s", u)
				}
			}
			return d.Expected
		})
	if !recorded {
		t.Logf("there is no record for LLVM %d: stack is not compared", version)
	}
}

// rewrites reports whether golden files are written anew.
func rewrites() bool { return flag.Lookup("rewrite").Value.String() == "true" }

// recordedStack returns the bytes of stack, spills among them, that a record
// has for a kernel.
func recordedStack(record, name string) int {
	_, rest, _ := strings.Cut("\n"+record, "\n"+name+": ")
	line, _, _ := strings.Cut(rest, "\n")
	m := regexp.MustCompile(`(\d+) bytes of stack`).FindStringSubmatch(line)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// ptxOfKernel returns the PTX of the only kernel of a program, and the rows a
// thread.
func ptxOfKernel(t *testing.T, text string) (ptx string, items int) {
	t.Helper()
	p, err := harmony.Parse("test", text)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range emitApart(t, "test", p) {
		if e.code.Module.Entries[0].Role == abi.Kernel {
			return string(ptxOf(t, e.code, 80)), e.code.Module.Entries[0].Items
		}
	}
	t.Fatal("there is no kernel")
	return "", 0
}

// TestPTXPatterns looks at what decides the speed of a kernel, in a kernel of
// each kind that is as small as it can be.
func TestPTXPatterns(t *testing.T) {
	const (
		relations = "relation r(x: int, y: int) input \"r\"\nrelation t(x: int) temp\nrelation d(x: int) derived\n" +
			"index i unique r(x)\nindex m multi r(x)\nindex e exists r(x)\ngroups g(x: int; n: int = total(int))\n"
		load = "    rows r\n    v0: int = load x\n"
	)
	for _, c := range []struct {
		name, kernel string
		loads        int            // columns of the source
		want         map[string]int // patterns, and how often at least
		exactly      map[string]int
	}{
		// One atomic a tile for positions.
		{"select and store",
			load + "    v1: boolean = map gt(v0, 10)\n    filter v1\n    store t(v0)\n", 1,
			nil, map[string]int{`atom\.global\.add`: 1, `atom\.global`: 1, `red\.global`: 0}},
		{"look up",
			load +
				"    v1: row = probe unique i(v0)\n    v2: int = gather y[v1]\n    store t(v2)\n",
			1,
			nil, map[string]int{`atom\.global`: 1}},
		{"ask", load + "    probe absent e(v0)\n    store t(v0)\n", 1,
			nil, map[string]int{`atom\.global`: 1}},
		{"expand",
			load + "    v1: row = probe multi m(v0)\n    v2: int = gather y[v1]\n    store t(v2)\n",
			1,
			map[string]int{`ld\.shared`: 1}, map[string]int{`atom\.global\.add`: 1}},
		{"insert", load + "    insert d(v0)\n", 1,
			map[string]int{`atom\.global\.cas\.b64`: 1, `atom\.global\.or\.b32`: 1}, nil},
		{"sum by key", load + "    v1: int = load y\n    group g [v0] total(v1)\n", 2, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ptx, items := ptxOfKernel(t,
				relations+"block b0:\n  build i\n  build m\n  build e\n  run k\n"+c.kernel+
					"  merge d\n  halt\n")
			// 16 bytes a load: 4 rows of a column of 4 bytes, 2 of one of 8.
			wide := `ld\.global(\.nc)?\.v4\.u32|ld\.global(\.nc)?\.v2\.u64`
			if strings.Contains(c.kernel, "group g") {
				items /= 4
			}
			if n, least := len(regexp.MustCompile(wide).FindAllString(ptx, -1)),
				c.loads*(items/4+items/2); n < least {
				t.Errorf("%d loads of 16 bytes, want at least %d", n, least)
			}
			for pattern, least := range c.want {
				if n := len(regexp.MustCompile(pattern).FindAllString(ptx, -1)); n < least {
					t.Errorf("%s is there %d times, want at least %d", pattern, n, least)
				}
			}
			for pattern, want := range c.exactly {
				if n := len(regexp.MustCompile(pattern).FindAllString(ptx, -1)); n != want {
					t.Errorf("%s is there %d times, want %d", pattern, n, want)
				}
			}
			for _, never := range []string{
				`\.local\b`, // arrays of items are registers
				`\bcall`,    // primitives are inlined
				`\.func\b`,  //
				// a generic address
				`(?m)(?:^|\s)(ld|st|atom|red)(\.volatile|\.relaxed|\.acquire)?\.(v[24]|add|cas|or|min|max|[busf]\d+)\b`,
			} {
				if found := regexp.MustCompile(never).FindString(ptx); found != "" {
					t.Errorf("there is %q", found)
				}
			}
		})
	}
}

// TestPositionPTX assembles a kernel with the positions of its source's rows
// and of the rows that it finds, and with rows found by their positions.
func TestPositionPTX(t *testing.T) {
	ptxas.Need(t)
	ptx, _ := ptxOfKernel(t, `relation k(x: int) derived
relation t(p: int, q: int, y: int) temp
index i unique k(x)
index nth unique k position
block b0:
  build i
  build nth
  run k0
    rows delta k
    v0: int = load x
    v1: row = probe unique i(v0)
    v2: int = position
    v3: int = position v1
    v4: row = probe unique nth(v0)
    v5: int = gather x[v4]
    store t(v2, v3, v5)
  halt
`)
	for _, arch := range []string{"sm_80", "sm_90"} {
		if _, err := ptxas.Assemble([]byte(ptx), arch); err != nil {
			t.Errorf("%s: %v", arch, err)
		}
	}
}
