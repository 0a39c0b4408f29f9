package tries

import (
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// marks is a bitmap of a sorted list that is intersected with one list after
// another: each then costs as many steps as it has values, whatever the length
// of the marked one.
type marks[K Word] struct {
	list   []K // in bits if marked
	marked bool
	bits   []uint64 // of the values from the list's first on
}

// maxMarks is the most words of a bitmap, half a megabyte: a larger one would
// not stay in the cache.
const maxMarks = 1 << 16

// take reports whether a list is marked. It marks one that it is asked for the
// second time in a row: for a single use, that would not pay.
func (m *marks[K]) take(r *work.Run, list []K) bool {
	if len(list) == 0 {
		return false
	}
	if len(m.list) != len(list) || &m.list[0] != &list[0] {
		m.clear()
		m.list = list
		return false
	}
	if m.marked {
		return true
	}
	least := list[0]
	words := uint64(list[len(list)-1]-least)/64 + 1
	if words > maxMarks {
		return false
	}
	if words > uint64(len(m.bits)) {
		work.Free(r.Mem, m.bits)
		m.bits = work.Alloc[uint64](r.Mem, "a bitmap", int(words))
	}
	for _, v := range list {
		m.bits[(v-least)/64] |= 1 << ((v - least) % 64)
	}
	m.marked = true
	return true
}

// has returns 1 for a value that is marked, else 0.
func (m *marks[K]) has(v K) int {
	at := v - m.list[0] // wraps below the first
	if at/64 >= K(len(m.bits)) {
		return 0
	}
	return int(m.bits[at/64] >> (at % 64) & 1)
}

// count returns how many values of a list are marked.
func (m *marks[K]) count(list []K) (n int) {
	bits, least := m.bits, m.list[0]
	for _, v := range list {
		at := v - least // wraps below the first
		if word := uint64(at / 64); word < uint64(len(bits)) {
			n += int(bits[word] >> (at % 64) & 1)
		}
	}
	return n
}

// clear forgets the list.
func (m *marks[K]) clear() {
	if m.marked {
		for _, v := range m.list {
			m.bits[(v-m.list[0])/64] = 0
		}
	}
	m.list, m.marked = nil, false
}
