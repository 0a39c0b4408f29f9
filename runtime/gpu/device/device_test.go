package device

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// card is an emulated GPU with its memory and lanes.
type card struct {
	*emulated.Driver
	mem   *Memory
	lanes Lanes
}

// open opens a card, which must not leak.
func open(t *testing.T, o emulated.Options) *card {
	t.Helper()
	c := &card{Driver: emulated.New(o)}
	gpu, err := c.Devices()[0].OpenContext()
	if err != nil {
		t.Fatal(err)
	}
	if c.mem, err = NewMemory(gpu, 0); err != nil {
		t.Fatal(err)
	}
	c.mem.Evict = func(int64) bool { return false }
	c.lanes.GPU = gpu
	t.Cleanup(func() {
		if held := c.mem.Use().Held; held != 0 {
			t.Errorf("%d bytes are held", held)
		}
		err := errors.Join(c.lanes.Close(), c.mem.Close(), gpu.Close(), c.Check())
		if err != nil {
			t.Error(err)
		}
	})
	return c
}

// lane takes a lane, which the end of the test gives back.
func (c *card) lane(t *testing.T) *Lane {
	t.Helper()
	l, err := c.lanes.Take()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestArena takes and gives parts in a random order: none overlap, and none are
// lost.
func TestArena(t *testing.T) {
	c := open(t, emulated.Options{})
	l := c.lane(t)
	a := &Arena{Memory: c.mem, Stream: l.Stream}
	rng := rand.New(rand.NewPCG(5, 9))
	taken := map[cuda.Pointer]int64{}
	for range 2000 {
		if rng.IntN(2) == 0 || len(taken) == 0 {
			b, err := a.Alloc("a part", rng.Int64N(1<<rng.IntN(18)))
			if err != nil {
				t.Fatal(err)
			}
			for at, bytes := range taken {
				if b.At < at+cuda.Pointer(bytes) && at < b.At+cuda.Pointer(b.Bytes) {
					t.Fatalf("%d bytes at %#x overlap %d at %#x", b.Bytes, b.At, bytes, at)
				}
			}
			taken[b.At] = b.Bytes
			continue
		}
		for at, bytes := range taken {
			a.give(Buffer{At: at, Bytes: bytes})
			delete(taken, at)
			break
		}
	}
	for at, bytes := range taken {
		a.give(Buffer{At: at, Bytes: bytes})
	}
	if len(a.free) != len(a.chunks) {
		t.Errorf("%d parts of %d chunks", len(a.free), len(a.chunks))
	}
	for i, chunk := range a.chunks {
		if !slices.Contains(a.free, chunk) {
			t.Errorf("chunk %d is not whole again", i)
		}
	}
	a.Close()
	if err := l.Wait(context.Background()); err != nil {
		t.Error(err)
	}
	c.lanes.Give(l)
}

// TestLanes gives more lanes back than are kept, and one that is large.
func TestLanes(t *testing.T) {
	c := open(t, emulated.Options{})
	var all []*Lane
	for range mostIdle + 3 {
		l, err := c.lanes.Take()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	for _, l := range all {
		c.lanes.Give(l)
	}
	if n := len(c.lanes.idle); n != mostIdle {
		t.Errorf("%d lanes are kept of %d", n, len(all))
	}
	large, err := c.lanes.Take()
	if err == nil {
		err = large.Fit(0, 0, 3*ResultWords)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.lanes.Give(large)
	if n := len(c.lanes.idle); n != mostIdle-1 {
		t.Errorf("%d lanes are kept beside a large one", n)
	}
	if err := c.lanes.Trim(); err != nil {
		t.Fatal(err)
	}
	if n := len(c.lanes.idle); n != 0 {
		t.Errorf("%d lanes are kept after a trim", n)
	}
}

// TestStaging sends more than fits a buffer, from several goroutines, with
// as many buffers as are needed, with one, and with none.
func TestStaging(t *testing.T) {
	const call = "cuMemHostAlloc"
	for nth, most := range map[int]int{0: StageBuffers, 1: 0, 2: 1} {
		c := open(t, emulated.Options{Seed: uint64(nth)})
		l := c.lane(t)
		g := NewStaging(c.mem.GPU)
		if nth > 0 {
			c.Inject(emulated.Fault{Calls: []string{call}, Nth: nth, Code: emulated.OutOfMemory})
		}
		before := c.Calls()[call]
		random := rand.New(rand.NewPCG(1, uint64(nth)))
		for _, n := range []int{1, directBytes, directBytes + 1, stageBytes,
			5*stageBytes + 3} {
			data := make([]byte, n)
			for i := range data {
				data[i] = byte(random.Uint32())
			}
			b, err := c.mem.Alloc(l.Stream, "bytes", int64(n))
			if err != nil {
				t.Fatal(err)
			}
			want, got := slices.Clone(data), make([]byte, n)
			err = g.Send(context.Background(), l.Stream, b.At, data)
			clear(data) // it was the caller's
			if err := errors.Join(err, l.Stream.CopyToHost(got, b.At), c.mem.Free(l.Stream, b),
				l.Wait(context.Background())); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d buffers at most: other bytes than the %d that were sent arrive", most,
					n)
			}
			if used := c.Calls()[call] > before; used != (n > directBytes) &&
				n <= directBytes+1 {
				t.Errorf("of %d bytes the engine pins memory: %v", n, used)
			}
		}
		c.Heal()
		if n := len(g.made); n > most || n == 0 && most > 0 {
			t.Errorf("%d buffers were made, want at most %d", n, most)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		c.lanes.Give(l)
	}
}

// TestPut sends more words than fit the pinned memory for them.
func TestPut(t *testing.T) {
	for seed := range uint64(10) {
		c := open(t, emulated.Options{Seed: seed})
		l := c.lane(t)
		words := make([]int64, 3*ringWords+5)
		for i := range words {
			words[i] = int64(i)
		}
		b, err := c.mem.Alloc(l.Stream, "words", int64(8*len(words)))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.put(context.Background(), b.At, words...); err != nil {
			t.Fatal(err)
		}
		got := make([]int64, len(words))
		if err := errors.Join(l.Stream.CopyToHost(BytesOf(got), b.At),
			c.mem.Free(l.Stream, b), l.Wait(context.Background())); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, words) {
			t.Errorf("seed %d: other words arrive", seed)
		}
		c.lanes.Give(l)
	}
}

// TestSteady counts what a run holds of the pool, which another process is to
// make available, and not its regions.
func TestSteady(t *testing.T) {
	c := open(t, emulated.Options{})
	c.mem.RegionBytes = 1 << 16
	l := c.lane(t)
	r := &Run{Ctx: context.Background(), Memory: c.mem, Lane: l, Owned: map[cuda.Pointer]int64{}}
	r.Slab.Closed = true
	var small, large Buffer
	if err := errors.Join(r.Alloc(&small, "a small buffer", 1000),
		r.Alloc(&large, "a large buffer", 1<<20)); err != nil {
		t.Fatal(err)
	}
	r.Settled()
	if r.Steady != small.Bytes || r.Peak != small.Bytes+large.Bytes {
		t.Errorf("of %d and %d bytes %d are the pool's, of %d", small.Bytes, large.Bytes, r.Steady,
			r.Peak)
	}
	if err := r.Drop(&large); err != nil {
		t.Fatal(err)
	}
	if r.held != small.Bytes || r.inRegions != 0 {
		t.Errorf("without the large one %d bytes are held, %d in regions", r.held, r.inRegions)
	}
	if err := r.GiveBack(); err != nil {
		t.Fatal(err)
	}
	c.lanes.Give(l)
}
