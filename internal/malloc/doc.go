// Package malloc sets up the C library's allocator, which serves libLLVM and
// the GPU's driver, and asks it what it has handed out.
//
// In: nothing. Out: bytes. It knows glibc's allocator and does nothing to
// others; what is in use glibc tells from 2.33 on. It imports internal/dynlib
// alone.
//
// glibc gives each thread an area of its own until there are eight for each
// core, and an area keeps pages of which anything is in use. Go moves
// goroutines between threads, of which there are as many as have ever been in
// calls of C at a time, so that what one call leaves lies spread over all
// areas. [Limit] has threads share as many areas as can be at work.
package malloc

// Use is memory of C's allocator, in bytes.
type Use struct {
	Used int64 // handed out
	Free int64 // kept for later, its pages with the system after Trim
}
