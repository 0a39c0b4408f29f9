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
		Description: "The first engine that is available is the one that --engine auto takes.",
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
			return nil
		},
	}
}
