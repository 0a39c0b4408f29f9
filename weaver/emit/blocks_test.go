package emit

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/ebitengine/purego"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/dynlib"
	"github.com/redfoxdb/redfox/internal/reference/harmonyref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/primitives"
	"github.com/redfoxdb/redfox/weaver/target"
)

// TestBlocks runs the programs in testdata/run as a GPU's code, in blocks whose
// threads are fibers (primitives/src/test/emulated.h), and wants harmonyref's
// answer. Each program is run in one of TestGPU's variants with queues.
func TestBlocks(t *testing.T) {
	runtime, queues, n := blocksRuntime(t), variantsWithQueues(), 0
	datadriven.Walk(t, "testdata/run", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p, err := harmony.Parse("test.harmony", d.Input)
			if err != nil {
				t.Fatalf("%s: %v", d.Pos, err)
			}
			facts := randomFacts(rand.New(rand.NewPCG(7, blockRows)), p, blockRows)
			drops := countDrops(p)
			observe, tuples := drops.observer(), map[*harmony.Relation]int{}
			observe.Tuple = func(rel *harmony.Relation, _ []scalar.Value) { tuples[rel]++ }
			want, wantErr := harmonyref.Run(p, facts, harmonyref.Options{Observe: observe})
			for _, n := range tuples {
				if n > mostRows {
					return d.Expected // than the driver's tables hold
				}
			}
			n++
			v := queues[n%len(queues)]
			t.Run(fmt.Sprintf("%s, %s", d.Pos, v.name), func(t *testing.T) {
				c := &programCase{program: p, facts: facts, want: want, wantErr: wantErr,
					drops: drops}
				c.runInBlocks(t, v, &blocks{runtime: runtime, order: uint64(n)})
			})
			return d.Expected
		})
	})
}

// TestBlockPrograms runs the cases of TestPrograms likewise.
func TestBlockPrograms(t *testing.T) {
	if !*every {
		t.Skip("only with -every")
	}
	runtime, queues := blocksRuntime(t), variantsWithQueues()
	for i, c := range programCases(t) {
		v := queues[i%len(queues)]
		t.Run(c.name+", "+v.name, func(t *testing.T) {
			c.runInBlocks(t, v, &blocks{runtime: runtime, order: uint64(i)})
		})
	}
}

func variantsWithQueues() (out []variant) {
	for _, v := range gpuVariants {
		if v.cut {
			out = append(out, v)
		}
	}
	return out
}

// runInBlocks runs a case, unless it needs the host, and looks for stores that
// miss.
func (c *programCase) runInBlocks(t *testing.T, v variant, b *blocks) {
	var unsupported *UnsupportedError
	if _, err := Program(c.program, Options{Target: b.target(v)}); errors.As(err, &unsupported) {
		t.Skip(err)
	}
	b.arena = &arena{data: make([]byte, 64<<20)}
	c.run(t, v, b)
	b.arena.check(t)
}

// blockRows rows give a block several tiles, of which few fill a queue.
const blockRows = 1500

// blocks runs one program in emulated blocks.
type blocks struct {
	runtime string // an object file
	order   uint64 // of the threads
	arena   *arena
	launch  func(kernel uintptr, words *int64, threads int32, blocks int64, order uint64)
	library uintptr
}

func (*blocks) target(v variant) target.Target { return (&gpu{}).target(v) }

func (b *blocks) memory() *arena { return b.arena }

func (*blocks) workers() int { return 3 }

func (b *blocks) load(t testing.TB, c *Code, _ variant) {
	t.Helper()
	dir := t.TempDir()
	text, library := filepath.Join(dir, "kernels.ll"), filepath.Join(dir, "kernels.so")
	if err := os.WriteFile(text, []byte(hostIR(c)), 0o644); err != nil {
		t.Fatal(err)
	}
	clang15(t, "-O1", "-Wno-override-module", "-fPIC", "-shared", "-Wl,-Bsymbolic", text, b.runtime,
		"-o", library)
	var err error
	if b.library, err = dynlib.Open(library, false); err != nil {
		t.Fatal(err)
	}
	purego.RegisterLibFunc(&b.launch, b.library, "rf_emulated_launch")
}

