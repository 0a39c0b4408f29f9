package hugepage

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// regionBytes is the size of the aligned regions in which Go's heap grows
// (pallocChunkBytes in its runtime). A region with any array of the heap is
// part of the heap as a whole.
const regionBytes = 4 << 20

// leastBytes is from which size on arrays are worth a look at their regions.
const leastBytes = 8 << 10

// advised has numbers of regions for which huge pages were asked for, each in
// the place that its number has modulo the length. A number that another one
// has replaced costs one more call of the kernel.
var advised [1 << 12]atomic.Uintptr

// Advise asks for huge pages under the regions of the heap in which an array
// lies, which the caller is about to fill, and returns the array. Regions are
// whole: arrays that follow in the same ones have huge pages, too. The array
// must have been allocated by Go.
func Advise[T any](s []T) []T {
	var zero T
	bytes := uintptr(cap(s)) * unsafe.Sizeof(zero)
	if bytes >= leastBytes {
		advise(uintptr(unsafe.Pointer(unsafe.SliceData(s))), bytes)
	}
	return s
}

func advise(start, bytes uintptr) {
	first, last := start/regionBytes, (start+bytes-1)/regionBytes
	for first <= last && known(first) {
		first++
	}
	if first > last {
		return
	}
	// Advice only: a kernel without huge pages is slower, not wrong.
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, first*regionBytes, (last-first+1)*regionBytes,
		unix.MADV_HUGEPAGE)
	for ; first <= last; first++ {
		advised[first%uintptr(len(advised))].Store(first)
	}
}

// known reports whether huge pages were asked for under a region.
func known(region uintptr) bool {
	return advised[region%uintptr(len(advised))].Load() == region
}
