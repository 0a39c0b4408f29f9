// Package hugepage asks the kernel for huge pages under large arrays of Go's
// heap.
//
// In: arrays that are about to be filled. Out: advice to the kernel, which
// changes no result. It imports no other package of redfox.
//
// A page fault for each 4 KiB costs more than to fill them. Go's runtime leaves
// the size of pages to the kernel, and many distributions give huge pages only
// to memory for which a process asks.
package hugepage
