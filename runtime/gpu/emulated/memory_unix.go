//go:build unix

package emulated

import "golang.org/x/sys/unix"

// mapMemory returns memory outside of Go's heap.
func mapMemory(bytes int) ([]byte, error) {
	return unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

func unmapMemory(b []byte) { _ = unix.Munmap(b) }
