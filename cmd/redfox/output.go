package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/redfoxdb/redfox"
)

// writer is what results are written to.
type writer = io.Writer

// output calls write with standard output or, if file is not "", with a file
// of that name, which appears only when all has been written.
func (con *console) output(ctx context.Context, file string, write func(writer) error) error {
	if file == "" || file == "-" {
		return write(stoppable{ctx, con.out})
	}
	return replaceFile(file, func(w io.Writer) error { return write(stoppable{ctx, w}) })
}

// replaceFile writes a file beside its final place and renames it when it is
// complete, so that nobody sees half of it and a failure leaves nothing. A pipe
// or a device is written to as it is.
func replaceFile(name string, write func(io.Writer) error) (err error) {
	mode := fs.FileMode(0o644)
	if old, err := os.Stat(name); err == nil {
		if mode = old.Mode().Perm(); !old.Mode().IsRegular() && !old.IsDir() {
			f, err := os.OpenFile(name, os.O_WRONLY, 0)
			if err != nil {
				return cannotWrite(name, err)
			}
			return errors.Join(fill(f, name, write), f.Close())
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.partial")
	if err != nil {
		return cannotWrite(name, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := fill(f, name, write); err != nil {
		return err
	}
	for _, finish := range []func() error{
		func() error { return f.Chmod(mode) },
		f.Close,
		func() error { return os.Rename(f.Name(), name) },
	} {
		if err := finish(); err != nil {
			return cannotWrite(name, err)
		}
	}
	return nil
}

// fill writes an open file, whose final name is given.
func fill(f *os.File, name string, write func(io.Writer) error) error {
	buffer := bufio.NewWriterSize(f, 1<<16)
	err := write(buffer)
	if err == nil {
		err = buffer.Flush()
	}
	if path := new(fs.PathError); errors.As(err, &path) {
		return cannotWrite(name, err)
	}
	return err
}

// written makes an error of a writer one about the output, unless it is one of
// the kinds that have a form of their own.
func written(err error) error {
	var env *redfox.EnvironmentError
	var program *redfox.ProgramError
	var internal *redfox.InternalError
	switch {
	case err == nil, errors.Is(err, errInterrupted), errors.Is(err, errTimeout),
		errors.As(err, &env), errors.As(err, &program), errors.As(err, &internal):
		return err
	}
	return &outputError{err}
}

// cannotWrite words a failed write.
func cannotWrite(name string, err error) error { return cannot("write", name, err) }

// cannot words a failed file operation.
func cannot(do, name string, err error) error {
	reason := err
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		reason = path.Err
	case errors.As(err, &link):
		reason = link.Err
	}
	return &redfox.EnvironmentError{Message: fmt.Sprintf("cannot %s %s: %v", do, name, reason), Err: err}
}
