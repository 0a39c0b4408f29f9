package conformance

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/cudatest"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// device compares what the driver says with what every GPU has.
func device(f *fixture) error {
	v := f.Device().Info()
	a := v.Attributes
	switch {
	case a.Major < 8 || a.WarpSize != 32 || a.Multiprocessors < 1 || a.MaxThreadsPerBlock != 1024 ||
		a.SharedPerBlock != 48<<10 || a.SharedPerBlockOptin < a.SharedPerBlock ||
		!a.UnifiedAddressing || v.PeakBandwidth() < 1e10:
		return fmt.Errorf("attributes %+v", a)
	case v.Name == "" || !strings.HasPrefix(v.UUID, "GPU-") || strings.Count(v.PCI, ":") != 2:
		return fmt.Errorf("names %q, %q, %q", v.Name, v.UUID, v.PCI)
	}
	free, total, err := f.MemoryInfo()
	if err == nil && (free == 0 || free > total || total > v.Memory) {
		err = fmt.Errorf("%d of %d bytes free, the device has %d", free, total, v.Memory)
	}
	return err
}

// line runs the kernel of that name in a stream and sees what it wrote.
func (f *fixture) line(s driver.Stream, a, b int64) (err error) {
	const n = 100_000
	k, err := f.module.Function("line")
	if err != nil {
		return err
	}
	p, err := f.Alloc(8 * n)
	if err != nil {
		return err
	}
	defer func() { err = first(err, f.Free(p)) }()
	host := make([]byte, 8*n)
	err = first(
		s.Launch(k, shape((n+255)/256, 256), []int64{int64(p), n, a, b}),
		s.CopyToHost(host, p),
		wait(s),
	)
	if err != nil {
		return err
	}
	for i := range n {
		if got := word(host, i); got != a*int64(i)+b {
			return fmt.Errorf("word %d is %d, not %d", i, got, a*int64(i)+b)
		}
	}
	return nil
}

