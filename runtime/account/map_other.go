//go:build !linux

package account

import (
	"sync"
	"unsafe"
)

// heap keeps what stands for mapped memory.
var heap sync.Map

// mapMemory returns zeroed memory of Go's heap.
func mapMemory(bytes int, _ bool) (unsafe.Pointer, error) {
	words := make([]uint64, (bytes+7)/8)
	p := unsafe.Pointer(&words[0])
	heap.Store(p, words)
	return p, nil
}

func remapMemory(old unsafe.Pointer, had, bytes int) (unsafe.Pointer, error) {
	to, err := mapMemory(bytes, true)
	if err == nil {
		copy(unsafe.Slice((*byte)(to), had), unsafe.Slice((*byte)(old), had))
		unmapMemory(old, had)
	}
	return to, err
}

// shrinkMemory gives nothing back.
func shrinkMemory(_ unsafe.Pointer, had, _ int) int { return had }

func unmapMemory(p unsafe.Pointer, _ int) { heap.Delete(p) }

// machineMemory returns how many bytes of memory the machine has: nobody knows.
func machineMemory() int64 { return 1 << 62 }

// Available returns how many bytes of memory the system can give to this
// process, 0 because nobody knows.
func Available() int64 { return 0 }
