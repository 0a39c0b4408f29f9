package store

import (
	"encoding/binary"
	"errors"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/frontcode"
	"github.com/redfoxdb/redfox/internal/fsst"
	"github.com/redfoxdb/redfox/internal/hugepage"
	"github.com/redfoxdb/redfox/internal/parallel"
)

// PackedText is the sorted strings of a dictionary, packed by
// internal/frontcode. The slices may lie in a mapped file.
type PackedText struct {
	Strings int
	Bytes   int64  // the total length of the strings
	Blocks  []byte // the blocks, concatenated
	Ends    []byte // the end of each block, in 4 bytes or, if Wide is set, in 8
	Wide    bool
	Symbols []byte
}

// packedStrings are sorted strings that are unpacked on demand: a block at a
// time, or all.
type packedStrings struct {
	PackedText
	owner any // keeps the slices alive

	table   *fsst.Table
	readers sync.Pool // of *frontcode.Reader
	// blocks are the unpacked blocks. Each has the end of each string, followed
	// by the bytes of the strings.
	blocks []atomic.Pointer[[frontcode.Strings]uint32]

	mu    sync.Mutex // held while all strings are unpacked
	whole atomic.Pointer[stringArena]
}

// PackedDict returns a dictionary of packed strings, which OpenPacked has to
// open. The strings stay valid as long as owner is reachable.
func PackedDict(text PackedText, owner any) *Dict {
	return &Dict{packed: &packedStrings{PackedText: text, owner: owner}}
}

var errPacked = errors.New("its strings are not packed as it says")

// OpenPacked checks the positions of the packed blocks. No string can be read
// before.
func (d *Dict) OpenPacked() error {
	p := d.packed
	table, err := fsst.Read(p.Symbols)
	if err != nil {
		return err
	}
	count, last := (p.Strings+frontcode.Strings-1)/frontcode.Strings, 0
	for i := range count {
		end := p.end(i)
		if end < last {
			return errPacked
		}
		last = end
	}
	if last != len(p.Blocks) {
		return errPacked
	}
	p.table = table
	p.readers.New = func() any { return frontcode.NewReader(table) }
	p.blocks = make([]atomic.Pointer[[frontcode.Strings]uint32], count)
	return nil
}

func (p *packedStrings) end(block int) int {
	if p.Wide {
		return int(binary.LittleEndian.Uint64(p.Ends[8*block:]))
	}
	return int(binary.LittleEndian.Uint32(p.Ends[4*block:]))
}

// block returns a packed block and its number of strings.
func (p *packedStrings) block(i int) (block []byte, n int) {
	from := 0
	if i > 0 {
		from = p.end(i - 1)
	}
	return p.Blocks[from:p.end(i)], min(frontcode.Strings, p.Strings-i*frontcode.Strings)
}

// at returns string i. It unpacks the string's block and keeps it.
func (p *packedStrings) at(i int) string {
	if a := p.whole.Load(); a != nil {
		return a.at(i)
	}
	b, i := i/frontcode.Strings, i%frontcode.Strings
	ends := p.blocks[b].Load()
	if ends == nil {
		ends = p.unpack(b)
	}
	from := uint32(0)
	if i > 0 {
		from = ends[i-1]
	}
	text := (*byte)(unsafe.Add(unsafe.Pointer(ends), unsafe.Sizeof(*ends)))
	return unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(text), from)), int(ends[i]-from))
}

// unpack unpacks a block. Ends and bytes share one array without pointers.
func (p *packedStrings) unpack(b int) *[frontcode.Strings]uint32 {
	r := p.readers.Get().(*frontcode.Reader)
	defer p.readers.Put(r)
	var ends [frontcode.Strings]uint32
	var room []uint32
	block, n := p.block(b)
	r.Unpack(block, n, ends[:], func(bytes int) []byte {
		room = make([]uint32, frontcode.Strings+(bytes+4)/4)
		return bytesOf(room[frontcode.Strings:])[:bytes]
	})
	copy(room, ends[:])
	out := (*[frontcode.Strings]uint32)(room)
	if !p.blocks[b].CompareAndSwap(nil, out) {
		return p.blocks[b].Load()
	}
	return out
}

