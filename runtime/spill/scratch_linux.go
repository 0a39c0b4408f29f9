package spill

import (
	"os"
	goruntime "runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openMemory makes a file in memory.
func openMemory() (Store, error) {
	fd, err := unix.MemfdCreate("redfox", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "a file in memory"), nil
}

// punch makes a hole in a file. Where the file system has no holes, the room is
// free when the file is closed.
func punch(f *os.File, at, bytes int64) {
	_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, at, bytes)
}

// canMap says that files can be mapped.
const canMap = true

// mapping keeps part of a file mapped.
type mapping struct{ _ byte }

// mapFile maps part of a file, which begins at a page, for reading. The data
// stay as long as the owner is reachable, also when the file is closed.
func mapFile(f *os.File, at int64, bytes int) (data unsafe.Pointer, owner any, err error) {
	m, err := unix.Mmap(int(f.Fd()), at, bytes, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	o := &mapping{}
	goruntime.AddCleanup(o, func(m []byte) { _ = unix.Munmap(m) }, m)
	return unsafe.Pointer(&m[0]), o, nil
}
