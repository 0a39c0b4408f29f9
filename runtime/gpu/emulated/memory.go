package emulated

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/cuda"
)

// Memory is the memory of a device, and the host memory that the device can
// access. All of it lies outside of Go's heap.
type Memory struct {
	driver *Driver
	total  uint64

	mu    sync.Mutex
	used  uint64   // of total, including what pools keep
	live  []*block // by address
	spent []*block // freed and overwritten, oldest first
	spare map[int][][]byte
	fresh byte // what new memory is filled with
}

// block is an allocation with its guards.
type block struct {
	raw   []byte // guard, memory, guard
	bytes uint64
	kind  blockKind
	// dying means that a stream will free the memory.
	dying bool
}

type blockKind uint8

const (
	ofContext blockKind = iota
	ofPool
	ofHost
	ofRegion
	ofModule
)

const (
	guardBytes = 256 // before the memory; at least as many come after it
	guardByte  = 0xe9
	spoiltByte = 0xd3
	// Bounds of the freed memory that is watched for writes.
	spentBytes  = 64 << 20
	spentBlocks = 512
)

// freshBytes are bytes that fill new memory. As a number, each is conspicuous
// in a counter, an offset or an address that was not initialised.
var freshBytes = []byte{0xa7, 0x5b, 0xff, 0x01}

func newMemory(d *Driver) *Memory {
	return &Memory{driver: d, total: d.opts.Memory, spare: map[int][][]byte{},
		fresh: freshBytes[d.number(len(freshBytes))]}
}

// base returns the address of the first byte after the guard.
func (b *block) base() cuda.Pointer {
	return cuda.Pointer(uintptr(unsafe.Pointer(&b.raw[guardBytes])))
}

func (b *block) data() []byte { return b.raw[guardBytes:][:b.bytes] }

// guards returns the guards before and after the memory, at most a page of the
// latter.
func (b *block) guards() (before, behind []byte) {
	behind = b.raw[guardBytes+b.bytes:]
	return b.raw[:guardBytes], behind[:min(len(behind), 4096)]
}

func fill(b []byte, value byte) {
	if len(b) == 0 {
		return
	}
	b[0] = value
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

func isFull(b []byte, value byte) bool {
	return len(b) == 0 || b[0] == value && bytes.Equal(b[1:], b[:len(b)-1])
}

// classOf returns the size of the mapping for some bytes with their guards, a
// power of 2.
func classOf(bytes uint64) int {
	return max(4096, 1<<bits.Len64(bytes+2*guardBytes-1))
}

// take allocates a block, without accounting for it.
func (m *Memory) take(n uint64, kind blockKind) (*block, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	class := classOf(n)
	var raw []byte
	if list := m.spare[class]; len(list) > 0 {
		raw, m.spare[class] = list[len(list)-1], list[:len(list)-1]
	} else {
		var err error
		if raw, err = mapMemory(class); err != nil {
			return nil, fmt.Errorf("no memory for an emulated device: %w", err)
		}
	}
	b := &block{raw: raw, bytes: n, kind: kind}
	before, behind := b.guards()
	fill(before, guardByte)
	fill(behind, guardByte)
	fill(b.data(), m.fresh)
	at, _ := m.search(b.base())
	m.live = slices.Insert(m.live, at, b)
	return b, nil
}

// search returns the index of the first live block at or after an address.
func (m *Memory) search(p cuda.Pointer) (int, bool) {
	return slices.BinarySearchFunc(m.live, p, func(b *block, p cuda.Pointer) int {
		switch base := b.base(); {
		case base < p:
			return -1
		case base > p:
			return 1
		}
		return 0
	})
}

// within returns the block in list that contains n bytes from p on.
func within(list []*block, p cuda.Pointer, n uint64) *block {
	for _, b := range list {
		if base := b.base(); p >= base && uint64(p-base) <= b.bytes && n <= b.bytes-uint64(p-base) {
			return b
		}
	}
	return nil
}

// blockAt returns the live block that contains n bytes from p on.
func (m *Memory) blockAt(p cuda.Pointer, n uint64) *block {
	at, exact := m.search(p)
	if exact {
		at++
	}
	if at == 0 {
		return nil
	}
	return within(m.live[at-1:at], p, n)
}

// Bytes returns n bytes of memory from an address on.
func (m *Memory) Bytes(p cuda.Pointer, n uint64) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.blockAt(p, n)
	if b == nil {
		return nil, m.nothing(p, n)
	}
	return b.data()[p-b.base():][:n:n], nil
}

