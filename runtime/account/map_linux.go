package account

import (
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size from which the kernel is asked for huge pages, which
// spare most misses of the translation buffer.
const hugePage = 2 << 20

var pageSize = uintptr(os.Getpagesize())

func pages(bytes int) uintptr { return (uintptr(bytes) + pageSize - 1) &^ (pageSize - 1) }

// mapMemory returns zeroed memory. From the size of a huge page on it starts at
// the boundary of one, and asks for huge pages if it is told to.
func mapMemory(bytes int, huge bool) (unsafe.Pointer, error) {
	size, extra := pages(bytes), uintptr(0)
	if bytes >= hugePage {
		extra = hugePage
	}
	raw, err := unix.MmapPtr(-1, 0, nil, size+extra, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil || extra == 0 {
		return raw, err
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
	advice := unix.MADV_HUGEPAGE
	if !huge {
		advice = unix.MADV_NOHUGEPAGE
	}
	// Advice only: a kernel without huge pages is slower, not wrong.
	_ = unix.Madvise(unsafe.Slice((*byte)(start), size), advice)
	return start, nil
}

// remapMemory makes mapped memory larger without copying it: its pages move to
// another range of addresses.
func remapMemory(old unsafe.Pointer, had, bytes int) (unsafe.Pointer, error) {
	if pages(had) == pages(bytes) {
		return old, nil
	}
	to, err := mapMemory(bytes, true)
	if err != nil {
		return nil, err
	}
	if _, err := unix.MremapPtr(old, pages(had), to, pages(had),
		unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED); err != nil {
		unmapMemory(to, bytes)
		return nil, err
	}
	return to, nil
}

// shrinkMemory gives back what lies behind the first bytes of mapped memory,
// and returns how many are left.
func shrinkMemory(p unsafe.Pointer, had, bytes int) int {
	if pages(bytes) < pages(had) {
		_ = unix.MunmapPtr(unsafe.Add(p, pages(bytes)), pages(had)-pages(bytes))
	}
	return bytes
}

// machineMemory returns how many bytes of memory the machine has.
var machineMemory = sync.OnceValue(func() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 1 << 62
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit))
})

func unmapMemory(p unsafe.Pointer, bytes int) { _ = unix.MunmapPtr(p, pages(bytes)) }
