package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/term"

	"github.com/redfoxdb/redfox/internal/atomicfile"
	"github.com/redfoxdb/redfox/internal/driver"
)

// console is what a command talks to: results go to out, all talk to err.
type console struct {
	in  io.Reader
	out *bufio.Writer
	err io.Writer

	outTerminal, errTerminal bool
	color                    bool // of talk
	// document collects talk for --json, nil without it; err is then the
	// document, and talk what err was.
	document *document
	talk     io.Writer
}

// newConsole looks at what the three files are. Colour is for terminals whose
// owner has not set NO_COLOR (no-color.org).
func newConsole(in, out, errs *os.File) *console {
	con := &console{
		in:          in,
		out:         bufio.NewWriterSize(out, 1<<16),
		err:         errs,
		outTerminal: term.IsTerminal(int(out.Fd())),
		errTerminal: term.IsTerminal(int(errs.Fd())),
	}
	con.color = con.errTerminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return con
}

// stoppable is a writer that fails once its context is done, so that a long
// result stops as promptly as a long run.
type stoppable struct {
	ctx context.Context
	w   io.Writer
}

// Write passes the bytes on unless the context is done.
func (s stoppable) Write(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.w.Write(p)
}

// noteCodeFolder says if code that was compiled before is not looked for.
func (con *console) noteCodeFolder() {
	if _, err := driver.CodeFolder(); err != nil {
		fmt.Fprintln(con.err, "redfox: note:", err)
	}
}

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

// replaceFile makes a file of what write writes (atomicfile.Write).
func replaceFile(name string, write func(io.Writer) error) error {
	return writeFailed(name, atomicfile.Write(name, write))
}

// writeFailed words an error of the operating system as one about a file.
// Others are those of what writes.
func writeFailed(name string, err error) error {
	if path := new(fs.PathError); errors.As(err, &path) {
		return cannotWrite(name, err)
	}
	return err
}

// written makes an error of a writer one about the output, unless it is one of
// the kinds that have a form of their own.
func written(err error) error {
	var env *driver.EnvironmentError
	var program *driver.ProgramError
	var internal *driver.InternalError
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
	return &driver.EnvironmentError{Message: fmt.Sprintf("cannot %s %s: %v", do, name, reason),
		Err: err}
}
