package emulated

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/await"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// rig is an open context with a stream and a pool.
type rig struct {
	*testing.T
	d      *Driver
	gpu    driver.Context
	stream driver.Stream
	pool   driver.Pool
}

func open(t *testing.T, o Options) *rig {
	t.Helper()
	o.Kernels = cardKernels
	b := &rig{T: t, d: New(o)}
	var err error
	if b.gpu, err = b.d.Devices()[0].OpenContext(); err == nil {
		if b.stream, err = b.gpu.NewStream(); err == nil {
			b.pool, err = b.gpu.NewPool(cuda.PoolOptions{ReleaseThreshold: 1 << 40})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *rig) ok(errs ...error) {
	b.Helper()
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
}

func (b *rig) alloc(n uint64) cuda.Pointer {
	b.Helper()
	p, err := b.pool.Alloc(b.stream, n)
	b.ok(err)
	return p
}

func (b *rig) sync() error { return b.stream.Synchronize(context.Background()) }

func (b *rig) close() {
	b.ok(b.stream.Close(), b.pool.Close(), b.gpu.Close())
}

// raw writes to memory behind the emulator's back, as a kernel can.
func (b *rig) raw(p cuda.Pointer, offset int) {
	m := b.gpu.(*share).memory
	for _, list := range [][]*block{m.live, m.spent} {
		for _, x := range list {
			if x.base() == p {
				x.raw[guardBytes+offset] = 1
				return
			}
		}
	}
	b.Fatal("no such memory")
}

// TestMisuse does what is wrong, and wants to be told.
func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		name, want string
		do         func(b *rig)
	}{
		{"nothing", "", func(b *rig) {
			p := b.alloc(100)
			b.ok(b.stream.Fill8(p, 1, 100), b.stream.Free(p), b.sync())
		}},
		{"a write before", "byte -1 of an allocation of 100 bytes", func(b *rig) {
			p := b.alloc(100)
			b.raw(p, -1)
			b.ok(b.stream.Free(p))
		}},
		{"a write behind", "byte 100 of an allocation of 100 bytes", func(b *rig) {
			p := b.alloc(100)
			b.raw(p, 100)
			b.ok(b.stream.Free(p))
		}},
		{"a write to freed memory",
			"byte 7 of an allocation of 100 bytes was written after it was freed", func(b *rig) {
				p := b.alloc(100)
				b.ok(b.stream.Free(p), b.sync())
				b.raw(p, 7)
			}},
		{"a leak", "1 allocations, 256 bytes, are not freed", func(b *rig) { b.alloc(100) }},
		{"a leak of the device's memory", "100 bytes of the device's memory were never freed",
			func(b *rig) {
				_, err := b.gpu.Alloc(100)
				b.ok(err)
			}},
		{"a leak of pinned memory", "100 bytes of pinned memory were never freed", func(b *rig) {
			_, err := b.gpu.AllocHost(100, cuda.HostOptions{})
			b.ok(err)
		}},
		{"an event that stays", "1 objects of kind event", func(b *rig) {
			_, err := b.gpu.NewEvent()
			b.ok(err)
		}},
		{"free twice", "freed already", func(b *rig) {
			p := b.alloc(100)
			b.ok(b.stream.Free(p))
			if b.stream.Free(p) == nil {
				b.Error("taken")
			}
		}},
		{"a fill of freed memory", "which was freed", func(b *rig) {
			p := b.alloc(100)
			b.ok(b.stream.Free(p))
			if b.stream.Fill8(p, 1, 1) == nil {
				b.Error("taken")
			}
		}},
		{"a copy too long", "from byte 50 of 100", func(b *rig) {
			p := b.alloc(100)
			if b.gpu.Copy(p, p+50, 51) == nil {
				b.Error("taken")
			}
			b.ok(b.stream.Free(p))
		}},
		{"another's memory to free", "another call's to free", func(b *rig) {
			p := b.alloc(100)
			if b.gpu.Free(p) == nil {
				b.Error("taken")
			}
			b.ok(b.stream.Free(p))
		}},
		{"an odd address", "address", func(b *rig) {
			p := b.alloc(100)
			if b.stream.Fill32(p+2, 1, 1) == nil {
				b.Error("taken")
			}
			b.ok(b.stream.Free(p))
		}},
		{"pinned memory that is gone", "which was freed", func(b *rig) {
			p := b.alloc(100)
			b.stream.(*stream).eager = false
			m, err := b.gpu.AllocHost(100, cuda.HostOptions{})
			b.ok(err, b.sync())
			b.ok(b.stream.CopyToHost(m.Bytes(), p), m.Close())
			if err := b.sync(); !errors.Is(err, cuda.ErrLost) {
				b.Errorf("got %v", err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, Options{})
			c.do(b)
			// some are useless by now
			_ = errors.Join(b.stream.Close(), b.pool.Close(), b.gpu.Close())
			err := b.d.Check()
			if c.want == "" && err != nil || c.want != "" &&
				(err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, not %q", err, c.want)
			}
			if err := b.d.Check(); err != nil {
				t.Errorf("and again: %v", err)
			}
		})
	}
}

// TestLate wants the work of some streams to begin by itself, and that of
// others not before somebody waits for it.
func TestLate(t *testing.T) {
	late := 0
	const seeds = 20
	for seed := range uint64(seeds) {
		b := open(t, Options{Seed: seed})
		m, err := b.gpu.AllocHost(8, cuda.HostOptions{})
		b.ok(err)
		p := b.alloc(8)
		host := m.Bytes()
		host[0], host[1] = 1, 0
		b.ok(b.stream.CopyToDevice(p, host[:1]))
		host[0] = 2 // too early
		b.ok(b.stream.CopyToHost(host[1:2], p))
		s := b.stream.(*stream)
		s.line.Lock()
		own := s.wanted == s.put
		s.line.Unlock()
		if own {
			await.Until(t, "a stream that begins by itself", func() bool {
				s.line.Lock()
				defer s.line.Unlock()
				return s.done == s.put
			})
		} else {
			late++
		}
		if done := host[1] != 0; done != own {
			t.Errorf("seed %d: begins by itself: %t; has copied before a wait: %t", seed, own, done)
		}
		b.ok(b.sync())
		if host[1] != 1 && host[1] != 2 {
			t.Errorf("seed %d: the copy has %d", seed, host[1])
		}
		b.ok(b.stream.Free(p), m.Close())
		b.close()
		b.ok(b.d.Check())
	}
	if late == 0 || late == seeds {
		t.Errorf("%d of %d streams were late", late, seeds)
	}
}

// TestFreshMemory wants memory to be full of something that is not 0, also
// where it was someone else's, and an allocation to spoil what it hands out
// when its turn comes.
func TestFreshMemory(t *testing.T) {
	b := open(t, Options{})
	for range 3 {
		p := b.alloc(1000)
		b.ok(b.gpu.Fill8(p, 0, 1000)) // at once, before the allocation's turn for all it knows
		host := make([]byte, 1000)
		b.ok(b.sync(), b.gpu.CopyToHost(host, p), b.stream.Free(p))
		if b.stream.(*stream).eager {
			continue
		}
		for i, v := range host {
			if v == 0 {
				t.Fatalf("byte %d is 0", i)
			}
		}
	}
	b.close()
	b.ok(b.d.Check())
}

// TestMemoryIsBounded runs out of memory, and counts what pools keep.
func TestMemoryIsBounded(t *testing.T) {
	b := open(t, Options{Memory: 1 << 20})
	p := b.alloc(512 << 10)
	if _, err := b.gpu.Alloc(513 << 10); !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Errorf("got %v", err)
	}
	// The pool keeps freed memory until it is trimmed.
	b.ok(b.stream.Free(p), b.sync())
	if _, err := b.gpu.Alloc(513 << 10); !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Errorf("got %v", err)
	}
	b.ok(b.pool.Trim(0))
	q, err := b.gpu.Alloc(513 << 10)
	b.ok(err)
	if free, total, err := b.gpu.MemoryInfo(); err != nil || total != 1<<20 || free != 511<<10 {
		t.Errorf("%d of %d bytes are free: %v", free, total, err)
	}
	b.ok(b.gpu.Free(q))
	b.close()
	b.ok(b.d.Check())
}

