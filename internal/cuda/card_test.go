package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"os/exec"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/internal/cuda/cudatest"
)

// loading is the user's choice, from before Open.
var loading = os.Getenv(loadingVariable)

// card opens the machine's first GPU, or skips with the reason.
func card(t testing.TB) *Context {
	t.Helper()
	d, err := Open()
	if err != nil {
		t.Skip(err)
	}
	v := d.Devices()[0]
	if v.Attributes.Major < 8 {
		t.Skipf("%s is %s; the kernels are for sm_80", v.Name, v.Architecture())
	}
	c, err := v.OpenContext()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// fixture is a context of a card with the kernels and a stream.
type fixture struct {
	*Context
	stream *Stream
	module *Module
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	c := card(t)
	f := &fixture{Context: c, stream: must(c.NewStream())(t)}
	f.module = must(c.LoadModule(Image{"kernels", cudatest.Kernels}, ModuleOptions{}))(t)
	t.Cleanup(func() {
		for _, close := range []func() error{f.module.Close, f.stream.Close} {
			if err := close(); err != nil && !errors.Is(err, ErrLost) {
				t.Error(err)
			}
		}
	})
	return f
}

func (f *fixture) kernel(t testing.TB, name string) *Function {
	t.Helper()
	return must(f.module.Function(name))(t)
}

func (f *fixture) sync(t testing.TB) {
	t.Helper()
	if err := f.stream.Synchronize(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestCardDevice compares what the driver says with what every GPU has.
func TestCardDevice(t *testing.T) {
	c := card(t)
	v, d := c.Device(), c.Device().driver
	t.Logf("%s, %s, %s, driver for CUDA %v from %s, eager %v\n%+v", v.Name, v.UUID, v.PCI,
		d.Version(), d.Path(), d.IsEager(), v.Attributes)
	t.Logf("peak bandwidth %.2f TB/s by clock and bus", v.PeakBandwidth()/1e12)
	a := v.Attributes
	if a.WarpSize != 32 || a.Multiprocessors < 1 || a.MaxThreadsPerBlock != 1024 ||
		a.SharedPerBlock != 48<<10 || !a.UnifiedAddressing {
		t.Errorf("attributes %+v", a)
	}
	if loading == "" && !d.IsEager() {
		t.Error("modules are loaded lazily")
	}
	if now := os.Getenv(loadingVariable); now != loading {
		t.Errorf("%s is %q in Go's environment", loadingVariable, now)
	}
	free, total, err := c.MemoryInfo()
	if err != nil || free == 0 || free > total || total > v.Memory {
		t.Errorf("%d of %d bytes free, the device has %d: %v", free, total, v.Memory, err)
	}
}

// TestCardLaunch runs a kernel with parameters, once from a stream and once
// from a graph, and from several goroutines.
func TestCardLaunch(t *testing.T) {
	f := newFixture(t)
	line := f.kernel(t, "line")
	if n, known := line.Parameters(); known && n != 4 || !known &&
		f.Device().driver.Version() >= 12040 {
		t.Errorf("%d parameters, known %v", n, known)
	}
	const n = 100_000
	run := func(s *Stream, a, b int64, graph bool) error {
		p, err := f.Alloc(8 * n)
		if err != nil {
			return err
		}
		defer f.Free(p)
		work := func() error {
			return s.Launch(line, Shape{Grid: Dim{X: (n + 255) / 256}, Block: Dim{X: 256}},
				[]int64{int64(p), n, a, b})
		}
		if graph {
			g, err := s.Capture(func() error { return errors.Join(s.Fill8(p, 0, 8*n), work()) })
			if err != nil {
				return err
			}
			defer g.Close()
			if g.Nodes() != 2 {
				return errors.New("the graph has not two nodes")
			}
			work = func() error { return errors.Join(g.Upload(s), g.Launch(s)) }
		}
		host := make([]byte, 8*n)
		if err := errors.Join(work(), s.CopyToHost(host, p),
			s.Synchronize(context.Background())); err != nil {
			return err
		}
		for i := range int64(n) {
			if got := int64(binary.LittleEndian.Uint64(host[8*i:])); got != a*i+b {
				t.Errorf("out[%d] = %d, not %d", i, got, a*i+b)
				break
			}
		}
		return nil
	}
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			s, err := f.NewStream()
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for i := range 10 {
				if err := run(s, int64(g), int64(i), i%2 == 1); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, wrong := range [][]int64{{1, 2, 3}, {1, 2, 3, 4, 5}} {
		if err := f.stream.Launch(line, Shape{Grid: Dim{X: 1}, Block: Dim{X: 1}},
			wrong); err == nil && f.Device().driver.Version() >= 12040 {
			t.Errorf("%d parameters are taken", len(wrong))
		}
	}
	err := f.stream.Launch(line, Shape{Block: Dim{X: 256}}, make([]int64, 4))
	if err == nil || !strings.Contains(err.Error(), "kernel line, 0 blocks of 256 threads") {
		t.Errorf("an empty grid: %v", err)
	}
	cooperative := Shape{Grid: Dim{X: 1 << 20}, Block: Dim{X: 256}, Cooperative: true}
	if err := f.stream.Launch(f.kernel(t, "empty"), cooperative, nil); err == nil {
		t.Error("a cooperative grid of a million blocks is taken")
	}
	cooperative.Grid.X = 4
	ok(t, f.stream.Launch(f.kernel(t, "empty"), cooperative, nil))
	f.sync(t)
}

// TestCardFunction reads what kernels take, and uses more shared memory than a
// block has without asking.
func TestCardFunction(t *testing.T) {
	f := newFixture(t)
	reverse := f.kernel(t, "reverse")
	if a := reverse.Attributes(); a.Registers < 4 || a.Local != 0 || a.PTXVersion != 80 ||
		a.MaxThreads != 1024 {
		t.Errorf("attributes %+v", a)
	}
	const threads, bytes = 1024, 64 << 10
	p := must(f.Alloc(8 * threads))(t)
	defer f.Free(p)
	shape := Shape{Grid: Dim{X: 1}, Block: Dim{X: threads}, Shared: bytes}
	if err := f.stream.Launch(reverse, shape, []int64{int64(p)}); err == nil {
		t.Error("64 KB of shared memory without asking")
	}
	ok(t, reverse.SetMaxDynamicShared(bytes))
	ok(t, reverse.SetSharedCarveout(100))
	host := make([]byte, 8*threads)
	for i := range threads {
		binary.LittleEndian.PutUint64(host[8*i:], uint64(i))
	}
	ok(t, f.CopyToDevice(p, host))
	ok(t, f.stream.Launch(reverse, shape, []int64{int64(p)}))
	f.sync(t)
	ok(t, f.CopyToHost(host, p))
	for i := range threads {
		if got := binary.LittleEndian.Uint64(host[8*i:]); got != uint64(threads-1-i) {
			t.Fatalf("word %d is %d", i, got)
		}
	}
	blocks := must(reverse.BlocksPerMultiprocessor(threads, bytes))(t)
	if blocks < 1 || blocks > 2 {
		t.Errorf("%d blocks of %d threads and %d bytes on a multiprocessor", blocks, threads, bytes)
	}
	perBlock, all, err := reverse.SuggestBlock(0, 256)
	if err != nil || perBlock < 32 || perBlock > 256 ||
		all < f.Device().Attributes.Multiprocessors {
		t.Errorf("suggested %d blocks of %d threads: %v", all, perBlock, err)
	}
	place, size, err := f.module.Variable("answer")
	ok(t, err)
	ok(t, f.CopyToHost(host[:8], place))
	if size != 8 || binary.LittleEndian.Uint64(host) != 42 {
		t.Errorf("variable of %d bytes is %d", size, binary.LittleEndian.Uint64(host))
	}
}

// TestCardModule checks errors of loading, and machine code made ahead.
func TestCardModule(t *testing.T) {
	f := newFixture(t)
	load := func(code string) error {
		m, err := f.LoadModule(Image{"wrong", []byte(code)}, ModuleOptions{})
		if err == nil {
			m.Close()
		}
		return err
	}
	head := ".version 7.0\n.target sm_80\n.address_size 64\n"
	for _, c := range []struct {
		name, code string
		kind       error
		log        string
	}{
		{"syntax", head + ".visible .entry k() { nonsense; }\n", ErrInvalidPTX, "line 4"},
		{"a version from the future", ".version 99.0\n.target sm_80\n.address_size 64\n",
			ErrUnsupportedPTX, ""},
		{"a register that is not there", head + ".visible .entry k() { mov.u32 %r1, 0; ret; }\n",
			ErrInvalidPTX, "%r1"},
		{"ELF for something else", "\x7fELF" + strings.Repeat("\x00", 200), ErrNoBinary, ""},
	} {
		err := load(c.code)
		t.Logf("%s: %v", c.name, err)
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, c.kind) || !strings.Contains(e.Log, c.log) {
			t.Errorf("%s: not %v with %q in the log", c.name, c.kind, c.log)
		}
	}
	if _, err := f.module.Function("absent"); !errors.Is(err, ErrNotFound) {
		t.Errorf("an absent kernel: %v", err)
	}
	if _, err := f.module.Function("narrow"); err == nil && f.Device().driver.Version() >= 12040 {
		t.Error("a kernel with a parameter of 32 bits is taken")
	}
	linked, err := f.Link(ModuleOptions{Verbose: true}, Image{"kernels", cudatest.Kernels})
	ok(t, err)
	t.Logf("linked %d bytes in %v; log:\n%s", len(linked.Code), linked.Took, linked.Log)
	m := must(f.LoadModule(Image{"linked", linked.Code}, ModuleOptions{}))(t)
	t.Logf("loaded machine code in %v, PTX in %v", m.LoadTime(), f.module.LoadTime())
	defer m.Close()
	ok(t,
		f.stream.Launch(must(m.Function("empty"))(t), Shape{Grid: Dim{X: 1}, Block: Dim{X: 32}},
			nil))
	f.sync(t)
	if _, err := f.Link(ModuleOptions{},
		Image{"wrong", []byte(head + "nonsense\n")}); !errors.Is(err, ErrInvalidPTX) ||
		!strings.Contains(err.Error(), "line 4") {
		t.Errorf("linking what is wrong: %v", err)
	}
}

// TestCardStream checks waits, their interruption, events and timers.
func TestCardStream(t *testing.T) {
	f := newFixture(t)
	wait := f.kernel(t, "wait")
	busy := func(s *Stream, d time.Duration) {
		t.Helper()
		ok(t, s.Launch(wait, Shape{Grid: Dim{X: 1}, Block: Dim{X: 1}}, []int64{d.Nanoseconds()}))
	}
	from, to := must(f.NewTimer())(t), must(f.NewTimer())(t)
	defer from.Close()
	defer to.Close()
	busy(f.stream, time.Millisecond)
	f.sync(t)
	ok(t, f.stream.Record(from))
	busy(f.stream, 20*time.Millisecond)
	ok(t, f.stream.Record(to))
	if _, err := to.Elapsed(from); !errors.Is(err, ErrNotReady) {
		t.Errorf("the time of what is not done: %v", err)
	}
	if done, err := f.stream.IsDone(); done || err != nil {
		t.Errorf("done %v, %v", done, err)
	}
	began := time.Now()
	f.sync(t)
	if waited := time.Since(began); waited < 15*time.Millisecond {
		t.Errorf("waited for %v only", waited)
	}
	if took, err := to.Elapsed(from); err != nil || took < 19*time.Millisecond {
		t.Errorf("20 ms took %v, %v", took, err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	busy(f.stream, 2*time.Second)
	if err := f.stream.Synchronize(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an interrupted wait: %v", err)
	}
	if done, err := f.stream.IsDone(); done || err != nil {
		t.Errorf("after an interrupted wait: done %v, %v", done, err)
	}
	f.sync(t)

	// Another stream waits for an event of the first.
	other, e := must(f.NewStream())(t), must(f.NewEvent())(t)
	defer other.Close()
	defer e.Close()
	busy(f.stream, 20*time.Millisecond)
	ok(t, f.stream.Record(e))
	ok(t, other.Wait(e))
	began = time.Now()
	ok(t, other.Synchronize(t.Context()))
	if waited := time.Since(began); waited < 15*time.Millisecond {
		t.Errorf("the other stream waited for %v only", waited)
	}
	if done, err := e.IsDone(); !done || err != nil {
		t.Errorf("the event: done %v, %v", done, err)
	}
}

// TestCardMemory checks pools, pinned memory, fills, copies and the lack of
// memory.
func TestCardMemory(t *testing.T) {
	f := newFixture(t)
	pool := must(f.NewPool(PoolOptions{ReleaseThreshold: math.MaxUint64}))(t)
	const n = 1 << 20
	host := must(f.AllocHost(2*n, HostOptions{}))(t)
	a, b := must(pool.Alloc(f.stream, n))(t), must(pool.Alloc(f.stream, n))(t)
	bytes := host.Bytes()
	for i := range n {
		bytes[i] = byte(i * 7)
	}
	ok(t, f.stream.CopyToDevice(a, bytes[:n]))
	ok(t, f.stream.Copy(b, a, n))
	ok(t, f.stream.Fill32(b, 0x01020304, 2))
	ok(t, f.stream.Fill8(b+n-3, 9, 3))
	ok(t, f.stream.CopyToHost(bytes[n:], b))
	ok(t, f.stream.Free(a))
	ok(t, f.stream.Free(b))
	f.sync(t)
	for i := range n {
		want := byte(i * 7)
		switch {
		case i < 8:
			want = byte(4 - i%4)
		case i >= n-3:
			want = 9
		}
		if bytes[n+i] != want {
			t.Fatalf("byte %d is %d, not %d", i, bytes[n+i], want)
		}
	}
	// A kernel writes host memory by its address.
	ok(t,
		f.stream.Launch(f.kernel(t, "line"), Shape{Grid: Dim{X: 1}, Block: Dim{X: 32}},
			[]int64{int64(host.Pointer()), 2, 5, 3}))
	f.sync(t)
	if x, y := binary.LittleEndian.Uint64(bytes), binary.LittleEndian.Uint64(bytes[8:]); x != 3 ||
		y != 8 {
		t.Errorf("the kernel wrote %d, %d", x, y)
	}
	use := must(pool.Use())(t)
	if use.Used != 0 || use.UsedHigh < 2*n || use.Reserved < 2*n {
		t.Errorf("the pool's use is %+v", use)
	}
	ok(t, pool.Trim(0))
	if use := must(pool.Use())(t); use.Reserved != 0 {
		t.Errorf("after Trim the pool holds %+v", use)
	}
	if _, err := pool.Alloc(f.stream, 1<<42); !errors.Is(err, ErrOutOfMemory) ||
		errors.Is(err, ErrLost) {
		t.Errorf("4 TB of a pool: %v", err)
	}
	if _, err := f.Alloc(1 << 42); !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("4 TB: %v", err)
	}
	ok(t, pool.Close())
	ok(t, host.Close())
	if host.Bytes() != nil {
		t.Error("bytes after Close")
	}
}

// TestCardRegion grows memory in place and gives it back.
func TestCardRegion(t *testing.T) {
	f := newFixture(t)
	before, total, err := f.MemoryInfo()
	ok(t, err)
	r := must(f.Reserve(4 * total))(t) // addresses cost nothing
	ok(t, r.Grow(1))
	first := r.Size()
	ok(t, f.stream.Fill8(r.Base(), 7, first))
	ok(t, r.Grow(64<<20)) // with work under way
	ok(t, f.stream.Fill8(r.Base()+Pointer(first), 8, r.Size()-first))
	var two [2]byte
	f.sync(t)
	ok(t, f.CopyToHost(two[:], r.Base()+Pointer(first)-1))
	if two != [2]byte{7, 8} {
		t.Errorf("around the seam lie %v", two)
	}
	if err := r.Grow(2 * total); !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("growing past the device's memory: %v", err)
	}
	size := r.Size()
	ok(t, r.Shrink(first))
	if r.Size() != first {
		t.Errorf("%d bytes shrink to %d", size, r.Size())
	}
	ok(t, r.Close())
	if after, _, err := f.MemoryInfo(); err != nil || after < before-(8<<20) {
		t.Errorf("%d bytes were free, now %d: %v", before, after, err)
	}
}

// TestCardCaptureFails sees a stream usable after a capture that was refused.
func TestCardCaptureFails(t *testing.T) {
	f := newFixture(t)
	_, err := f.stream.Capture(func() error { return f.stream.Synchronize(t.Context()) })
	if !errors.Is(err, ErrCapture) {
		t.Errorf("waiting in a capture: %v", err)
	}
	mine := errors.New("mine")
	if _, err := f.stream.Capture(func() error { return mine }); err != mine {
		t.Errorf("a capture that fails: %v", err)
	}
	g := must(f.stream.Capture(func() error {
		return f.stream.Launch(f.kernel(t, "empty"), Shape{Grid: Dim{X: 1}, Block: Dim{X: 1}}, nil)
	}))(t)
	ok(t, g.Launch(f.stream))
	f.sync(t)
	ok(t, g.Close())
	if err := g.Launch(f.stream); !errors.Is(err, ErrClosed) {
		t.Errorf("launching a closed graph: %v", err)
	}
}

// TestCardLost has a kernel fault. It takes a process of its own, because a
// driver may refuse to work in this one from then on.
func TestCardLost(t *testing.T) {
	const inner = "REDFOX_TEST_FAULT"
	if os.Getenv(inner) == "" {
		card(t) // or skip
		cmd := exec.Command(os.Args[0], "-test.run=^TestCardLost$", "-test.v")
		cmd.Env = append(os.Environ(), inner+"=1")
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
		return
	}
	f := newFixture(t)
	_ = must(f.Alloc(1 << 20))(t)
	ok(t, f.stream.Launch(f.kernel(t, "fault"), Shape{Grid: Dim{X: 1}, Block: Dim{X: 1}}, nil))
	err := f.stream.Synchronize(t.Context())
	t.Log(err)
	if !errors.Is(err, ErrLost) || f.Lost() == nil {
		t.Fatalf("a fault: %v", err)
	}
	if _, err := f.Alloc(8); !errors.Is(err, ErrLost) ||
		!strings.Contains(err.Error(), "lost since") {
		t.Errorf("after a fault: %v", err)
	}
	ok(t, f.Close())
	next, err := f.Device().OpenContext()
	if errors.Is(err, ErrLost) && strings.Contains(err.Error(), "start the program again") {
		t.Logf("the driver does not recover: %v", err)
		return
	}
	ok(t, err)
	p := must(next.Alloc(8))(t)
	ok(t, next.Fill8(p, 1, 8))
	ok(t, next.Synchronize())
	ok(t, next.Close())
}

// BenchmarkCard measures what work costs that does nothing, and how fast bytes
// move.
func BenchmarkCard(b *testing.B) {
	f := newFixture(b)
	empty, line := f.kernel(b, "empty"), f.kernel(b, "line")
	one := Shape{Grid: Dim{X: 1}, Block: Dim{X: 32}}
	e := must(f.NewEvent())(b)
	defer e.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	each := func(name string, work func() error) {
		b.Run(name, func(b *testing.B) {
			ok(b, work())
			f.sync(b)
			b.ReportAllocs()
			for b.Loop() {
				if err := work(); err != nil {
					b.Fatal(err)
				}
			}
			f.sync(b)
		})
	}
	each("call/event-query", func() error { _, err := e.IsDone(); return err })
	each("launch/empty", func() error { return f.stream.Launch(empty, one, nil) })
	each("launch/4-words", func() error { return f.stream.Launch(line, one, make([]int64, 4)) })
	each("launch/and-wait", func() error {
		if err := f.stream.Launch(empty, one, nil); err != nil {
			return err
		}
		return f.stream.Synchronize(ctx)
	})
	for _, n := range []int{1, 10, 100} {
		g := must(f.stream.Capture(func() error {
			for range n {
				if err := f.stream.Launch(empty, one, nil); err != nil {
					return err
				}
			}
			return nil
		}))(b)
		defer g.Close()
		name := map[int]string{1: "1-kernel", 10: "10-kernels", 100: "100-kernels"}[n]
		each("graph/"+name, func() error { return g.Launch(f.stream) })
		each("graph/"+name+"-and-wait", func() error {
			if err := g.Launch(f.stream); err != nil {
				return err
			}
			return f.stream.Synchronize(ctx)
		})
	}
	busy := f.kernel(b, "wait")
	for _, d := range []time.Duration{50 * time.Microsecond, time.Millisecond,
		20 * time.Millisecond} {
		each("wait/"+d.String(), func() error {
			if err := f.stream.Launch(busy, one, []int64{d.Nanoseconds()}); err != nil {
				return err
			}
			return f.stream.Synchronize(ctx)
		})
	}
	pool := must(f.NewPool(PoolOptions{ReleaseThreshold: math.MaxUint64}))(b)
	defer pool.Close()
	each("alloc/pool-64MB", func() error {
		p, err := pool.Alloc(f.stream, 64<<20)
		if err != nil {
			return err
		}
		return f.stream.Free(p)
	})
	each("alloc/64MB", func() error {
		p, err := f.Alloc(64 << 20)
		if err != nil {
			return err
		}
		return f.Free(p)
	})
	r := must(f.Reserve(1 << 40))(b)
	defer r.Close()
	each("alloc/grow-by-64MB", func() error {
		if err := r.Grow(64 << 20); err != nil {
			return err
		}
		return r.Shrink(0)
	})
	const size = 256 << 20
	p := must(f.Alloc(2 * size))(b)
	defer f.Free(p)
	pinned := must(f.AllocHost(size, HostOptions{}))(b)
	defer pinned.Close()
	move := func(name string, bytes int64, work func() error) {
		b.Run("copy/"+name, func(b *testing.B) {
			b.SetBytes(bytes)
			for b.Loop() {
				ok(b, work())
				f.sync(b)
			}
		})
	}
	pageable := make([]byte, size)
	for i := range pageable {
		pageable[i] = byte(i)
	}
	copy(pinned.Bytes(), pageable)
	move("pinned-to-device", size, func() error { return f.stream.CopyToDevice(p, pinned.Bytes()) })
	move("device-to-pinned", size, func() error { return f.stream.CopyToHost(pinned.Bytes(), p) })
	move("pageable-to-device", size, func() error { return f.stream.CopyToDevice(p, pageable) })
	move("device-to-pageable", size, func() error { return f.stream.CopyToHost(pageable, p) })
	// read and written
	move("on-device", 2*size, func() error { return f.stream.Copy(p, p+size, size) })
	b.Run("alloc/host-64MB", func(b *testing.B) {
		for b.Loop() {
			m := must(f.AllocHost(64<<20, HostOptions{}))(b)
			ok(b, m.Close())
		}
	})
}

// BenchmarkThreads compares ways to have the context current: as the package
// does it, without doing it, and with one locked goroutine that makes all
// calls.
func BenchmarkThreads(b *testing.B) {
	c := card(b)
	e := must(c.NewEvent())(b)
	defer e.Close()
	fn := c.fn
	b.Run("each-call", func(b *testing.B) {
		for b.Loop() {
			ok(b, e.call("cuEventQuery", fn.EventQuery))
		}
	})
	b.Run("bare-call", func(b *testing.B) {
		for b.Loop() {
			if code := fn.EventQuery(e.handle); code != success {
				b.Fatal(code)
			}
		}
	})
	b.Run("reflected-call", func(b *testing.B) {
		for b.Loop() {
			var n int32
			if code := fn.DeviceGetCount(&n); code != success {
				b.Fatal(code)
			}
		}
	})
	b.Run("locked-goroutine", func(b *testing.B) {
		type job struct {
			f    func() Code
			done chan Code
		}
		jobs := make(chan job)
		defer close(jobs)
		go func() {
			goruntime.LockOSThread() // to the end: the thread ends with the goroutine
			fn.CtxSetCurrent(c.handle)
			for j := range jobs {
				j.done <- j.f()
			}
		}()
		done := make(chan Code)
		for b.Loop() {
			jobs <- job{func() Code { return fn.EventQuery(e.handle) }, done}
			if code := <-done; code != success {
				b.Fatal(code)
			}
		}
	})
}
