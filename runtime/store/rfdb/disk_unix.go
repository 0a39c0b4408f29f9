//go:build linux || darwin || freebsd || netbsd || openbsd

package rfdb

import (
	"errors"
	"os"
	goruntime "runtime"

	"golang.org/x/sys/unix"
)

// Map maps the file into memory, for reading.
func (f osFile) Map(size int64) (*mapping, error) {
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	m := &mapping{data}
	// If unmapping fails, the mapping stays, which does no harm.
	goruntime.AddCleanup(m, func(data []byte) { _ = unix.Munmap(data) }, data)
	return m, nil
}

// lock locks a file for a writer until it is closed or the process ends. The
// error is a *LockedError if another writer holds the lock.
func lock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return &LockedError{}
		default:
			return os.NewSyscallError("flock", err)
		}
	}
}

// unlock releases the lock.
func unlock(f *os.File) error {
	return os.NewSyscallError("flock", unix.Flock(int(f.Fd()), unix.LOCK_UN))
}
