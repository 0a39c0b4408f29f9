package emulated

import (
	"fmt"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/primitives/service"
)

// serviceKernels are the kernels of service.Base, which describes them. In
// contrast to those on a card, they check that memory that the caller has to
// zero is zero.
var serviceKernels = named(service.Base.Kernels, map[string]serviceKernel{
	"rf_states":    states,
	"rf_states_of": statesOf,
	"rf_fill":      fillWords,
	"rf_scan":      scan,
	"rf_rehash":    rehash,
	"rf_move":      move,
	"rf_rowset":    rowSet,
	"rf_extents":   extents,
})

// serviceKernel does the work of all blocks.
type serviceKernel func(m *Memory, p []int64) error

// serviceThreads is the number of threads in a block of a service kernel.
const serviceThreads = 256

// named returns the kernels of a list by name, with their numbers of
// parameters.
func named(list []*service.Kernel, runs map[string]serviceKernel) map[string]*Kernel {
	out := map[string]*Kernel{}
	for _, k := range list {
		run := runs[k.Name]
		out[k.Name] = &Kernel{Params: len(k.Params),
			Run: func(m *Memory, shape cuda.Shape, params []int64) error {
				if run == nil {
					return fmt.Errorf("not known to emulated GPUs")
				}
				m.driver.ran(k.Name)
				err := fmt.Errorf("%v threads a block, not %d, or %d bytes of shared memory, not %d",
					shape.Block, serviceThreads, shape.Shared, k.Shared)
				if volume(shape.Block) == serviceThreads && shape.Shared == k.Shared {
					err = run(m, params)
				}
				if err != nil {
					m.driver.wrong("kernel %s: %v", k.Name, err)
				}
				return err
			}}
	}
	return out
}

func states(m *Memory, p []int64) error {
	blocks, words, tiles, sharing, tile := p[1], p[2], p[3], p[4], p[5]
	to, err := m.Words(p[0], blocks*words)
	if err != nil {
		return err
	}
	clear(to)
	teams := blocks / sharing
	for b := range blocks {
		s := to[b*words:][:words]
		team, output := b/sharing, b%sharing*tile
		s[0], s[1], s[2] = uint64(team), uint64(tiles), uint64(teams)
		if team >= teams {
			s[0] = uint64(tiles)
		}
		if words > 3 {
			s[3], s[words-2], s[words-1] = uint64(output), uint64(output), uint64(sharing*tile)
		}
	}
	return nil
}

func statesOf(m *Memory, p []int64) error {
	launches, err := m.Words(p[0], service.StatesWords*p[1])
	for ; len(launches) > 0 && err == nil; launches = launches[service.StatesWords:] {
		var one [service.StatesWords]int64
		for i := range one {
			one[i] = int64(launches[i])
		}
		err = states(m, one[:])
	}
	return err
}

func fillWords(m *Memory, p []int64) error {
	to, err := m.Words(p[0], p[1])
	for i := range to {
		to[i] = uint64(p[2])
	}
	return err
}

func scan(m *Memory, p []int64) error {
	words, err := m.Words(p[0], p[1])
	if err != nil {
		return err
	}
	scratch, err := m.Words(p[3], service.ScanScratch(p[1])/8)
	if err != nil {
		return err
	}
	if err := wantZero("scratch", scratch); err != nil {
		return err
	}
	sum := uint64(0)
	for i, w := range words {
		if words[i] = sum; p[2] != 0 {
			words[i] += w
		}
		sum += w
	}
	return nil
}

func wantZero(what string, words []uint64) error {
	for i, w := range words {
		if w != 0 {
			return fmt.Errorf("word %d of %d of the %s is %#x and not 0", i, len(words), what, w)
		}
	}
	return nil
}

// mix is rf_hash64.
func mix(v uint64) uint64 {
	v ^= v >> 33
	v *= 0xff51afd7ed558ccd
	v ^= v >> 33
	v *= 0xc4ceb9fe1a85ec53
	return v ^ v>>33
}

// set returns the words of a set64.
func (m *Memory) set(at, mask int64) ([]uint64, error) {
	if mask < 0 || mask&(mask+1) != 0 {
		return nil, fmt.Errorf("a set whose mask is %#x", mask)
	}
	return m.Words(at, mask+2)
}

// enter puts a key into a set and returns its slot, or -1 if none is free.
func enter(slots []uint64, key uint64) int64 {
	mask := uint64(len(slots) - 2)
	if key == 0 {
		slots[mask+1] = 1
		return int64(mask) + 1
	}
	at := mix(key) & mask
	for range mask + 1 {
		if slots[at] == 0 || slots[at] == key {
			slots[at] = key
			return int64(at)
		}
		at = (at + 1) & mask
	}
	return -1
}

func extents(m *Memory, p []int64) error {
	n := p[1]
	begins, err := m.Words(p[0], n+1)
	if err != nil {
		return err
	}
	to, err := m.Words(p[2], 2*n)
	for i := range to[:len(to)/2] {
		to[2*i], to[2*i+1] = begins[i]|begins[i+1]<<32, begins[i+1]
	}
	return err
}

func rehash(m *Memory, p []int64) error {
	from, err := m.set(p[0], p[1])
	if err != nil {
		return err
	}
	to, err := m.set(p[2], p[3])
	if err != nil {
		return err
	}
	if len(to) < len(from) {
		return fmt.Errorf("from %d slots to %d", len(from), len(to))
	}
	if err := wantZero("new set", to); err != nil {
		return err
	}
	var moved []uint64
	if p[4] != 0 {
		if moved, err = m.Words(p[4], int64(len(from))); err != nil {
			return err
		}
	}
	for slot, key := range from {
		at := int64(-1)
		if key != 0 {
			if slot == len(from)-1 {
				key = 0
			}
			if at = enter(to, key); at < 0 {
				return fmt.Errorf("no slot of %d is free", len(to))
			}
		}
		if moved != nil {
			moved[slot] = uint64(at)
		}
	}
	return nil
}

func move(m *Memory, p []int64) error {
	slots, each := p[1], p[2]
	moved, err := m.Words(p[0], slots)
	if err != nil {
		return err
	}
	from, err := m.Words(p[3], slots*each)
	if err != nil {
		return err
	}
	for slot, at := range moved {
		if int64(at) < 0 {
			continue
		}
		to, err := m.Words(p[4]+8*int64(at)*each, each)
		if err != nil {
			return err
		}
		copy(to, from[int64(slot)*each:])
	}
	return nil
}

func rowSet(m *Memory, p []int64) error {
	const rowBits, firstRow = 40, 2
	mask, rows := p[1], p[4]
	if mask < 0 || mask&(mask+1) != 0 || rows > mask {
		return fmt.Errorf("%d rows in a set whose mask is %#x", rows, mask)
	}
	slots, err := m.Words(p[0], mask+1)
	if err != nil {
		return err
	}
	if err := wantZero("row set", slots); err != nil {
		return err
	}
	addresses, err := m.Words(p[2], p[3])
	if err != nil {
		return err
	}
	columns := make([][]uint64, len(addresses))
	for c, at := range addresses {
		if columns[c], err = m.Words(int64(at), rows); err != nil {
			return err
		}
	}
	for row := range rows {
		hash := uint64(0)
		for c, words := range columns {
			if c == 0 {
				hash = mix(words[row])
			} else {
				hash = mix(hash*0x9e3779b97f4a7c15 + words[row])
			}
		}
		at := hash & uint64(mask)
		for slots[at] != 0 {
			at = (at + 1) & uint64(mask)
		}
		slots[at] = hash>>rowBits<<rowBits | uint64(row+firstRow)
	}
	return nil
}
