package native

import (
	"unsafe"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/account"
)

// begin empties the set for expected tuples whose word of column col is one of
// values words from base. The set becomes a bit set if that is no larger than
// preferred bytes or than a hash table. It keeps its memory if that is large
// enough; wipe has cleared the bits.
func (s *tupleSet) begin(col int, base int64, values uint64, expected, preferred int) error {
	if s.lay.Form == abi.Wide {
		s.rows.Zero(s.rows.Bytes)
		return nil
	}
	field := &s.lay.Fields[col]
	field.Base = base
	s.lay.Size = values << field.Shift
	if s.lay.Size>>field.Shift != values {
		s.lay.Size = 0 // 2^64 or more
	}
	bytes, slots := s.lay.BitmapBytes(), slotsFor(expected)
	if bytes > 0 && bytes <= max(preferred, 8*slots) {
		s.form = abi.Direct
		if s.bits.Bytes >= bytes {
			return nil
		}
		s.bits.Free()
		return s.bits.Alloc(s.mem, s.what, bytes)
	}
	s.form = abi.Hash
	if size := 8 * (slots + 1); s.keys.Bytes >= size {
		s.keys.mask = uint64(slots - 1)
		s.keys.Zero(size)
		return nil
	}
	s.keys.Free()
	return s.keys.make(s.mem, s.what, slots)
}

// wipe clears the bits of a relation's tuples. If the tuples are few, it clears
// them one by one.
func (s *tupleSet) wipe(r *relation) {
	if s.form != abi.Direct {
		return
	}
	bytes := s.lay.BitmapBytes()
	if r.rows() > bytes/wipeBytes {
		s.bits.Zero(bytes)
		return
	}
	set := unsafe.Slice((*uint32)(s.bits.Data), s.bits.Bytes/4)
	s.pack(r, func(key uint64) { set[key/32] = 0 })
}

// wipeBytes is the number of bytes that can be cleared together in the time of
// clearing one tuple's bit.
const wipeBytes = 64

// enter inserts the tuples of a relation, which are distinct, into the empty
// set.
func (s *tupleSet) enter(r *relation) {
	switch s.form {
	case abi.Direct:
		set := unsafe.Slice((*uint32)(s.bits.Data), s.bits.Bytes/4)
		s.pack(r, func(key uint64) { set[key/32] |= 1 << (key % 32) })
	case abi.Numbered:
		s.enterNumbered(r)
	case abi.Hash:
		slots := account.Words(&s.keys.Region)
		s.pack(r, func(key uint64) { s.keys.put(slots, key) })
	case abi.Wide:
		s.rows.enter(account.Words(&s.rows.Region), r.wideColumns(), r.rows())
	}
}

// pack calls visit for the packed key of each tuple of a relation.
func (s *tupleSet) pack(r *relation, visit func(key uint64)) {
	var keys [packBlock]uint64
	var block [packBlock]int64
	for from := 0; from < r.rows(); from += packBlock {
		n := min(packBlock, r.rows()-from)
		clear(keys[:n])
		for i, f := range s.lay.Fields {
			if f.Bits == 0 {
				continue
			}
			r.cols[i].Read(block[:n], from)
			for k, w := range block[:n] {
				keys[k] |= (uint64(w) - uint64(f.Base)) << (f.Shift & 63)
			}
		}
		for _, key := range keys[:n] {
			visit(key)
		}
	}
}

// packBlock is the number of keys that are packed at a time.
const packBlock = 256
