package main

import (
	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox"
)

func compileCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:      "compile",
		Usage:     "print a stage of the compiled program",
		ArgsUsage: "PROGRAM...",
		Description: "The stages are ast, the syntax tree; core, the checked program with types and strata; " +
			"plan, the optimised query plan; and harmony, the kernel graph that the plan is lowered to, which no " +
			"engine runs yet, with kernels fused unless --no-fuse is given. A plan in a file whose name ends in " +
			".plan is taken as a program by compile, explain and run.\n\n" +
			examplesMark +
			"redfox compile reach.logic\n" +
			"redfox compile --emit core reach.logic\n" +
			"redfox compile reach.logic -o reach.plan",
		Flags: flags("emit", "no-fuse", "output", "disable", "json"),
		Action: func(c *cli.Context) error {
			var stages []string
			for _, s := range redfox.Stages() {
				stages = append(stages, string(s))
			}
			stage, err := choice("emit", c.String("emit"), stages...)
			if err != nil {
				return err
			}
			prog, err := compileProgram(c.Context, c, con, nil)
			if err != nil {
				return err
			}
			return con.output(c.Context, c.String("output"), func(w writer) error {
				return prog.Emit(w, redfox.Stage(stage), nil)
			})
		},
	}
}
