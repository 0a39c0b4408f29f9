package frontcode

import (
	"encoding/binary"
	"math/bits"

	"github.com/redfoxdb/redfox/internal/bitpack"
	"github.com/redfoxdb/redfox/internal/fsst"
	"github.com/redfoxdb/redfox/internal/parallel"
)

// Strings is the number of strings of a block.
const Strings = 64

// sampleBytes is about how much text the table of symbols is made from.
const sampleBytes = 1 << 17

// Packed are strings that were packed.
type Packed struct {
	Parts   [][]byte // blocks, one behind the other
	Ends    []uint64 // where each block ends
	Symbols []byte   // as fsst.Read reads it
}

// Bytes returns the size of the blocks.
func (p *Packed) Bytes() uint64 {
	if len(p.Ends) == 0 {
		return 0
	}
	return p.Ends[len(p.Ends)-1]
}

// blocksAtOnce is how many blocks a thread packs at a time.
const blocksAtOnce = 256

// Pack packs n strings that ascend. Those of a block have less than 4 GiB.
func Pack(threads, n int, at func(i int) string) *Packed {
	count := (n + Strings - 1) / Strings
	table := fsst.Train(sample(count, n, at))
	parts := (count + blocksAtOnce - 1) / blocksAtOnce
	out := &Packed{Parts: make([][]byte, parts), Ends: make([]uint64, count),
		Symbols: table.Append(nil)}
	parallel.Do(threads, parts, func(part int) {
		var b packing
		var data []byte
		for i := part * blocksAtOnce; i < min((part+1)*blocksAtOnce, count); i++ {
			before := len(data)
			b.collect(i*Strings, min((i+1)*Strings, n), at)
			data = b.append(data, table)
			out.Ends[i] = uint64(len(data) - before)
		}
		out.Parts[part] = data
	})
	end := uint64(0)
	for i, size := range out.Ends {
		end += size
		out.Ends[i] = end
	}
	return out
}

// sample returns suffixes of blocks that are spread over all.
func sample(count, n int, at func(i int) string) []byte {
	var out []byte
	var b packing
	// An odd step does not keep pace with a pattern of the strings.
	for tried, i := 0, 0; tried < count && len(out) < sampleBytes; tried++ {
		b.collect(i*Strings, min((i+1)*Strings, n), at)
		out = append(out, b.text...)
		i = (i + max(count*31/97, 1)) % count
	}
	return out
}

// packing is a block that is being packed.
type packing struct {
	prefixes, suffixes []uint32
	text               []byte // the suffixes
}

func (b *packing) collect(from, until int, at func(i int) string) {
	b.prefixes, b.suffixes, b.text = b.prefixes[:0], b.suffixes[:0], b.text[:0]
	before := ""
	for i := from; i < until; i++ {
		s := at(i)
		n := 0
		for n < min(len(s), len(before)) && s[n] == before[n] {
			n++
		}
		b.prefixes = append(b.prefixes, uint32(n))
		b.suffixes = append(b.suffixes, uint32(len(s)-n))
		b.text = append(b.text, s[n:]...)
		before = s
	}
}

func (b *packing) append(dst []byte, table *fsst.Table) []byte {
	width := func(list []uint32) int {
		all := uint32(0)
		for _, n := range list {
			all |= n
		}
		return bits.Len32(all)
	}
	n, one, two := len(b.prefixes), width(b.prefixes), width(b.suffixes)
	dst = append(dst, byte(one), byte(two))
	for _, part := range []struct {
		list []uint32
		bits int
	}{{b.prefixes, one}, {b.suffixes, two}} {
		at := len(dst)
		dst = append(dst, make([]byte, bitpack.Bytes(n, part.bits))...)
		if part.bits > 0 {
			bitpack.Pack(dst[at:], part.list, part.bits, 0)
		}
	}
	return table.Encode(dst, b.text)
}

// Reader unpacks blocks. It has room for one, so that each thread has its own.
type Reader struct {
	table              *fsst.Table
	prefixes, suffixes [Strings]uint32
	text, strings      []byte
}

// NewReader returns a reader of blocks with a table of symbols.
func NewReader(table *fsst.Table) *Reader { return &Reader{table: table} }

// open reads the lengths of the strings of a block, and returns its codes. Of a
// block that cannot be, the lengths are 0.
func (r *Reader) open(block []byte, n int) (codes []byte) {
	clear(r.prefixes[:n])
	clear(r.suffixes[:n])
	if len(block) < 2 || block[0] > 32 || block[1] > 32 {
		return nil
	}
	one, two := bitpack.Bytes(n, int(block[0])), bitpack.Bytes(n, int(block[1]))
	if len(block) < 2+one+two {
		return nil
	}
	bitpack.Unpack(r.prefixes[:n], block[2:], int(block[0]), 0)
	bitpack.Unpack(r.suffixes[:n], block[2+one:], int(block[1]), 0)
	// Every code stands for eight bytes at most, and no string shares more than
	// there is.
	codes = block[2+one+two:]
	left, before := uint64(8*len(codes)), uint32(0)
	for i := range n {
		r.prefixes[i] = min(r.prefixes[i], before)
		r.suffixes[i] = uint32(min(uint64(r.suffixes[i]), left))
		left -= uint64(r.suffixes[i])
		before = r.prefixes[i] + r.suffixes[i]
	}
	return codes
}

// Bytes returns how many bytes the n strings of a block have.
func (r *Reader) Bytes(block []byte, n int) int {
	r.open(block, n)
	return r.total(n)
}

func (r *Reader) total(n int) int {
	total := 0
	for i := range n {
		total += int(r.prefixes[i]) + int(r.suffixes[i])
	}
	return total
}

// Unpack writes the n strings of a block, one behind the other, to what room
// returns for their bytes, and where each ends to ends. If the block cannot be,
// it makes some strings.
func (r *Reader) Unpack(block []byte, n int, ends []uint32, room func(bytes int) []byte) {
	codes := r.open(block, n)
	suffixes := 0
	for _, length := range r.suffixes[:n] {
		suffixes += int(length)
	}
	if need := suffixes + max(fsst.Slack, short); len(r.text) < need {
		r.text = make([]byte, 2*need)
	}
	// Codes of a damaged block may be of less text than their lengths say.
	got := r.table.Decode(r.text[:suffixes+fsst.Slack], codes)
	if got < suffixes {
		clear(r.text[got:suffixes])
	}
	// Strings are put together where there is room behind them.
	total := r.total(n)
	if len(r.strings) < total+short {
		r.strings = make([]byte, 2*total+short)
	}
	dst, text, at, before := r.strings, r.text, 0, 0
	for i := range n {
		prefix, suffix := int(r.prefixes[i]), int(r.suffixes[i])
		copyText(dst[at:], dst[before:], prefix)
		copyText(dst[at+prefix:], text, suffix)
		text = text[suffix:]
		before = at
		at += prefix + suffix
		ends[i] = uint32(at)
	}
	copy(room(total), dst)
}

// short is how many bytes are copied at once.
const short = 32

// copyText copies n bytes, and up to short bytes behind them.
func copyText(dst, src []byte, n int) {
	order := binary.NativeEndian
	for at := 0; at < n; at += short {
		to, from := dst[at:at+short:at+short], src[at:at+short:at+short]
		a, b, c, d := order.Uint64(from), order.Uint64(from[8:]), order.Uint64(from[16:]),
			order.Uint64(from[24:])
		order.PutUint64(to, a)
		order.PutUint64(to[8:], b)
		order.PutUint64(to[16:], c)
		order.PutUint64(to[24:], d)
	}
}