// nothing returns the error of an address without memory.
func (m *Memory) nothing(p cuda.Pointer, n uint64) error {
	if within(m.spent, p, n) != nil {
		return fmt.Errorf("%d bytes at %#x, which was freed", n, p)
	}
	if b := m.blockAt(p, 0); b != nil {
		return fmt.Errorf("%d bytes from byte %d of %d on", n, p-b.base(), b.bytes)
	}
	return fmt.Errorf("%d bytes at %#x, where nothing is", n, p)
}

// Words returns n words of memory from an address on.
func (m *Memory) Words(p int64, n int64) ([]uint64, error) {
	if n < 0 || p%8 != 0 {
		return nil, fmt.Errorf("%d words at %#x", n, p)
	}
	if n == 0 {
		return nil, nil
	}
	data, err := m.Bytes(cuda.Pointer(p), uint64(8*n))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&data[0])), n), nil
}

// find returns the block of a kind that was allocated at an address.
func (m *Memory) find(p cuda.Pointer, kind blockKind) (*block, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, exact := m.search(p)
	switch {
	case !exact:
		return nil, m.nothing(p, 0)
	case m.live[at].kind != kind || m.live[at].dying:
		return nil, fmt.Errorf("memory at %#x that is freed already, or is another call's to free",
			p)
	}
	return m.live[at], nil
}

// drop frees a block: it is overwritten, and watched for a while.
func (m *Memory) drop(b *block) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check(b, "")
	at, exact := m.search(b.base())
	if !exact {
		return
	}
	m.live = slices.Delete(m.live, at, at+1)
	fill(b.data(), spoiltByte)
	m.spent = append(m.spent, b)
	m.recycle(spentBytes, spentBlocks)
}

// recycle stops watching the oldest freed blocks until at most the given bytes
// and blocks are watched.
func (m *Memory) recycle(most, blocks int) {
	held := 0
	for _, b := range m.spent {
		held += len(b.raw)
	}
	for len(m.spent) > 0 && (held > most || len(m.spent) > blocks) {
		b := m.spent[0]
		m.spent = m.spent[1:]
		held -= len(b.raw)
		m.checkSpent(b, "")
		class := len(b.raw)
		m.spare[class] = append(m.spare[class], b.raw)
	}
}

// check checks a block's guards, after a kernel or when the block is freed.
func (m *Memory) check(b *block, after string) {
	if b.kind == ofRegion {
		return // there is nothing around it
	}
	before, behind := b.guards()
	for i, guard := range [][]byte{before, behind} {
		if isFull(guard, guardByte) {
			continue
		}
		at := slices.IndexFunc(guard, func(v byte) bool { return v != guardByte })
		where := fmt.Sprintf("byte %d", b.bytes+uint64(at))
		if i == 0 {
			where = fmt.Sprintf("byte %d", at-guardBytes)
		}
		m.driver.wrong("%s of an allocation of %d bytes was written%s", where, b.bytes, after)
		fill(guard, guardByte)
	}
}

func (m *Memory) checkSpent(b *block, after string) {
	if !isFull(b.data(), spoiltByte) {
		at := slices.IndexFunc(b.data(), func(v byte) bool { return v != spoiltByte })
		m.driver.wrong("byte %d of an allocation of %d bytes was written after it was freed%s", at,
			b.bytes, after)
		fill(b.data(), spoiltByte)
	}
	m.check(b, after)
}

// checkLive checks the guards of all blocks.
func (m *Memory) checkLive(after string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.live {
		m.check(b, after)
	}
}

// checkAll checks the guards of all blocks, and freed memory.
func (m *Memory) checkAll(after string) {
	m.checkLive(after)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.spent {
		m.checkSpent(b, after)
	}
}

// end frees all memory. Live memory is reported as leaked, unless forgive is
// set.
func (m *Memory) end(forgive bool) {
	m.checkAll("")
	m.mu.Lock()
	defer m.mu.Unlock()
	names := [...]string{ofContext: "of the device's", ofPool: "of a pool's", ofHost: "of pinned",
		ofRegion: "of a region's", ofModule: "of a module's"}
	for _, b := range m.live {
		if !forgive && !b.dying {
			m.driver.wrong("%d bytes %s memory were never freed", b.bytes, names[b.kind])
		}
		unmapMemory(b.raw)
	}
	for _, b := range m.spent {
		unmapMemory(b.raw)
	}
	for _, list := range m.spare {
		for _, raw := range list {
			unmapMemory(raw)
		}
	}
	m.live, m.spent, m.spare = nil, nil, nil
}

// claim reserves bytes of the device, and reports whether there are enough.
func (m *Memory) claim(n uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > m.total-m.used {
		return false
	}
	m.used += n
	return true
}

func (m *Memory) unclaim(n uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used -= n
}
