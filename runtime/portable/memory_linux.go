package portable

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size from which the kernel is asked for huge pages: random
// probes of a large hash table are bound by misses of the translation buffer
// otherwise.
const hugePage = 2 << 20

var pageSize = uintptr(os.Getpagesize())

// mapMemory returns zeroed anonymous memory. From the size of a huge page on it
// starts at the boundary of one.
func mapMemory(bytes int) ([]byte, error) {
	size := (uintptr(bytes) + pageSize - 1) &^ (pageSize - 1)
	if bytes < hugePage {
		raw, err := unix.MmapPtr(-1, 0, nil, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			return nil, err
		}
		return unsafe.Slice((*byte)(raw), bytes), nil
	}
	raw, err := unix.MmapPtr(-1, 0, nil, size+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	// Give the ends back that stick out of the aligned part.
	before := -uintptr(raw) & (hugePage - 1)
	if before > 0 {
		_ = unix.MunmapPtr(raw, before)
	}
	start := unsafe.Add(raw, before)
	if after := hugePage - before; after > 0 {
		_ = unix.MunmapPtr(unsafe.Add(start, size), after)
	}
	mapped := unsafe.Slice((*byte)(start), bytes)
	// Advice only: a kernel without huge pages is slower, not wrong.
	_ = unix.Madvise(unsafe.Slice((*byte)(start), size), unix.MADV_HUGEPAGE)
	return mapped, nil
}

func unmapMemory(raw []byte) {
	size := (uintptr(len(raw)) + pageSize - 1) &^ (pageSize - 1)
	_ = unix.MunmapPtr(unsafe.Pointer(&raw[0]), size)
}

// adviseHuge asks for huge pages under a large array of Go's heap that is about
// to be filled: a page fault for every 4 KiB costs more than the filling.
func adviseHuge(start unsafe.Pointer, bytes int) {
	before := -uintptr(start) & (hugePage - 1)
	if uintptr(bytes) < before+hugePage {
		return
	}
	size := (uintptr(bytes) - before) &^ (hugePage - 1)
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(start, before)), size), unix.MADV_HUGEPAGE)
}
