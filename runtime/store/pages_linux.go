package store

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of the larger pages that Linux backs memory with if it
// is asked to.
const hugePage = 2 << 20

// adviseHuge asks for huge pages for memory that is about to be touched for the
// first time: with a fault for each 4 KiB, the kernel, in which one thread of a
// process at a time takes memory, would bound the rate at which all of them
// fill columns.
func adviseHuge[T unsigned](s []T) {
	if len(s) == 0 {
		return
	}
	bytes := bytesOf(s)
	before := int(-uintptr(unsafe.Pointer(&s[0])) & (hugePage - 1))
	if whole := (len(bytes) - before) &^ (hugePage - 1); whole > 0 {
		// Advice only: a kernel without huge pages is slower, not wrong.
		_ = unix.Madvise(bytes[before:before+whole], unix.MADV_HUGEPAGE)
	}
}
