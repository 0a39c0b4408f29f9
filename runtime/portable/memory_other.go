//go:build !linux

package portable

import "unsafe"

// mapMemory returns zeroed memory of Go's heap.
func mapMemory(bytes int) ([]byte, error) {
	words := make([]uint64, (bytes+7)/8)
	return bytesOf(words)[:bytes:bytes], nil
}

func unmapMemory([]byte) {}

// bytesOf views words as bytes, so that the memory is aligned for words.
func bytesOf(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words))
}

func adviseHuge(unsafe.Pointer, int) {}