// TestInject has calls fail, and only those.
func TestInject(t *testing.T) {
	b := open(t, Options{})
	b.d.Inject(Fault{Calls: []string{"cuMemAlloc"}, Nth: 2, Times: 2, Code: OutOfMemory})
	var failed []int
	for n := 1; n <= 5; n++ {
		p, err := b.gpu.Alloc(8)
		if err != nil {
			if !errors.Is(err, cuda.ErrOutOfMemory) {
				t.Error(err)
			}
			failed = append(failed, n)
			continue
		}
		b.ok(b.gpu.Free(p))
	}
	if len(failed) != 2 || failed[0] != 2 || failed[1] != 3 {
		t.Errorf("calls %v fail", failed)
	}
	if !b.d.Heal() {
		t.Error("the fault was not reached")
	}
	if n := b.d.Calls()["cuMemAlloc"]; n != 5 {
		t.Errorf("%d calls", n)
	}
	b.d.Inject(Fault{Calls: []string{Execution}, Code: LaunchTimeout})
	if b.d.Heal() {
		t.Error("a fault that was not reached was")
	}
	b.d.Inject(Fault{Calls: []string{"cuStreamQuery"}, Code: LaunchTimeout})
	if _, err := b.stream.IsDone(); !errors.Is(err, cuda.ErrLost) {
		t.Errorf("got %v", err)
	}
	b.d.Heal()
	var since *cuda.Error
	if err := b.sync(); !errors.As(err, &since) || since.Since != "cuStreamQuery" ||
		b.gpu.Lost() == nil {
		t.Errorf("got %v", err)
	}
	// Closing what is lost leaves nothing behind, and the next context works.
	_ = errors.Join(b.stream.Close(), b.pool.Close())
	b.ok(b.gpu.Close(), b.d.Check())
	again, err := b.d.Devices()[0].OpenContext()
	b.ok(err)
	b.ok(again.Synchronize(), again.Close(), b.d.Check())
}
