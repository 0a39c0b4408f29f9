// Package malloc asks the C library's allocator, which serves libLLVM and the GPU's
// driver, what it has handed out.
//
// In: nothing. Out: bytes. It knows glibc's allocator, from 2.33 on; of others it says
// nothing. It is for those who look at a process's memory, not for engines, and imports
// internal/dynlib alone.
package malloc

// Use is memory of C's allocator, in bytes.
type Use struct {
	Used int64 // handed out
	Free int64 // kept for later, its pages with the system after Trim
}
