package main

import (
	"errors"
	"os"
	"os/signal"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/cmd/redfox/repl"
	"github.com/redfoxdb/redfox/internal/driver"
)

func replCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:      "repl",
		Usage:     "type clauses and questions at a prompt",
		ArgsUsage: "[PROGRAM...]",
		Description: "A clause ends with a full stop and becomes part of the program; +p(1). inserts a tuple. A " +
			"formula that ends with a question mark is answered, as are queries for _. Commands begin with a " +
			"colon; :help lists them. Ctrl-C stops an answer, Ctrl-D ends the conversation. Without a terminal " +
			"the lines of standard input are taken.\n\n" +
			examplesMark +
			"redfox repl reach.logic --facts data\n" +
			"echo 'p(1). p(x)?' | redfox repl",
		Flags: flags(append([]string{"limit", "engine", "device", "threads", "memory", "spill",
			"device-memory", "max-rounds"}, factNames...)...),
		Action: func(c *cli.Context) error {
			r, err := newRun(c, con)
			if err != nil {
				return err
			}
			var sources []driver.Source
			if c.Args().Present() {
				if sources, err = readProgram(c); err != nil {
					return err
				}
			}
			// Ctrl-C belongs to the prompt.
			signal.Reset(os.Interrupt)
			session, err := driver.OpenSession(driver.SessionOptions{Engine: r.options.Engine,
				Device: r.options.Device, DeviceMemory: r.options.DeviceMemory,
				Threads: r.options.Threads, Memory: r.options.Memory})
			if err != nil {
				return err
			}
			r.options.Load, r.options.Progress, r.load.Progress = r.load, nil, nil
			limit := int64(implicitLimit)
			if c.IsSet("limit") {
				limit = r.results.limit
			}
			prompt, err := repl.Open(c.Context, session, con.out, repl.Options{
				Sources: sources, Facts: r.facts, Run: r.options, Limit: limit,
				Program: programOptions(c, r.external),
				Report: func(err error) {
					con.out.Flush()
					con.report(r.adviseSpill(err), nil)
				},
				Warn: con.diagnostics})
			if err == nil {
				err = prompt.Talk(c.Context, con.in, con.out)
			}
			return errors.Join(r.adviseSpill(err), session.Close())
		},
	}
}
