package portable

import "golang.org/x/sys/unix"

// hugePage is the size from which the kernel is asked for huge pages: random
// probes of a large hash table are bound by misses of the translation buffer
// otherwise.
const hugePage = 2 << 20

// mapMemory returns zeroed anonymous memory.
func mapMemory(bytes int) ([]byte, error) {
	raw, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	if bytes >= hugePage {
		// Advice only: a kernel without huge pages is slower, not wrong.
		_ = unix.Madvise(raw, unix.MADV_HUGEPAGE)
	}
	return raw, nil
}

func unmapMemory(raw []byte) { _ = unix.Munmap(raw) }
