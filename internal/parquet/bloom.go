package parquet

import (
	"encoding/binary"
	"io"
	"math/bits"
)

// BloomFilter is the split-block Bloom filter of a column chunk (Putze,
// Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007;
// Apache Parquet, "Bloom Filter"). It is read a block at a time.
type BloomFilter struct {
	file   io.ReaderAt
	at     int64 // of the first block
	blocks uint64
}

// The bytes of a block, and how many are read for a header, which is shorter.
const (
	blockBytes  = 32
	bloomHeader = 64
)

// bloomFilterHeader stands before the blocks.
type bloomFilterHeader struct {
	Bytes       int32       `thrift:"1"`
	Algorithm   bloomChoice `thrift:"2"`
	Hash        bloomChoice `thrift:"3"`
	Compression bloomChoice `thrift:"4"`
}

// bloomChoice is a union of which only the first field is defined: split
// blocks, XXH64, and no compression.
type bloomChoice struct {
	First *struct{} `thrift:"1"`
}

// BloomFilter returns the filter of a column in a row group, or nil if there is
// none that can be read.
func (f *Footer) BloomFilter(file io.ReaderAt, size int64, group, column int) *BloomFilter {
	at := f.Groups[group].Chunks[column].Meta.Bloom
	if at == nil || *at <= 0 || *at > size-bloomHeader {
		return nil
	}
	var data [bloomHeader]byte
	var h bloomFilterHeader
	if readAt(file, data[:], *at) != nil {
		return nil
	}
	n, err := unmarshal(data[:], &h)
	if err != nil || h.Algorithm.First == nil || h.Hash.First == nil ||
		h.Compression.First == nil || h.Bytes < blockBytes || h.Bytes%blockBytes != 0 ||
		int64(h.Bytes) > size-*at-int64(n) {
		return nil
	}
	return &BloomFilter{file, *at + int64(n), uint64(h.Bytes) / blockBytes}
}

// salts choose a bit in each of the eight words of a block.
var salts = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b,
	0x9efc4947, 0x5c6bfb31}

// Excludes reports whether a value, as PLAIN bytes without a length, is none of
// the column chunk.
func (b *BloomFilter) Excludes(value []byte) bool {
	hash := xxh64(value)
	var block [blockBytes]byte
	if readAt(b.file, block[:], b.at+blockBytes*int64(hash>>32*b.blocks>>32)) != nil {
		return false
	}
	for i, salt := range salts {
		bit := uint32(hash) * salt >> 27
		if binary.LittleEndian.Uint32(block[4*i:])>>bit&1 == 0 {
			return true
		}
	}
	return false
}

// The primes of XXH64.
const (
	prime1 uint64 = 0x9e3779b185ebca87
	prime2 uint64 = 0xc2b2ae3d27d4eb4f
	prime3 uint64 = 0x165667b19e3779f9
	prime4 uint64 = 0x85ebca77c2b2ae63
	prime5 uint64 = 0x27d4eb2f165667c5
)

// xxh64 is XXH64 with seed 0 (Collet, "xxHash fast digest algorithm").
func xxh64(data []byte) uint64 {
	hash, n := prime5, uint64(len(data))
	if len(data) >= 32 {
		lanes := [4]uint64{prime1, prime2}
		lanes[0] += prime2
		lanes[3] -= prime1
		for ; len(data) >= 32; data = data[32:] {
			for i := range lanes {
				lanes[i] = xxhRound(lanes[i], binary.LittleEndian.Uint64(data[8*i:]))
			}
		}
		hash = bits.RotateLeft64(lanes[0], 1) + bits.RotateLeft64(lanes[1], 7) +
			bits.RotateLeft64(lanes[2], 12) + bits.RotateLeft64(lanes[3], 18)
		for _, lane := range lanes {
			hash = (hash^xxhRound(0, lane))*prime1 + prime4
		}
	}
	hash += n
	for ; len(data) >= 8; data = data[8:] {
		hash ^= xxhRound(0, binary.LittleEndian.Uint64(data))
		hash = bits.RotateLeft64(hash, 27)*prime1 + prime4
	}
	if len(data) >= 4 {
		hash ^= uint64(binary.LittleEndian.Uint32(data)) * prime1
		hash = bits.RotateLeft64(hash, 23)*prime2 + prime3
		data = data[4:]
	}
	for _, b := range data {
		hash ^= uint64(b) * prime5
		hash = bits.RotateLeft64(hash, 11) * prime1
	}
	hash = (hash ^ hash>>33) * prime2
	hash = (hash ^ hash>>29) * prime3
	return hash ^ hash>>32
}

func xxhRound(lane, input uint64) uint64 {
	return bits.RotateLeft64(lane+input*prime2, 31) * prime1
}
