package emit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/reference/harmonyref"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/weaver/target"
)

// gpuVariants have blocks of 32 to 256 threads and from 4 rows a thread to 16,
// code for both architectures, all forms, and gauges that stop blocks in the
// middle.
var gpuVariants = []variant{
	{name: "direct fixed", sm: 90, threads: 256, items: 16, fixed: true, bounds: true,
		form: abi.Direct},
	{name: "hash fixed", sm: 90, threads: 128, items: 8, fixed: true, bounds: true, form: abi.Hash},
	{name: "wide fixed", sm: 80, threads: 64, items: 8, fixed: true, tight: true, form: abi.Wide},
	{name: "direct open", sm: 80, threads: 256, items: 8, tight: true, form: abi.Direct},
	{name: "hash open", sm: 90, threads: 32, items: 4, tight: true, bounds: true, form: abi.Hash},
	{name: "wide open", sm: 90, threads: 128, items: 4, form: abi.Wide},
	{name: "hash fixed tight", sm: 80, threads: 32, items: 16, fixed: true, tight: true,
		form: abi.Hash},
	{name: "direct fixed queue", sm: 90, threads: 256, items: 8, fixed: true, bounds: true,
		cut: true, form: abi.Direct},
	{name: "hash fixed queue", sm: 80, threads: 128, items: 8, fixed: true, tight: true, cut: true,
		form: abi.Hash},
	{name: "wide open queue", sm: 90, threads: 64, items: 4, tight: true, cut: true,
		form: abi.Wide},
	{name: "hash open queue", sm: 90, threads: 32, items: 8, cut: true, form: abi.Hash},
}

// TestGPU runs the programs in testdata/run on a GPU in all variants, and wants
// harmonyref's answer. It skips where there is no card.
func TestGPU(t *testing.T) {
	c := openCard(t)
	datadriven.Walk(t, "testdata/run", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p, err := harmony.Parse("test.harmony", d.Input)
			if err == nil {
				err = harmony.Verify(p)
			}
			if err != nil {
				t.Fatalf("%s: %v", d.Pos, err)
			}
			for i, n := range []int{0, 1, 40, 700, 3000} {
				run := gpuVariants
				if n < 700 {
					run = gpuVariants[(i+len(d.Input))%len(gpuVariants):][:1]
				}
				c.check(t, fmt.Sprintf("%s, %d rows", d.Pos, n), p, n, run)
			}
			return d.Expected
		})
	})
}

// card is an opened GPU, with counts of what ran on it.
type card struct {
	*cuda.Context
	mu     sync.Mutex
	arenas []*arena // that no test uses

	runs, launches, hosts atomic.Int64
}

// openCard opens the machine's first GPU, or skips with the reason.
func openCard(t *testing.T) *card {
	t.Helper()
	library(t)
	driver, err := cuda.Open()
	if err != nil {
		t.Skip(err)
	}
	device := driver.Devices()[0]
	if device.Attributes.Major < 8 {
		t.Skipf("%s is %s; the code is for sm_80", device.Name, device.Architecture())
	}
	gpu, err := device.OpenContext()
	if err != nil {
		t.Fatal(err)
	}
	c := &card{Context: gpu}
	t.Cleanup(func() {
		t.Logf("%s: %d runs in %d launches; %d variants need the host", device.Name, c.runs.Load(),
			c.launches.Load(), c.hosts.Load())
		for _, a := range c.arenas {
			if err := a.host.Close(); err != nil && !errors.Is(err, cuda.ErrLost) {
				t.Error(err)
			}
		}
		if err := gpu.Close(); err != nil && !errors.Is(err, cuda.ErrLost) {
			t.Error(err)
		}
	})
	return c
}

// check runs a program over random facts in some variants, beside other tests.
func (c *card) check(t *testing.T, name string, p *harmony.Program, n int, run []variant) {
	facts := randomFacts(rand.New(rand.NewPCG(7, uint64(n))), p, n)
	drops := countDrops(p)
	observe, tuples := drops.observer(), map[*harmony.Relation]int{}
	observe.Tuple = func(rel *harmony.Relation, _ []scalar.Value) { tuples[rel]++ }
	want, wantErr := harmonyref.Run(p, facts, harmonyref.Options{Observe: observe})
	for _, n := range tuples {
		if n > mostRows {
			return // than the driver's tables hold
		}
	}
	for _, v := range run {
		if v.sm > c.Device().Attributes.Major*10+c.Device().Attributes.Minor {
			continue
		}
		t.Run(name+", "+v.name, func(t *testing.T) {
			t.Parallel()
			c.checkVariant(t, p, facts, v, want, wantErr, drops)
		})
	}
}

