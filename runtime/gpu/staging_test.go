package gpu

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// TestStageBuffers sends more than fits a buffer, from several goroutines, with
// as many buffers as are needed, with one, and with none.
func TestStageBuffers(t *testing.T) {
	const call = "cuMemHostAlloc"
	for nth, most := range map[int]int{0: device.StageBuffers, 1: 0, 2: 1} {
		e, d := card{Options: emulated.Options{Seed: uint64(nth)}}.open(t)
		l, err := e.lanes.Take()
		if err != nil {
			t.Fatal(err)
		}
		g := device.NewStaging(e.gpu)
		if nth > 0 {
			d.Inject(emulated.Fault{Calls: []string{call}, Nth: nth, Code: emulated.OutOfMemory})
		}
		before := d.Calls()[call]
		random := rand.New(rand.NewPCG(1, uint64(nth)))
		for _, n := range []int{1, device.DirectBytes, device.DirectBytes + 1, device.StageBytes,
			5*device.StageBytes + 3} {
			data := make([]byte, n)
			for i := range data {
				data[i] = byte(random.Uint32())
			}
			b, err := e.mem.Alloc(l.Stream, "bytes", int64(n))
			if err != nil {
				t.Fatal(err)
			}
			want, got := slices.Clone(data), make([]byte, n)
			err = g.Send(context.Background(), l.Stream, b.At, data)
			clear(data) // it was the caller's
			if err := errors.Join(err, l.Stream.CopyToHost(got, b.At), e.mem.Free(l.Stream, b),
				l.Wait(context.Background())); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d buffers at most: other bytes than the %d that were sent arrive", most,
					n)
			}
			if used := d.Calls()[call] > before; used != (n > device.DirectBytes) &&
				n <= device.DirectBytes+1 {
				t.Errorf("of %d bytes the engine pins memory: %v", n, used)
			}
		}
		d.Heal()
		if n := len(g.Made); n > most || n == 0 && most > 0 {
			t.Errorf("%d buffers were made, want at most %d", n, most)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		e.lanes.Give(l)
	}
}
