//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd

package rfdb

import (
	"errors"
	"io"
	"os"
	"unsafe"
)

// Map reads the file into memory, which, like a mapping, is aligned to the
// width of every column.
func (f osFile) Map(size int64) (*mapping, error) {
	words := make([]uint64, (size+7)/8)
	data := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, size), data); err != nil {
		return nil, err
	}
	return &mapping{data}, nil
}

// lock refuses to write, because nothing would keep a second writer out.
func lock(*os.File) error {
	return errors.New("this system has no locks for the file of a database: it can be read only")
}

func unlock(*os.File) error { return nil }
