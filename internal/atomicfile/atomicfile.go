package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Leftovers is the pattern, as filepath.Match takes it, of the names that files have
// until they are whole.
const Leftovers = ".redfox-*.partial"

// File is a file that is being written. Its methods are for one goroutine. An error
// of any of them names the file's final path.
type File struct {
	path    string // as the caller names it
	place   string // what is replaced: path, or what a link of that name leads to
	f       *os.File
	buffer  *bufio.Writer
	inPlace bool        // a pipe or a device, which can not be replaced
	mode    fs.FileMode // of the old file; 0 if there is none

	finished bool // it is written and closed
	settled  bool // it has its name, or is gone
}

// Create begins a file. The caller calls Commit when all is written, and in any case
// Discard in the end. The file will have the permissions of the one it replaces; a
// symbolic link stays, and what it leads to is replaced. A pipe or a device is
// written to as it is.
func Create(path string) (*File, error) {
	a := &File{path: path, place: path}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		a.place = to
	}
	old, err := os.Stat(a.place)
	switch {
	case err != nil:
	case old.IsDir():
		return nil, a.failed(errors.New("this is a folder, not a file"))
	case !old.Mode().IsRegular():
		a.inPlace = true
	default:
		a.mode = old.Mode().Perm()
	}
	if a.inPlace {
		a.f, err = os.OpenFile(a.place, os.O_WRONLY, 0)
	} else {
		a.f, err = createBeside(a.place)
	}
	if err != nil {
		return nil, a.failed(err)
	}
	a.buffer = bufio.NewWriterSize(a.f, 1<<16)
	return a, nil
}

// createBeside makes a file in the folder of another. Unlike os.CreateTemp it leaves
// the permissions to the user's mask. Numbers are tried in turn: another process that
// writes to the folder has its own number, and a name that a process with the same
// number has left is passed over.
func createBeside(path string) (*os.File, error) {
	for i := 0; ; i++ {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".redfox-%d-%d.partial", os.Getpid(), i))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// Write writes to the file, buffered.
func (a *File) Write(data []byte) (int, error) {
	n, err := a.buffer.Write(data)
	return n, a.failed(err)
}

// Finish hands the rest of what was written to the operating system and closes the
// file: what can fail for want of space has then been done. Several files that
// belong together are finished before the first of them is committed.
func (a *File) Finish() error {
	if a.finished {
		return nil
	}
	if err := a.buffer.Flush(); err != nil {
		return a.failed(err)
	}
	if a.mode != 0 {
		if err := a.f.Chmod(a.mode); err != nil {
			return a.failed(err)
		}
	}
	if err := a.f.Close(); err != nil {
		return a.failed(err)
	}
	a.finished = true
	return nil
}

// Commit finishes the file and gives it its name. An error leaves the old file as it
// was.
func (a *File) Commit() error {
	if err := a.Finish(); err != nil {
		return err
	}
	if !a.inPlace {
		if err := os.Rename(a.f.Name(), a.place); err != nil {
			return a.failed(err)
		}
	}
	a.settled = true
	return nil
}

// Discard leaves nothing of a file that is not committed. After Commit it does
// nothing.
func (a *File) Discard() {
	if a.settled {
		return
	}
	a.f.Close()
	if !a.inPlace {
		os.Remove(a.f.Name())
	}
	a.settled = true
}

// failed words an error of the operating system as one about the file's path: the
// name that the file has meanwhile tells nobody anything.
func (a *File) failed(err error) error {
	var link *os.LinkError
	var path *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &link):
		err = link.Err
	case errors.As(err, &path):
		err = path.Err
	}
	return &fs.PathError{Op: "write", Path: a.path, Err: err}
}

// Write makes a file of what write writes. After an error of write, which it returns,
// the old file is as it was.
func Write(path string, write func(io.Writer) error) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}

// WriteBytes makes a file of bytes.
func WriteBytes(path string, data []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