// arena unpacks all strings.
func (p *packedStrings) arena() *stringArena {
	if a := p.whole.Load(); a != nil {
		return a
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.whole.Load(); a != nil {
		return a
	}
	count := len(p.blocks)
	starts := make([]int, count+1)
	const atOnce = 64 // blocks
	parts := (count + atOnce - 1) / atOnce
	each := func(f func(r *frontcode.Reader, b int)) {
		parallel.Do(min(parallel.Threads(0), parts), parts, func(part int) {
			r := p.readers.Get().(*frontcode.Reader)
			defer p.readers.Put(r)
			for b := part * atOnce; b < min((part+1)*atOnce, count); b++ {
				f(r, b)
			}
		})
	}
	each(func(r *frontcode.Reader, b int) {
		block, n := p.block(b)
		starts[b+1] = r.Bytes(block, n)
	})
	for b := range count {
		starts[b+1] += starts[b]
	}
	a := &stringArena{data: hugepage.Advise(make([]byte, starts[count]))}
	if len(a.data) < shortArena {
		a.ends = hugepage.Advise(make([]uint32, p.Strings))
	} else {
		a.wide = hugepage.Advise(make([]uint64, p.Strings))
	}
	each(func(r *frontcode.Reader, b int) {
		var ends [frontcode.Strings]uint32
		block, n := p.block(b)
		r.Unpack(block, n, ends[:], func(int) []byte { return a.data[starts[b]:starts[b+1]] })
		for i, end := range ends[:n] {
			if a.wide != nil {
				a.wide[b*frontcode.Strings+i] = uint64(starts[b]) + uint64(end)
			} else {
				a.ends[b*frontcode.Strings+i] = uint32(starts[b]) + end
			}
		}
	})
	p.whole.Store(a)
	return a
}

// scanned is how many blocks scan unpacks at a time.
const scanned = 16

// scan calls f for the strings between from and to: once for all or, if they
// are packed, for few at a time. The arguments of f are an arena, the code of
// its first string, and the range of codes to visit: the string of a code is
// number code-first of the arena. The arena is valid until f returns.
func (d *Dict) scan(from, to int, f func(a *stringArena, first, from, to int)) {
	p := d.packed
	if p == nil || p.whole.Load() != nil {
		f(d.arena(), 0, from, to)
		goruntime.KeepAlive(d)
		return
	}
	r := p.readers.Get().(*frontcode.Reader)
	defer p.readers.Put(r)
	var ends [frontcode.Strings]uint32
	a := &stringArena{}
	for from < to {
		first := from / frontcode.Strings * frontcode.Strings
		a.data, a.ends = a.data[:0], a.ends[:0]
		for b := first / frontcode.Strings; b < len(p.blocks) && len(a.ends) < min(to-first,
			scanned*frontcode.Strings); b++ {
			start := len(a.data)
			block, n := p.block(b)
			r.Unpack(block, n, ends[:], func(bytes int) []byte {
				a.data = slices.Grow(a.data, bytes)[:start+bytes]
				return a.data[start:]
			})
			for _, end := range ends[:n] {
				a.ends = append(a.ends, uint32(start)+end)
			}
		}
		until := min(to, first+len(a.ends))
		f(a, first, from, until)
		from = until
	}
}

// ReadTogether returns how many strings are unpacked to read one.
func (d *Dict) ReadTogether() int {
	if d.packed != nil && d.packed.whole.Load() == nil {
		return frontcode.Strings
	}
	return 1
}

// arena returns the sorted strings, after unpacking them if they are packed.
func (d *Dict) arena() *stringArena {
	if d.packed != nil {
		return d.packed.arena()
	}
	return &d.sorted
}

// sortedAt returns a sorted string. It is a copy if the memory may be freed
// before the string is.
func (d *Dict) sortedAt(i int) string {
	switch {
	case d.packed != nil:
		return d.packed.at(i)
	case d.sorted.owner != nil:
		defer goruntime.KeepAlive(d)
		return strings.Clone(d.sorted.at(i))
	}
	return d.sorted.at(i)
}

// PackText packs the sorted strings of the dictionary.
func (d *Dict) PackText(threads int) *frontcode.Packed {
	a := d.arena()
	return frontcode.Pack(threads, a.len(), a.at)
}

// CanPack reports whether the strings of each block are short enough to be
// packed.
func (d *Dict) CanPack() bool {
	a := d.arena()
	for i := 0; i < a.len(); i += frontcode.Strings {
		if a.start(min(i+frontcode.Strings, a.len()))-a.start(i) > 1<<31 {
			return false
		}
	}
	return true
}
