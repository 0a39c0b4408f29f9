package device

import (
	"cmp"
	"context"
	"slices"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// Arena is the memory of a captured run. Its addresses stay as long as the
// graph may be launched. Memory that the run frees is handed out again at once,
// because the run's commands follow each other.
type Arena struct {
	Memory *Memory
	Stream driver.Stream // in which memory is taken and given back, not the run's
	chunks []Buffer
	Bytes  int64    // of the chunks
	free   []Buffer // parts of chunks, by address; none of the same chunk touch
}

const (
	// arenaPart is what parts are multiples of.
	arenaPart = 256
	// arenaChunk is the least that is asked of the engine's memory at a time,
	// where there is plenty.
	arenaChunk = 4 << 20
)

// Alloc returns memory, whose contents are not defined: the smallest part that
// is large enough.
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
		part.Bytes += b.Bytes // the end of a chunk
		a.free = slices.Delete(a.free, best, best+1)
	}
	return part, nil
}

func atAddress(b Buffer, at cuda.Pointer) int { return cmp.Compare(b.At, at) }

// give takes a part back.
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

// beginsChunk reports whether an address is a chunk's first: chunks are given
// back as they were taken.
func (a *Arena) beginsChunk(at cuda.Pointer) bool {
	return slices.ContainsFunc(a.chunks, func(c Buffer) bool { return c.At == at })
}

// Ready waits until the memory can be used in any stream.
func (a *Arena) Ready(ctx context.Context) error { return a.Stream.Synchronize(ctx) }

// Close gives the chunks back, which no work uses any more.
func (a *Arena) Close() {
	for _, c := range a.chunks {
		_ = a.Memory.Free(a.Stream, c) // it fails on a lost device, whose memory is gone
	}
	a.chunks, a.free, a.Bytes = nil, nil, 0
}
