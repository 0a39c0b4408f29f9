package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/redfoxdb/redfox"
)

// console is what a command talks to: results go to out, all talk to err.
type console struct {
	in  io.Reader
	out *bufio.Writer
	err io.Writer

	outTerminal, errTerminal bool
	color                    bool // of talk
	// document collects talk for --json, nil without it; err is then the document,
	// and talk what err was.
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
	if _, err := redfox.CodeFolder(); err != nil {
		fmt.Fprintln(con.err, "redfox: note:", err)
	}
}
