package scratch

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// Pages is memory that lies in a file without a name: the system writes it
// there, and takes its pages back, when it needs them. It is safe for
// concurrent use.
type Pages struct {
	folder string

	mu   sync.Mutex
	file *os.File // made when it is first needed
	end  int64    // where the next region goes
	// small is what is left of a region for pieces that are too short for one
	// of their own.
	small      []byte
	smallOwner any
}

// regionBytes is the size of a region that several pieces share. Linux lets a
// process map 65,530 regions.
const regionBytes = 64 << 20

// align is what the places of pieces are multiples of.
const align = 64

// NewPages returns memory in a file of a folder, or nil where files cannot be
// mapped.
func NewPages(folder string) *Pages {
	if !CanMap {
		return nil
	}
	return &Pages{folder: folder}
}

// Alloc returns zeroed memory, at least one byte. It stays as long as the owner
// is reachable.
func (p *Pages) Alloc(bytes int) (data []byte, owner any, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if bytes >= regionBytes/2 {
		return p.region(bytes)
	}
	if len(p.small) < bytes {
		if p.small, p.smallOwner, err = p.region(regionBytes); err != nil {
			return nil, nil, err
		}
	}
	data = p.small[:bytes:bytes]
	p.small = p.small[min((bytes+align-1)/align*align, len(p.small)):]
	return data, p.smallOwner, nil
}

// region maps a new part of the file.
func (p *Pages) region(bytes int) ([]byte, any, error) {
	if p.file == nil {
		f, err := Open(p.folder)
		if err != nil {
			return nil, nil, p.failed("make", err)
		}
		p.file = f
	}
	page := int64(os.Getpagesize())
	data, owner, err := mapNew(p.file, p.end, bytes)
	if err != nil {
		return nil, nil, p.failed("enlarge", err)
	}
	p.end += (int64(bytes) + page - 1) / page * page
	return data, owner, nil
}

// Bytes returns how large the file has become.
func (p *Pages) Bytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end
}

func (p *Pages) failed(do string, err error) error { return Failed(do, p.folder, err) }

// Error is an error of the file system.
type Error struct {
	Do     string // what cannot be done to a file
	Folder string // "" for memory
	Err    error
}

// Failed returns the error of what cannot be done to a file in a folder.
func Failed(do, folder string, err error) *Error {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err // the name of the file is gone
	}
	return &Error{Do: do, Folder: folder, Err: err}
}

// Error names the folder: the file has no name.
func (e *Error) Error() string {
	where := "in memory"
	if e.Folder != "" {
		where = "in " + e.Folder
	}
	return fmt.Sprintf("redfox cannot %s a file %s: %v", e.Do, where, e.Err)
}

// Unwrap returns the error of the system.
func (e *Error) Unwrap() error { return e.Err }
