package confine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/atomicfile"
	"github.com/redfoxdb/redfox/internal/remote"
)

// Folders are the folders that paths may lead to, with all below them. Without
// any, no path is allowed. A URL is below those that are URLs, too.
type Folders []string

// OutsideError says that a path leads to none of the folders.
type OutsideError struct {
	Path string // as it was given
	Real string // what it leads to, absolute and without symbolic links
}

// Error names the path and what it leads to.
func (e *OutsideError) Error() string {
	if real, err := filepath.Abs(e.Path); e.Path == e.Real || err == nil && real == e.Real {
		return e.Path + " is in no folder that is allowed"
	}
	return fmt.Sprintf("%s leads to %s, which is in no folder that is allowed", e.Path, e.Real)
}

// Check returns an *OutsideError if a path leads to none of the folders.
func (f Folders) Check(path string) error {
	if remote.Is(path) {
		isBelow := func(folder string) bool {
			return remote.Is(folder) && remote.Below(path, folder)
		}
		if !slices.ContainsFunc(f, isBelow) {
			return &OutsideError{path, path}
		}
		return nil
	}
	_, _, err := f.find(path)
	return err
}

// Open opens a file for reading.
func (f Folders) Open(path string) (*os.File, error) {
	root, name, err := f.root(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.Open(name)
	var failed *fs.PathError
	if errors.As(err, &failed) { // it has the name in the folder
		err = &fs.PathError{Op: "open", Path: path, Err: failed.Err}
	}
	return file, err
}

// Write makes a file of what write writes, as atomicfile.Write does, and the
// folders between the allowed one and the file.
func (f Folders) Write(path string, write func(io.Writer) error) error {
	root, name, err := f.root(path)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	file, err := atomicfile.CreateIn(root, name, path, 0)
	if err != nil {
		return err
	}
	defer file.Discard()
	if err := write(file); err != nil {
		return err
	}
	return file.Commit()
}

// root opens the folder that a path leads to, and returns the path's name in
// it.
func (f Folders) root(path string) (root *os.Root, name string, err error) {
	dir, name, err := f.find(path)
	if err != nil {
		return nil, "", err
	}
	root, err = os.OpenRoot(dir)
	return root, name, err
}

// find returns the folder that a path leads to, and the path's name in it. The
// result is only a guess of which folder it is: links may change before the
// file is opened, which then fails.
func (f Folders) find(path string) (dir, name string, err error) {
	place, err := realPath(path)
	if err != nil {
		return "", "", err
	}
	for _, dir := range f {
		if remote.Is(dir) {
			continue
		}
		from, err := realPath(dir)
		if err != nil {
			return "", "", err
		}
		if name, err := filepath.Rel(from, place); err == nil && filepath.IsLocal(name) {
			return dir, name, nil
		}
	}
	return "", "", &OutsideError{path, place}
}

// maxLinks bounds the links of a path whose end does not exist.
const maxLinks = 40

// realPath returns what a path leads to, absolute and without symbolic links.
// The end of it need not exist.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for links := 0; ; {
		if to, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(to, rest), nil
		}
		parent := filepath.Dir(path)
		to, err := os.Readlink(path)
		switch {
		case err == nil && links < maxLinks: // it leads to nothing that exists
			links++
			if !filepath.IsAbs(to) {
				to = filepath.Join(parent, to)
			}
			path = to
		case parent == path:
			return filepath.Join(path, rest), nil
		default:
			path, rest = parent, filepath.Join(filepath.Base(path), rest)
		}
	}
}

// Beside resolves a path that a file names: relative paths are beside it,
// unless it is a label such as <stdin>.
func Beside(file, path string) string {
	if filepath.IsAbs(path) || remote.Is(path) || strings.HasPrefix(file, "<") {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}
