package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
)

// Leftovers is the pattern, as filepath.Match takes it, of the names that files
// have until they are whole.
const Leftovers = ".redfox-*.partial"

// File is a file that is being written. Its methods are for one goroutine. An
// error of any of them names the file's final path.
type File struct {
	path    string // as the caller names it
	place   string // what is replaced: path, or what a link of that name leads to
	in      folder // in which place, and partial, are names
	partial string // the name of f until the file is whole
	f       *os.File
	claim   claim // on the name that the file has until it is whole
	buffer  *bufio.Writer
	inPlace bool        // a pipe or a device, which cannot be replaced
	mode    fs.FileMode // of the old file, or 0
	durable bool

	finished bool // it is written and closed
	settled  bool // it has its name, or is gone
}

// folder is what files are made in: the whole file system, or an *os.Root.
type folder interface {
	OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error)
	Lstat(name string) (fs.FileInfo, error)
	Rename(from, to string) error
	Remove(name string) error
}

// everywhere is the whole file system.
type everywhere struct{}

func (everywhere) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}
func (everywhere) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }
func (everywhere) Rename(from, to string) error           { return os.Rename(from, to) }
func (everywhere) Remove(name string) error               { return os.Remove(name) }

// Create begins a file. The caller calls Commit when all is written, and in any
// case Discard in the end. The file will have the permissions of the one it
// replaces; a symbolic link stays, and what it leads to is replaced. A pipe or
// a device is written to as it is.
func Create(path string) (*File, error) {
	a := &File{path: path, place: path, in: everywhere{}}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		a.place = to
	}
	old, err := os.Stat(a.place)
	switch {
	case err != nil:
	case old.IsDir():
		return nil, a.failed(errFolder)
	case !old.Mode().IsRegular():
		a.inPlace = true
	default:
		a.mode = old.Mode().Perm()
	}
	return a.open(0o666)
}

// CreateIn begins a file below root, whose folder exists. Nothing outside root
// is written, whatever symbolic links there are and whoever changes them
// meanwhile. A link in place of the file is an error. The file will have the
// permissions perm, less those that the user's mask takes away, or those of the
// file that it replaces if perm is 0. A pipe or a device is written to as it
// is. Errors name path.
func CreateIn(root *os.Root, name, path string, perm fs.FileMode) (*File, error) {
	a := &File{path: path, place: name, in: root}
	old, err := root.Lstat(name)
	switch {
	case err != nil:
	case old.IsDir():
		return nil, a.failed(errFolder)
	case old.Mode()&fs.ModeSymlink != 0:
		return nil, a.failed(errors.New("this is a symbolic link, not a file"))
	case !old.Mode().IsRegular():
		a.inPlace = true
	case perm == 0:
		a.mode = old.Mode().Perm()
	}
	if perm == 0 {
		perm = 0o666
	}
	return a.open(perm)
}

var errFolder = errors.New("this is a folder, not a file")

// open opens what the file is written to.
func (a *File) open(perm fs.FileMode) (*File, error) {
	var err error
	if a.inPlace {
		a.f, err = a.in.OpenFile(a.place, os.O_WRONLY, 0)
	} else {
		err = a.createBeside(perm)
	}
	if err != nil {
		return nil, a.failed(err)
	}
	a.buffer = bufio.NewWriterSize(stepping{a.f}, 1<<16)
	return a, nil
}

// Durable has Commit return only when the file and its name are on the disk, so
// that a loss of power leaves the old file or the new one.
func (a *File) Durable() { a.durable = true }

// Step, if set, is called before each change of the file system with what it
// will be: create, write, sync, close, rename or remove. Tests set it to end
// the process there.
var Step func(change string)

func step(change string) {
	if Step != nil {
		Step(change)
	}
}

// stepping is a file whose writes are steps.
type stepping struct{ *os.File }

// Write writes to the file.
func (s stepping) Write(data []byte) (int, error) {
	step("write")
	return s.File.Write(data)
}

// createBeside makes the partial file, in the folder of place, and claims it.
// Unlike os.CreateTemp it leaves the permissions to the user's mask. Each file
// of the process has its own number: another process that writes to the folder
// has another one, and a name that an earlier process with the same number has
// left is passed over.
func (a *File) createBeside(perm fs.FileMode) error {
	dir := filepath.Dir(a.place)
	sweepOnce(a.in, dir)
	mark := kernelMark() + "-"
	for {
		name := fmt.Sprintf(".redfox-%s%d-%d.partial", mark, os.Getpid(), partials.Add(1)-1)
		a.partial = filepath.Join(dir, name)
		step("create")
		f, err := a.in.OpenFile(a.partial, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if mark == "" {
			a.f = f
			return nil
		}
		if a.claim, err = claimOf(f); err == nil {
			a.f = f
			return nil
		}
		f.Close()
		if err != errSwept {
			// No sweep touches a file without a mark.
			a.in.Remove(a.partial)
			mark = ""
		}
	}
}

// partials counts the names of partial files that this process has tried.
var partials atomic.Int64

// errSwept says that a sweep has removed a file before it was claimed.
var errSwept = errors.New("the file is gone")

// Write writes to the file, buffered.
func (a *File) Write(data []byte) (int, error) {
	n, err := a.buffer.Write(data)
	return n, a.failed(err)
}

// Unfinished returns the path of the file until it has its name, for a writer
// that opens the file itself. A pipe or a device has none.
func (a *File) Unfinished() (string, error) {
	if a.inPlace {
		return "", a.failed(errors.New("this is no file that can be written at any place"))
	}
	return a.partial, nil
}

// Finish hands the rest of what was written to the operating system and closes
// the file: what can fail for want of space has then been done. Several files
// that belong together are finished before the first of them is committed.
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
	if a.durable && !a.inPlace {
		step("sync")
		if err := a.f.Sync(); err != nil {
			return a.failed(err)
		}
	}
	step("close")
	if err := a.f.Close(); err != nil {
		return a.failed(err)
	}
	a.finished = true
	return nil
}

// Commit finishes the file and gives it its name. An error leaves the old file
// as it was.
func (a *File) Commit() error {
	if err := a.Finish(); err != nil {
		return err
	}
	if !a.inPlace {
		step("rename")
		if err := a.in.Rename(a.partial, a.place); err != nil {
			return a.failed(err)
		}
	}
	a.settled = true
	a.claim.release()
	if a.durable && !a.inPlace {
		step("sync")
		return a.failed(syncFolder(a.in, filepath.Dir(a.place)))
	}
	return nil
}

// syncFolder puts the names of a folder on the disk.
func syncFolder(in folder, path string) error {
	dir, err := in.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	err = dir.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) {
		return nil // some file systems sync no folders
	}
	return err
}

// Discard leaves nothing of a file that is not committed. After Commit it does
// nothing.
func (a *File) Discard() {
	if a.settled {
		return
	}
	a.f.Close()
	if !a.inPlace {
		step("remove")
		a.in.Remove(a.partial)
	}
	a.settled = true
	a.claim.release()
}

// failed words an error of the operating system as one about the file's path:
// the name that the file has meanwhile tells nobody anything.
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

// Write makes a file of what write writes. After an error of write, which it
// returns, the old file is as it was.
func Write(path string, write func(io.Writer) error) error { return writeFile(path, false, write) }

// WriteDurable is Write of a Durable file.
func WriteDurable(path string, write func(io.Writer) error) error {
	return writeFile(path, true, write)
}

func writeFile(path string, durable bool, write func(io.Writer) error) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Discard()
	if durable {
		f.Durable()
	}
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
