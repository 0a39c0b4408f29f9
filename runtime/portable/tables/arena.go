package tables

import (
	"math"
	"math/bits"

	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// arena holds runs of rows in one array, each with room for a power of two of
// them. A run that is full moves to twice the room, and the room that it leaves
// goes to the next run that needs as much: the array stays below four times the
// rows in use.
type arena[T uint32 | uint64] struct {
	mem    *work.Memory
	name   string
	stride int // words of a row, at least one
	words  []T
	used   int // rows handed out or free
	// vacant holds, for each size, 1 + the place of a free room; the first word
	// of a free room holds the same for the next one.
	vacant [33]uint32
}

// leastRoom is the room of a new run, in rows.
const leastRoom = 2

// take returns the place of free room for a power of two of rows.
func (a *arena[T]) take(room int) uint32 {
	list := &a.vacant[bits.TrailingZeros(uint(room))]
	if *list != 0 {
		place := *list - 1
		*list = uint32(a.words[int(place)*a.stride])
		return place
	}
	if a.used+room >= math.MaxUint32 {
		work.Abort(work.TooManyRows(a.name))
	}
	a.words = work.Regrow(a.mem, a.name, a.words, (a.used+room)*a.stride)
	a.words = a.words[:cap(a.words)]
	place := uint32(a.used)
	a.used += room
	return place
}

// move takes a run of n rows, as many as its room, to twice the room and
// returns its place.
func (a *arena[T]) move(place, n uint32) uint32 {
	to := a.take(max(leastRoom, 2*int(n)))
	if n > 0 {
		from := int(place) * a.stride
		copy(a.words[int(to)*a.stride:], a.words[from:from+int(n)*a.stride])
		list := &a.vacant[bits.TrailingZeros32(n)]
		a.words[from] = T(*list)
		*list = place + 1
	}
	return to
}

func (a *arena[T]) reset() {
	work.Free(a.mem, a.words)
	*a = arena[T]{mem: a.mem, name: a.name, stride: a.stride}
}