func launches(f *fixture) error {
	const goroutines, rounds = 8, 10
	errs := make([]error, goroutines)
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			s, err := f.NewStream()
			if err != nil {
				errs[g] = err
				return
			}
			for i := range rounds {
				err = first(err, f.line(s, int64(g), int64(i)))
			}
			errs[g] = first(err, s.Close())
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func refusedLaunches(f *fixture) error {
	empty := f.launch("empty", shape(0, 256))
	if empty == nil || !strings.Contains(empty.Error(), "kernel empty") {
		return fmt.Errorf("an empty grid: %v", empty)
	}
	if err := f.launch("empty", shape(1, 2048)); err == nil {
		return errors.New("a block of 2048 threads is taken")
	}
	if _, err := f.module.Function("absent"); !errors.Is(err, cuda.ErrNotFound) {
		return fmt.Errorf("an absent kernel: %v", err)
	}
	return first(f.launch("empty", one), f.sync())
}

func parameters(f *fixture) error {
	k, err := f.module.Function("line")
	if err != nil {
		return err
	}
	switch n, known := k.Parameters(); {
	case !known:
		return fmt.Errorf("%w: the number of a kernel's parameters is not known",
			errors.ErrUnsupported)
	case n != 4:
		return fmt.Errorf("%d parameters", n)
	}
	for _, wrong := range []int{3, 5} {
		if err := f.stream.Launch(k, one, make([]int64, wrong)); err == nil {
			return fmt.Errorf("%d parameters are taken", wrong)
		}
	}
	if _, err := f.module.Function("narrow"); err == nil {
		return errors.New("a kernel with a parameter of 32 bits is taken")
	}
	return nil
}

func function(f *fixture) error {
	k, err := f.module.Function("reverse")
	if err != nil {
		return err
	}
	if a := k.Attributes(); a.Registers < 4 || a.Local != 0 || a.PTXVersion != 80 ||
		a.MaxThreads != 1024 || a.BinaryVersion < 80 {
		return fmt.Errorf("attributes %+v", a)
	}
	v := f.Device().Info().Attributes
	const threads, shared = 1024, 40 << 10
	blocks, err := k.BlocksPerMultiprocessor(threads, shared)
	if err == nil && (blocks < 1 || blocks > v.MaxThreadsPerMultiprocessor/threads) {
		err = fmt.Errorf("%d blocks of %d threads and %d bytes on a multiprocessor", blocks,
			threads, shared)
	}
	if err != nil {
		return err
	}
	for _, limit := range []int{0, 256} {
		perBlock, all, err := k.SuggestBlock(0, limit)
		if err != nil {
			return err
		}
		if perBlock < 32 || perBlock > 1024 || limit > 0 && perBlock > limit ||
			all < v.Multiprocessors {
			return fmt.Errorf("suggested %d blocks of %d threads, at most %d", all, perBlock, limit)
		}
	}
	return nil
}

// reverse turns round the words of a block of 1024 threads.
func (f *fixture) reverse(k driver.Function, shared int) (err error) {
	const threads = 1024
	p, err := f.Alloc(8 * threads)
	if err != nil {
		return err
	}
	defer func() { err = first(err, f.Free(p)) }()
	host := make([]byte, 8*threads)
	for i := range threads {
		binary.LittleEndian.PutUint64(host[8*i:], uint64(i))
	}
	s := shape(1, threads)
	s.Shared = shared
	err = first(f.CopyToDevice(p, host), f.stream.Launch(k, s, []int64{int64(p)}), f.sync(),
		f.CopyToHost(host, p))
	if err != nil {
		return err
	}
	for i := range threads {
		if got := word(host, i); got != int64(threads-1-i) {
			return fmt.Errorf("word %d is %d", i, got)
		}
	}
	return nil
}

func dynamicShared(f *fixture) error {
	k, err := f.module.Function("reverse")
	if err != nil {
		return err
	}
	return f.reverse(k, 48<<10)
}

func sharedOptin(f *fixture) error {
	const bytes = 64 << 10
	k, err := f.module.Function("reverse")
	if err != nil {
		return err
	}
	if err := f.reverse(k, bytes); err == nil {
		return errors.New("64 KiB are given without asking")
	}
	return first(k.SetMaxDynamicShared(bytes), f.reverse(k, bytes))
}

func carveout(f *fixture) error {
	k, err := f.module.Function("reverse")
	if err != nil {
		return err
	}
	return first(k.SetSharedCarveout(100), f.reverse(k, 48<<10))
}

func cooperative(f *fixture) error {
	s := shape(4, 256)
	s.Cooperative = true
	if err := first(f.launch("empty", s), f.sync()); err != nil {
		return err
	}
	s.Grid.X = 1 << 20
	if err := f.launch("empty", s); err == nil {
		return errors.New("a cooperative grid of a million blocks is taken")
	}
	return nil
}

func moduleErrors(f *fixture) error {
	const head = ".version 7.0\n.target sm_80\n.address_size 64\n"
	for _, c := range []struct {
		name, code string
		kind       error
		log        string
	}{
		{"syntax", head + ".visible .entry k() { nonsense; }\n", cuda.ErrInvalidPTX, "line 4"},
		{"a version from the future", ".version 99.0\n.target sm_80\n.address_size 64\n",
			cuda.ErrUnsupportedPTX, ""},
		{"a register that is not there", head + ".visible .entry k() { mov.u32 %r1, 0; ret; }\n",
			cuda.ErrInvalidPTX, "%r1"},
		{"ELF for something else", "\x7fELF" + strings.Repeat("\x00", 200), cuda.ErrNoBinary, ""},
	} {
		m, err := f.LoadModule(cuda.Image{Name: "wrong", Code: []byte(c.code)},
			cuda.ModuleOptions{})
		if err == nil {
			m.Close()
		}
		if err := wantKind(c.name, err, c.kind); err != nil {
			return err
		}
		if !strings.Contains(err.Error(), c.log) {
			return fmt.Errorf("%s: the compiler's log lacks %q: %v", c.name, c.log, err)
		}
	}
	return first(f.launch("empty", one), f.sync())
}

func variable(f *fixture) error {
	p, size, err := f.module.Variable("answer")
	if err != nil {
		return err
	}
	host := make([]byte, 8)
	if err := f.CopyToHost(host, p); err != nil {
		return err
	}
	if size != 8 || word(host, 0) != 42 {
		return fmt.Errorf("the variable of %d bytes is %d", size, word(host, 0))
	}
	_, _, err = f.module.Variable("absent")
	return wantKind("an absent variable", err, cuda.ErrNotFound)
}

func link(f *fixture) error {
	linked, err := f.Link(cuda.ModuleOptions{}, cuda.Image{Name: "kernels", Code: cudatest.Kernels})
	if err != nil {
		return err
	}
	m, err := f.LoadModule(cuda.Image{Name: "linked", Code: linked.Code}, cuda.ModuleOptions{})
	if err != nil {
		return err
	}
	err = (&fixture{Context: f.Context, module: m}).line(f.stream, 3, 4)
	if err := first(err, m.Close()); err != nil {
		return err
	}
	wrong := cuda.Image{Name: "wrong",
		Code: []byte(".version 7.0\n.target sm_80\n.address_size 64\nnonsense\n")}
	_, err = f.Link(cuda.ModuleOptions{}, wrong)
	if err := wantKind("linking what is wrong", err, cuda.ErrInvalidPTX); err != nil {
		return err
	}
	if !strings.Contains(err.Error(), "line 4") {
		return fmt.Errorf("the compiler's log lacks line 4: %v", err)
	}
	return nil
}
