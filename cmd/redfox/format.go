package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/internal/atomicfile"
	"github.com/redfoxdb/redfox/internal/driver"
)

func formatCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:      "fmt",
		Usage:     "print programs in canonical form",
		ArgsUsage: "PROGRAM...",
		Description: "Comments stay where they are, and formatting twice changes nothing. A file with syntax " +
			"errors is reported and left as it is; the others are done.\n\n" +
			examplesMark +
			"redfox fmt reach.logic\n" +
			"redfox fmt -w *.logic\n" +
			"redfox fmt -l *.logic      # for checks: exits with 1 if a file would change\n" +
			"redfox fmt - < reach.logic",
		Flags: flags("write", "diff", "list", "json"),
		Action: func(c *cli.Context) error {
			f := formatter{con: con, write: c.Bool("write"), diff: c.Bool("diff"),
				list: c.Bool("list")}
			sources, err := readProgram(c)
			if err != nil {
				return err
			}
			var wrong []*driver.Diagnostic
			for i, s := range sources {
				err := f.format(s, c.Args().Get(i) == "-")
				var program *driver.ProgramError
				switch {
				case errors.As(err, &program):
					wrong = append(wrong, program.Diagnostics...)
				case err != nil:
					return err
				}
			}
			switch {
			case len(wrong) > 0:
				return &driver.ProgramError{Diagnostics: wrong}
			case f.changed && (f.diff || f.list) && !f.write:
				return errFound
			}
			return nil
		},
	}
}

// formatter is one execution of fmt.
type formatter struct {
	con               *console
	write, diff, list bool
	changed           bool // some file would
}

func (f *formatter) format(s driver.Source, stdin bool) error {
	text, err := driver.FormatSource(s)
	if err != nil {
		return err
	}
	changed := text != s.Text
	f.changed = f.changed || changed
	if changed && f.list {
		fmt.Fprintln(f.con.out, s.Name)
	}
	if changed && f.diff {
		fmt.Fprintf(f.con.out, "--- %s\n+++ %s, formatted\n%s", s.Name, s.Name,
			driver.Diff(s.Text, text))
	}
	switch {
	case f.write && stdin:
		return &usageError{command: "fmt", message: "standard input cannot be rewritten in place",
			help: "leave out --write"}
	case f.write && changed:
		return writeFailed(s.Name, atomicfile.WriteDurable(s.Name, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		}))
	case !f.write && !f.list && !f.diff:
		_, err := io.WriteString(f.con.out, text)
		return err
	}
	return nil
}
