package spill

import (
	"os"
	"time"

	"github.com/redfoxdb/redfox/internal/scratch"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/account"
)

// Store holds blocks: a file, or in tests one that fails.
type Store interface {
	WriteAt(data []byte, at int64) (int, error)
	ReadAt(data []byte, at int64) (int, error)
	Close() error
}

// blockFile is the file of a run. It has no name, so the system frees it when
// it is closed or the process ends.
type blockFile struct {
	file   Store
	folder string          // "" for a file in memory
	memory *account.Memory // which a file in memory takes; else nil
	end    int64           // where the next block goes

	profile runtime.SpillProfile
	held    int64 // bytes in use
}

// open makes a file in a folder, or in memory.
func open(folder string) (Store, error) {
	if folder == "" {
		return scratch.OpenMemory()
	}
	return scratch.Open(folder)
}

// Check reports whether a run can spill to a folder.
func Check(folder string) error {
	f, err := open(folder)
	if err != nil {
		return failed("make", folder, err)
	}
	return f.Close()
}

// write appends data and returns its offset.
func (s *blockFile) write(data []byte) (int64, error) {
	began := time.Now()
	at := s.end
	if s.memory != nil {
		if err := s.memory.Reserve("what is kept of the relations", int64(len(data))); err != nil {
			return 0, err
		}
	}
	if _, err := s.file.WriteAt(data, at); err != nil {
		return 0, failed("write to", s.folder, err)
	}
	s.end += int64(len(data))
	s.profile.Written += int64(len(data))
	s.profile.Writing += time.Since(began)
	s.held += int64(len(data))
	s.profile.Peak = max(s.profile.Peak, s.held)
	return at, nil
}

// read fills data from a place.
func (s *blockFile) read(data []byte, at int64) error {
	began := time.Now()
	if _, err := s.file.ReadAt(data, at); err != nil {
		return failed("read", s.folder, err)
	}
	s.profile.Read += int64(len(data))
	s.profile.Reading += time.Since(began)
	return nil
}

// free returns the space of blocks to the disk, if the file system can do that.
func (s *blockFile) free(at, bytes int64) {
	s.held -= bytes
	if s.memory != nil {
		s.memory.Release(bytes)
	}
	if f, ok := s.file.(*os.File); ok {
		scratch.Punch(f, at, bytes)
	}
}

// failed wraps an error of the file system with the operation that failed.
func failed(do, folder string, err error) error {
	return &runtime.SpillError{Err: err, Message: scratch.Failed(do, folder, err).Error()}
}
