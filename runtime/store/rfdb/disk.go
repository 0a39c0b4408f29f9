package rfdb

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"sync"
)

// disk is the storage of a database: a file, or what tests use instead.
type disk interface {
	io.ReaderAt
	io.WriterAt
	// Sync returns when everything that was written is on stable storage.
	Sync() error
	Truncate(size int64) error
	Size() (int64, error)
	// Map maps the first size bytes. Later writes to them are visible in the
	// mapping.
	Map(size int64) (*mapping, error)
	Close() error
}

// osFile is a disk in a file.
type osFile struct {
	*os.File
	locked bool
}

// Close unlocks and closes the file. Without the unlock, a mapping would hold
// the lock, because it keeps the file open.
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

// mapping is a mapped file. It is unmapped once nothing refers to it, unless it
// is pinned.
type mapping struct{ data []byte }

// pinned are mappings whose strings may be in use anywhere. A string does not
// keep mapped memory alive.
var pinned struct {
	sync.Mutex
	all map[*mapping]bool
}

// pin keeps the mapping until the process ends.
func (m *mapping) pin() {
	pinned.Lock()
	defer pinned.Unlock()
	if pinned.all == nil {
		pinned.all = map[*mapping]bool{}
	}
	pinned.all[m] = true
}

// errShort means that another process has truncated a mapped file.
var errShort = errors.New("another process has made the file shorter meanwhile")

// guarded calls f, which reads a mapping. If the file was truncated, the read
// faults, and guarded returns errShort.
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

// openFile opens a file. For a writer, it locks the file, and makes sure that
// path still names the locked file.
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
