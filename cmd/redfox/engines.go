package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox"
)

func enginesCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:        "engines",
		Usage:       "say which engines this machine can run, and why not the rest",
		Description: "Fastest first. The last line names the engine that runs take unless --engine says otherwise.",
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return &usageError{command: "engines", message: "engines takes no arguments"}
			}
			for _, e := range redfox.Engines() {
				state := "no "
				if e.Available {
					state = "yes"
				}
				fmt.Fprintf(con.out, "%-4s  %s  %s\n", e.Name, state, e.Detail)
			}
			auto, _, err := redfox.ChooseEngine("auto")
			if err != nil {
				return err
			}
			fmt.Fprintf(con.out, "auto  %s", auto.Name)
			if auto.Name != "go" {
				fmt.Fprint(con.out, "; go over few facts, as compiling takes longer than the run")
			}
			fmt.Fprintln(con.out)
			return nil
		},
	}
}