func (b *blocks) pass(t testing.TB, e *abi.Entry, params, states []int64) {
	t.Helper()
	kernel := dynlib.Symbol(b.library, e.Symbol+".words")
	if kernel == 0 {
		t.Fatalf("the library has no kernel %s", e.Symbol)
	}
	words := append(append([]int64{}, params...), address(states))
	b.launch(kernel, &words[0], int32(e.Threads), int64(len(states)/e.StateWords()), b.order)
}

// hostIR makes IR for a GPU IR for this machine, where a kernel takes the
// address of its words and what the hardware knows is asked of the runtime.
func hostIR(c *Code) string {
	text := c.IR
	for _, r := range []struct{ from, to string }{
		{`addrspacecast ptr addrspace\(\d\) (\S+) to ptr`, `getelementptr i8, ptr $1, i64 0`},
		{`external addrspace\(3\) global \[0 x i8\]`,
			fmt.Sprintf(`internal global [%d x i8] zeroinitializer`, target.GPU(90).Shared)},
		{` addrspace\(\d\)`, ``},
		{`ptx_kernel `, ``},
		{`@llvm\.nvvm\.read\.ptx\.sreg\.tid\.x`, `@rf_emulated_thread`},
		{`@llvm\.nvvm\.read\.ptx\.sreg\.ctaid\.x`, `@rf_emulated_block`},
		{`@llvm\.nvvm\.barrier0`, `@rf_emulated_barrier`},
		{`(?m)^!nvvm.annotations.*$`, ``},
	} {
		text = regexp.MustCompile(r.from).ReplaceAllString(text, r.to)
	}
	var b strings.Builder
	b.WriteString(text)
	for _, e := range c.Module.Entries {
		head := regexp.MustCompile(`(?m)^define void @` + regexp.QuoteMeta(e.Symbol) +
			`\((.*)\)`).FindStringSubmatch(text)
		fmt.Fprintf(&b, "\ndefine void @%s.words(ptr %%words) {\n", e.Symbol)
		var args []string
		for i, p := range strings.Split(head[1], ", ") {
			typ, _, _ := strings.Cut(p, " ")
			fmt.Fprintf(&b,
				"\t%%a%d = getelementptr i64, ptr %%words, i64 %d\n\t%%v%d = load %s, ptr %%a%d\n",
				i, i, i, typ, i)
			args = append(args, fmt.Sprintf("%s %%v%d", typ, i))
		}
		fmt.Fprintf(&b, "\tcall void @%s(%s)\n\tret void\n}\n", e.Symbol, strings.Join(args, ", "))
	}
	return b.String()
}

// blocksRuntime compiles the primitives for emulated blocks, and what launches
// these.
func blocksRuntime(t *testing.T) string {
	t.Helper()
	short.Skip(t, "kernels on emulated blocks")
	dir := t.TempDir()
	source, err := os.ReadFile("testdata/blocks.cpp")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.Write(source)
	b.WriteString("\nextern \"C\" __attribute__((used)) void *const rf_primitives[] = {\n")
	for _, p := range primitives.Catalogue() {
		fmt.Fprintf(&b, "  (void *)&%s,\n", p.Name)
	}
	b.WriteString("};\n")
	file, object := filepath.Join(dir, "blocks.cpp"), filepath.Join(dir, "blocks.o")
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	clang15(t, "-std=c++17", "-O1", "-fPIC", "-I../../primitives/src", "-c", file, "-o", object)
	return object
}

// clang15 runs the compiler that the bitcode of the primitives is made with.
func clang15(t testing.TB, args ...string) {
	t.Helper()
	path, err := exec.LookPath("clang-15")
	if err != nil {
		t.Skip("clang-15 is not installed: apt-get install clang-15")
	}
	if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		t.Fatalf("clang-15 %s: %v\n%.4000s", strings.Join(args, " "), err, out)
	}
}
