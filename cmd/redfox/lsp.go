package main

import (
	"bufio"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/frontend/lsp"
	"github.com/redfoxdb/redfox/internal/driver"
)

// lspGarbage is GOGC for the language server. Each edit makes a whole new
// program, so the heap may grow for fewer collections.
const lspGarbage = 400

func lspCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:  "lsp",
		Usage: "answer an editor, over the Language Server Protocol",
		Description: "Editors start this command. It reads messages from standard input and writes to standard output. It " +
			"reports diagnostics, formats, and knows the names in a program: what they mean, where they are " +
			"defined and used. A .project file in the folder of a program file, or above, says which files " +
			"belong together. docs/editors.md shows how to set up an editor.\n\n" +
			examplesMark + "redfox lsp",
		Flags: flags("stdio"),
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return &usageError{command: "lsp", message: "lsp takes no arguments",
					help: "the editor names the files"}
			}
			debug.SetGCPercent(lspGarbage)
			server := lsp.New(con.in, flushing{con.out}, driver.Version(),
				func(text string) { fmt.Fprintln(con.err, "redfox:", text) })
			err := server.Run(c.Context)
			if errors.Is(err, lsp.ErrNoShutdown) {
				return errFound
			}
			return err
		},
	}
}

// flushing is a writer without a delay.
type flushing struct{ *bufio.Writer }

// Write writes p and empties the buffer.
func (w flushing) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err == nil {
		err = w.Flush()
	}
	return n, err
}
