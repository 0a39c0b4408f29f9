package read

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/redfoxdb/redfox/internal/remote"
)

// File is a file that is open for reading.
type File interface {
	io.Reader
	io.ReaderAt
	io.Seeker
	io.Closer
}

// sized is a File that knows its size without seeking, such as a file on a
// server.
type sized interface{ Size() int64 }

// look returns an error if the file cannot be read. It opens it only through
// Open: another path may be a pipe, which can be opened only once.
func (s *Source) look(ctx context.Context) error {
	if s.Open != nil {
		f, _, err := s.openFile(ctx)
		if err == nil {
			f.Close()
		}
		return err
	}
	if remote.Is(s.Path) {
		return nil // it is opened soon enough
	}
	info, err := os.Stat(s.Path)
	if err == nil && info.IsDir() {
		err = errFolder
	}
	return err
}

// openFile opens the file, and returns its size.
func (s *Source) openFile(ctx context.Context) (f File, size int64, err error) {
	switch {
	case s.Open != nil:
		f, err = s.Open(ctx)
	case remote.Is(s.Path):
		f, err = remote.Open(ctx, s.Path)
	default:
		f, err = os.Open(s.Path)
	}
	if err != nil {
		return nil, 0, err
	}
	switch of := f.(type) {
	case sized:
		return f, of.Size(), nil
	case fs.File:
		info, err := of.Stat()
		if err == nil && info.IsDir() {
			err = errFolder
		}
		if err != nil {
			f.Close()
			return nil, 0, err
		}
		return f, info.Size(), nil
	}
	f.Close()
	return nil, 0, errors.New("the size of the file is not known")
}

// wholeFile is a file with random access.
type wholeFile interface {
	io.Reader
	io.ReaderAt
	io.Seeker
}

// openWhole opens the source for random access. A reader without random access
// is read into memory. The closer is nil if the reader belongs to the caller.
func (s *Source) openWhole(ctx context.Context) (r wholeFile, c io.Closer, size int64, err error) {
	switch at := s.Reader.(type) {
	case nil:
		opened, _, err := s.openFile(ctx)
		if err != nil {
			return nil, nil, 0, err
		}
		r, c = opened, opened
	case wholeFile:
		r = at
	default:
		data, err := io.ReadAll(at)
		if err != nil {
			return nil, nil, 0, err
		}
		whole := bytes.NewReader(data)
		r, s.Reader = whole, whole
	}
	if size, err = r.Seek(0, io.SeekEnd); err != nil && c != nil {
		c.Close()
	}
	return r, c, size, err
}

// readAll fills a buffer with the bytes at an offset of a file.
func readAll(r io.ReaderAt, to []byte, at int64) error {
	if at < 0 {
		return io.ErrUnexpectedEOF
	}
	n, err := r.ReadAt(to, at)
	if n == len(to) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
