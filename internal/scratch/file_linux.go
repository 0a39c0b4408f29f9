package scratch

import (
	"errors"
	"os"
	goruntime "runtime"

	"golang.org/x/sys/unix"
)

// OpenMemory makes a file in memory.
func OpenMemory() (*os.File, error) {
	fd, err := unix.MemfdCreate("redfox", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "a file in memory"), nil
}

// Punch makes a hole in a file. Where the file system has no holes, the room is
// free when the file is closed.
func Punch(f *os.File, at, bytes int64) {
	_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, at, bytes)
}

// CanMap says that files can be mapped.
const CanMap = true

// mapping keeps part of a file mapped.
type mapping struct{ _ byte }

// Map maps part of a file, which begins at a page, for reading. The data stay
// as long as the owner is reachable, also when the file is closed.
func Map(f *os.File, at int64, bytes int) (data []byte, owner any, err error) {
	return mapFile(f, at, bytes, unix.PROT_READ, func() {})
}

// mapFile is Map with a protection. It calls then when the data are gone.
func mapFile(f *os.File, at int64, bytes, protection int, then func()) ([]byte, any, error) {
	m, err := unix.Mmap(int(f.Fd()), at, bytes, protection, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	o := &mapping{}
	goruntime.AddCleanup(o, func(m []byte) {
		_ = unix.Munmap(m)
		then()
	}, m)
	return m, o, nil
}

// mapNew maps a part of a file that is to be written. The disk has the room
// then: where it were missing, a write to the memory would kill the process.
func mapNew(f *os.File, at int64, bytes int) ([]byte, any, error) {
	err := unix.Fallocate(int(f.Fd()), 0, at, int64(bytes))
	if errors.Is(err, unix.EOPNOTSUPP) {
		err = writeZeros(f, at, bytes)
	}
	if err != nil {
		return nil, nil, err
	}
	return mapFile(f, at, bytes, unix.PROT_READ|unix.PROT_WRITE,
		func() { Punch(f, at, int64(bytes)) })
}

// writeZeros takes room where the file system cannot reserve it.
func writeZeros(f *os.File, at int64, bytes int) error {
	zeros := make([]byte, min(bytes, 1<<20))
	for bytes > 0 {
		n, err := f.WriteAt(zeros[:min(bytes, len(zeros))], at)
		if err != nil {
			return err
		}
		at, bytes = at+int64(n), bytes-n
	}
	return nil
}
