package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox"
)

// The extensions of files that hold a query plan or a kernel graph instead of
// LogiQL.
const (
	planExtension    = ".plan"
	harmonyExtension = ".harmony"
)

// readProgram reads the files that the arguments name; "-" is standard input.
func readProgram(c *cli.Context) ([]redfox.Source, error) {
	if !c.Args().Present() {
		return nil, &usageError{command: c.Command.Name, message: "no program is named",
			help: "write redfox " + c.Command.Name + " PROGRAM, or - for standard input"}
	}
	return redfox.ReadSources(c.Args().Slice()...)
}

// compileProgram reads and compiles the program that the arguments name, and
// prints its warnings.
func compileProgram(ctx context.Context, c *cli.Context, con *console, external []string) (*redfox.Program, error) {
	con.json = c.Bool("json")
	sources, err := readProgram(c)
	if err != nil {
		return nil, err
	}
	opts := redfox.Options{Disable: splitList(c.StringSlice("disable")), External: external, NoFuse: c.Bool("no-fuse")}
	for _, s := range sources {
		if filepath.Ext(s.Name) != planExtension {
			continue
		}
		if len(sources) > 1 {
			return nil, &usageError{command: c.Command.Name,
				message: fmt.Sprintf("%s is a whole program; it can not be combined with other files", s.Name)}
		}
		return redfox.ParsePlan(s, opts)
	}
	prog, err := redfox.Compile(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	con.diagnostics(prog.Warnings())
	return prog, nil
}