func (c *card) checkVariant(t *testing.T, p *harmony.Program, facts map[string]planref.Rows,
	v variant, want *planref.Answer, wantErr error, drops *drops) {
	if err := c.Lost(); err != nil {
		t.Skip(err)
	}
	g := &gpu{card: c, arena: c.newArena(t)}
	var unsupported *UnsupportedError
	if _, err := Program(p, Options{Target: g.target(v)}); errors.As(err, &unsupported) {
		host, err := Program(p, Options{Target: target.CPU()})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(host.Module.Entries, func(e *abi.Entry) bool {
			return len(e.Hosts) > 0
		}) {
			t.Fatalf("no function needs the host, and yet: %v", unsupported)
		}
		c.hosts.Add(1)
		return
	}
	checkRun(t, p, facts, v, g, want, wantErr, drops)
	g.arena.check(t)
	c.runs.Add(1)
}

// gpu runs one program on a card.
type gpu struct {
	card      *card
	arena     *arena
	stream    *cuda.Stream
	functions map[string]*cuda.Function
}

func (*gpu) target(v variant) target.Target {
	t := target.GPU(v.sm)
	t.Threads, t.Items = v.threads, v.items
	return t
}

func (g *gpu) memory() *arena { return g.arena }

func (*gpu) workers() int { return 5 }

func (g *gpu) load(t testing.TB, c *Code, v variant) {
	t.Helper()
	ptx := ptxOf(t, c, v.sm)
	module, err := g.card.LoadModule(cuda.Image{Name: t.Name(), Code: ptx}, cuda.ModuleOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, ptx)
	}
	if g.stream, err = g.card.NewStream(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, close := range []func() error{module.Close, g.stream.Close} {
			if err := close(); err != nil && !errors.Is(err, cuda.ErrLost) {
				t.Error(err)
			}
		}
	})
	g.functions = map[string]*cuda.Function{}
	for _, e := range c.Module.Entries {
		f, err := module.Function(e.Symbol)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.SetMaxDynamicShared(e.Dynamic); err != nil {
			t.Fatal(err)
		}
		g.functions[e.Symbol] = f
	}
}

// limit is how long a launch may take.
const limit = time.Minute

func (g *gpu) pass(t testing.TB, e *abi.Entry, params, states []int64) {
	t.Helper()
	g.card.launches.Add(1)
	shape := cuda.Shape{Grid: cuda.Dim{X: uint32(g.workers())},
		Block: cuda.Dim{X: uint32(e.Threads)}, Shared: e.Dynamic}
	err := g.stream.Launch(g.functions[e.Symbol], shape,
		append(slices.Clone(params), address(states)))
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		err = g.stream.Synchronize(ctx)
	}
	if err != nil {
		t.Fatalf("%s: %v\nparameters %v\nstates %v", e.Symbol, err, params, states)
	}
}

// arena is memory that host and device share. Between what it gives out is a
// pattern, to notice stores that miss.
type arena struct {
	host *cuda.HostMemory
	data []byte
	used int
	gaps []int // where the patterns are
}

const (
	arenaSize = 256 << 20
	gapSize   = 64
	gapByte   = 0xA5
)

// newArena returns an arena for one test.
func (c *card) newArena(t *testing.T) *arena {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var a *arena
	if n := len(c.arenas); n > 0 {
		a, c.arenas = c.arenas[n-1], c.arenas[:n-1]
	} else {
		host, err := c.AllocHost(arenaSize, cuda.HostOptions{})
		if err != nil {
			t.Fatal(err)
		}
		a = &arena{host: host, data: host.Bytes()}
	}
	a.used, a.gaps = 0, nil
	t.Cleanup(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.arenas = append(c.arenas, a)
	})
	return a
}

// take returns zeroed bytes at a multiple of 64.
func (a *arena) take(n int) unsafe.Pointer {
	at := a.used
	if at+n+2*gapSize > len(a.data) {
		panic(fmt.Sprintf("the arena of %d bytes is full", len(a.data)))
	}
	clear(a.data[at : at+n])
	a.used = (at + n + 2*gapSize - 1) / gapSize * gapSize
	for i := at + n; i < a.used; i++ {
		a.data[i] = gapByte
	}
	a.gaps = append(a.gaps, at+n, a.used)
	return unsafe.Pointer(&a.data[at])
}

// check fails the test if something is written between what was given out.
func (a *arena) check(t *testing.T) {
	t.Helper()
	for ; len(a.gaps) > 0; a.gaps = a.gaps[2:] {
		if slices.ContainsFunc(a.data[a.gaps[0]:a.gaps[1]], func(b byte) bool {
			return b != gapByte
		}) {
			t.Fatalf("something is written behind the memory that ends at %d of the arena",
				a.gaps[0])
		}
	}
}
