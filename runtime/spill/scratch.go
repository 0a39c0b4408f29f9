package spill

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/redfoxdb/redfox/runtime"
)

// Store is what blocks are kept in: a file, and in tests one that fails.
type Store interface {
	WriteAt(data []byte, at int64) (int, error)
	ReadAt(data []byte, at int64) (int, error)
	Close() error
}

// scratch is the file of a run. It has no name: the system frees it when it is
// closed, or when the process is gone.
type scratch struct {
	file   Store
	folder string
	end    int64 // where the next block goes

	profile runtime.SpillProfile
	held    int64 // bytes in use
}

// open makes a file without a name in a folder. Its name lasts for an instant.
func open(folder string) (Store, error) {
	f, err := os.CreateTemp(folder, ".redfox-spill-*.partial")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close() // the removal is what failed
		return nil, err
	}
	return f, nil
}

// Check reports whether a run can spill to a folder.
func Check(folder string) error {
	f, err := open(folder)
	if err != nil {
		return failed("make a file in", folder, err)
	}
	return f.Close()
}

// write appends data and returns where it is.
func (s *scratch) write(data []byte) (int64, error) {
	began := time.Now()
	at := s.end
	if _, err := s.file.WriteAt(data, at); err != nil {
		return 0, failed("write to a file in", s.folder, err)
	}
	s.end += int64(len(data))
	s.profile.Written += int64(len(data))
	s.profile.Writing += time.Since(began)
	s.held += int64(len(data))
	s.profile.Peak = max(s.profile.Peak, s.held)
	return at, nil
}

// read fills data from a place.
func (s *scratch) read(data []byte, at int64) error {
	began := time.Now()
	if _, err := s.file.ReadAt(data, at); err != nil {
		return failed("read a file in", s.folder, err)
	}
	s.profile.Read += int64(len(data))
	s.profile.Reading += time.Since(began)
	return nil
}

// free gives the room of blocks back to the disk, where the system can do that.
func (s *scratch) free(at, bytes int64) {
	s.held -= bytes
	if f, ok := s.file.(*os.File); ok {
		punch(f, at, bytes)
	}
}

// failed is an error of the file system.
func failed(what, folder string, err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err // the name of the file is gone
	}
	return &runtime.SpillError{Message: fmt.Sprintf("redfox cannot %s %s: %v", what, folder, err),
		Err: err}
}
