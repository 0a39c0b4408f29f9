package device

import (
	"cmp"
	"context"
	"slices"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// Arena is the memory of a captured run. Its addresses stay valid as long as
// the graph may be launched. Memory that the run frees is reused at once,
// because the commands of a run execute in order.
type Arena struct {
	Memory *Memory
	Stream driver.Stream // for allocating and freeing chunks; not the run's stream
	chunks []Buffer
	Bytes  int64    // total size of the chunks
	free   []Buffer // free parts of chunks, by address; adjacent parts are merged
}

const (
	// arenaPart is the unit of part sizes, in bytes.
	arenaPart = 256
	// arenaChunk is the smallest chunk, in bytes, unless memory is scarce.
	arenaChunk = 4 << 20
)

// Alloc returns memory with undefined contents. It takes the smallest free part
// that is large enough.
func (a *Arena) Alloc(what string, bytes int64) (Buffer, error) {
	bytes = padded(bytes, arenaPart)
	best := -1
	for i, b := range a.free {
		if b.Bytes >= bytes && (best < 0 || b.Bytes < a.free[best].Bytes) {
			best = i
		}
	}
	if best < 0 {
		size := max(bytes, min(arenaChunk, a.Memory.Unheld()/plenty))
		chunk, err := a.Memory.Alloc(a.Stream, what, size)
		if err != nil {
			return Buffer{}, err
		}
		a.chunks = append(a.chunks, chunk)
		a.Bytes += chunk.Bytes
		best, _ = slices.BinarySearchFunc(a.free, chunk.At, atAddress)
		a.free = slices.Insert(a.free, best, chunk)
	}
	b := &a.free[best]
	part := Buffer{b.At, bytes}
	if b.At, b.Bytes = b.At+cuda.Pointer(bytes), b.Bytes-bytes; b.Bytes < arenaPart {
		part.Bytes += b.Bytes // the rest is the end of a chunk
		a.free = slices.Delete(a.free, best, best+1)
	}
	return part, nil
}

func atAddress(b Buffer, at cuda.Pointer) int { return cmp.Compare(b.At, at) }

// give makes a part free.
func (a *Arena) give(part Buffer) {
	at, _ := slices.BinarySearchFunc(a.free, part.At, atAddress)
	a.free = slices.Insert(a.free, at, part)
	join := func(i int) {
		if i < 0 || i+1 >= len(a.free) {
			return
		}
		low, high := &a.free[i], a.free[i+1]
		if low.At+cuda.Pointer(low.Bytes) == high.At && !a.beginsChunk(high.At) {
			low.Bytes += high.Bytes
			a.free = slices.Delete(a.free, i+1, i+2)
		}
	}
	join(at)
	join(at - 1)
}

// beginsChunk reports whether an address is the first of a chunk. Parts do not
// merge across chunks, because each chunk is freed as it was allocated.
func (a *Arena) beginsChunk(at cuda.Pointer) bool {
	return slices.ContainsFunc(a.chunks, func(c Buffer) bool { return c.At == at })
}

// Ready waits until any stream can use the memory.
func (a *Arena) Ready(ctx context.Context) error { return a.Stream.Synchronize(ctx) }

// Close frees the chunks. No work may use them any more.
func (a *Arena) Close() {
	for _, c := range a.chunks {
		_ = a.Memory.Free(a.Stream, c) // fails on a lost device, whose memory is gone
	}
	a.chunks, a.free, a.Bytes = nil, nil, 0
}
