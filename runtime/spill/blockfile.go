package spill

import (
	"os"
	"sync"
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
// it is closed or the process ends. It is safe for concurrent use, except for
// the profile.
type blockFile struct {
	file   Store
	folder string          // "" for a file in memory
	memory *account.Memory // of a file in memory; else nil

	mu      sync.Mutex // guards the fields below
	end     int64      // where the next block goes
	profile runtime.SpillProfile
	held    int64 // bytes in use
	writing busy
	reading busy
}

// busy measures the time during which at least one thread is at work.
type busy struct {
	threads int
	since   time.Time
}

func (b *busy) begin() {
	if b.threads++; b.threads == 1 {
		b.since = time.Now()
	}
}

// end returns the time since all threads were idle if this is the last one at
// work, or else 0.
func (b *busy) end() time.Duration {
	if b.threads--; b.threads > 0 {
		return 0
	}
	return time.Since(b.since)
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
	at, err := s.place(int64(len(data)), 1)
	if err != nil {
		return 0, err
	}
	return at, s.put(data, at)
}

// place returns the offset of new bytes at the end of the file, a multiple of
// the alignment.
func (s *blockFile) place(bytes, align int64) (int64, error) {
	if s.memory != nil {
		if err := s.memory.Reserve("what is kept of the relations", bytes); err != nil {
			return 0, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := (s.end + align - 1) / align * align
	s.end = at + bytes
	s.held += bytes
	s.profile.Peak = max(s.profile.Peak, s.held)
	return at, nil
}

// put writes data at an offset.
func (s *blockFile) put(data []byte, at int64) error {
	err := s.move(s.file.WriteAt, data, at, &s.writing, &s.profile.Written, &s.profile.Writing)
	if err != nil {
		return failed("write to", s.folder, err)
	}
	return nil
}

// read fills data from an offset.
func (s *blockFile) read(data []byte, at int64) error {
	err := s.move(s.file.ReadAt, data, at, &s.reading, &s.profile.Read, &s.profile.Reading)
	if err != nil {
		return failed("read", s.folder, err)
	}
	return nil
}

// move writes or reads data, and adds to the statistics of bytes and time.
func (s *blockFile) move(do func(data []byte, at int64) (int, error), data []byte, at int64,
	by *busy, bytes *int64, took *time.Duration) error {
	s.mu.Lock()
	*bytes += int64(len(data))
	by.begin()
	s.mu.Unlock()
	_, err := do(data, at)
	s.mu.Lock()
	*took += by.end()
	s.mu.Unlock()
	return err
}

// free returns the space of blocks to the disk, if the file system can do that.
func (s *blockFile) free(at, bytes int64) {
	s.mu.Lock()
	s.held -= bytes
	s.mu.Unlock()
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
