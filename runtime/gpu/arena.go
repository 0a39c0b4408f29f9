package gpu

import (
	"cmp"
	"context"
	"slices"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// arena is the memory of a run that is captured: its addresses stay as they are for as
// long as the graph may be launched. What the run gives back it hands out again at once,
// for all that uses it is done one after the other.
type arena struct {
	mem    *memory
	stream driver.Stream // in which memory is taken and given back, not the run's
	chunks []buffer
	bytes  int64    // of the chunks
	free   []buffer // parts of chunks, by address; none of the same chunk touch
}

const (
	// arenaPart is what parts are multiples of.
	arenaPart = 256
	// arenaChunk is the least that is asked of the engine's memory at a time, where there is
	// plenty.
	arenaChunk = 4 << 20
)

// alloc returns memory, whose contents are not defined: the smallest part that is large
// enough.
func (a *arena) alloc(what string, bytes int64) (buffer, error) {
	bytes = padded(bytes, arenaPart)
	best := -1
	for i, b := range a.free {
		if b.bytes >= bytes && (best < 0 || b.bytes < a.free[best].bytes) {
			best = i
		}
	}
	if best < 0 {
		chunk, err := a.mem.alloc(a.stream, what, max(bytes, min(arenaChunk, a.mem.unheld()/plenty)))
		if err != nil {
			return buffer{}, err
		}
		a.chunks = append(a.chunks, chunk)
		a.bytes += chunk.bytes
		best, _ = slices.BinarySearchFunc(a.free, chunk.at, atAddress)
		a.free = slices.Insert(a.free, best, chunk)
	}
	b := &a.free[best]
	part := buffer{b.at, bytes}
	if b.at, b.bytes = b.at+cuda.Pointer(bytes), b.bytes-bytes; b.bytes < arenaPart {
		part.bytes += b.bytes // the end of a chunk
		a.free = slices.Delete(a.free, best, best+1)
	}
	return part, nil
}

func atAddress(b buffer, at cuda.Pointer) int { return cmp.Compare(b.at, at) }

// give takes a part back.
func (a *arena) give(part buffer) {
	at, _ := slices.BinarySearchFunc(a.free, part.at, atAddress)
	a.free = slices.Insert(a.free, at, part)
	join := func(i int) {
		if i < 0 || i+1 >= len(a.free) {
			return
		}
		low, high := &a.free[i], a.free[i+1]
		if low.at+cuda.Pointer(low.bytes) == high.at && !a.beginsChunk(high.at) {
			low.bytes += high.bytes
			a.free = slices.Delete(a.free, i+1, i+2)
		}
	}
	join(at)
	join(at - 1)
}

// beginsChunk reports whether an address is a chunk's first: chunks are given back as they
// were taken.
func (a *arena) beginsChunk(at cuda.Pointer) bool {
	return slices.ContainsFunc(a.chunks, func(c buffer) bool { return c.at == at })
}

// ready waits until the memory can be used in any stream.
func (a *arena) ready(ctx context.Context) error { return a.stream.Synchronize(ctx) }

// close gives the chunks back, which no work uses any more.
func (a *arena) close() {
	for _, c := range a.chunks {
		_ = a.mem.free(a.stream, c) // it fails on a lost device, whose memory is gone
	}
	a.chunks, a.free, a.bytes = nil, nil, 0
}
