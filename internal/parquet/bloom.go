package parquet

import (
	"encoding/binary"
	"io"

	"github.com/cespare/xxhash/v2"
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

// Excludes reports whether the filter rules a value out of the column chunk.
// The value is in the PLAIN encoding, without a length.
func (b *BloomFilter) Excludes(value []byte) bool {
	hash := xxhash.Sum64(value)
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
