package rfdb

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"sync"
)

// disk is what a database is on: a file, or what tests put in its place.
type disk interface {
	io.ReaderAt
	io.WriterAt
	// Sync returns when all that was written is safe.
	Sync() error
	Truncate(size int64) error
	Size() (int64, error)
	// Map returns the first bytes, as they are and as they will be.
	Map(size int64) (*mapping, error)
	Close() error
}

// osFile is a disk that is a file.
type osFile struct {
	*os.File
	locked bool
}

// Close closes the file. A mapping keeps it open, and would keep the lock.
func (f osFile) Close() error {
	var err error
	if f.locked {
		err = unlock(f.File)
	}
	return errors.Join(err, f.File.Close())
}

// Size returns the length of the file.
func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if info.IsDir() {
		return 0, errors.New("this is a folder, not a file")
	}
	if !info.Mode().IsRegular() {
		return 0, errors.New("this is no file that can be read at any place")
	}
	return info.Size(), nil
}

// mapping is a file in memory. It is unmapped when nothing refers to it any
// more, unless it was pinned.
type mapping struct{ data []byte }

// pinned are mappings whose strings may be anywhere: a string does not keep the
// memory that it is in.
var pinned struct {
	sync.Mutex
	all map[*mapping]bool
}

// pin keeps the mapping as long as the process.
func (m *mapping) pin() {
	pinned.Lock()
	defer pinned.Unlock()
	if pinned.all == nil {
		pinned.all = map[*mapping]bool{}
	}
	pinned.all[m] = true
}

// errShort says that another process has cut a file that is mapped.
var errShort = errors.New("another process has made the file shorter meanwhile")

// guarded calls f, which reads a mapping. Where the file has become shorter, it
// returns errShort: the kernel raises a fault there.
func guarded(f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(interface{ Addr() uintptr }); !ok {
				panic(r)
			}
			err = errShort
		}
	}()
	return f()
}

// openFile opens a file. A writer locks it: the file that has the name then is
// the one that is locked.
func openFile(path string, write bool) (osFile, error) {
	for {
		flag := os.O_RDONLY
		if write {
			flag = os.O_RDWR
		}
		f, err := os.OpenFile(path, flag, 0)
		if err != nil {
			return osFile{}, err
		}
		if _, err := (osFile{File: f}).Size(); err != nil {
			f.Close()
			return osFile{}, err
		}
		if !write {
			return osFile{File: f}, nil
		}
		if err := lock(f); err != nil {
			f.Close()
			return osFile{}, err
		}
		mine, err := f.Stat()
		if err != nil {
			(osFile{f, true}).Close()
			return osFile{}, err
		}
		named, err := os.Stat(path)
		if err == nil && os.SameFile(mine, named) {
			return osFile{f, true}, nil
		}
		(osFile{f, true}).Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return osFile{}, err
		}
	}
}
