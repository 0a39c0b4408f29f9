package main

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/internal/driver"
)

func whyCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:      "why",
		Aliases:   []string{"why-not"},
		Usage:     "show why a tuple holds, or why it does not",
		ArgsUsage: "GOAL PROGRAM...",
		Description: "GOAL is a tuple, such as 'reach(1, 3)', or another formula, such as 'reach(1, x), x > 7', " +
			"of which one solution is explained. A goal that holds gets a derivation that no other one is shallower than within a recursion: a tree of " +
			"tuples with the rules that derive them. A goal that does not gets each rule that could derive it, the most of its body that " +
			"holds together, and the part at which it fails.\n\n" +
			"The program runs on engine go, without its constraints and other queries.\n\n" +
			examplesMark +
			"redfox why 'reach(118, 126)' reach.logic --facts data\n" +
			"redfox why-not 'reach(1, 1)' reach.logic --facts data --depth 2\n" +
			"redfox why 'reach(118, x), x > 6000' reach.logic --facts data --format json",
		Flags: flags(append([]string{"depth", "format", "clauses", "threads", "memory", "spill",
			"max-rounds", "timeout", "disable", "json"}, factNames...)...),
		Action: func(c *cli.Context) error {
			format, err := choice("format", formatOr(c, "text"), "text", "json")
			if err != nil {
				return err
			}
			depth := c.Int("depth")
			if err := notNegative("depth", depth); err != nil {
				return err
			}
			r, err := newRun(c, con)
			if err != nil {
				return err
			}
			ctx, cancel, err := withTimeout(c)
			if err != nil {
				return err
			}
			defer cancel()
			return r.why(ctx, c, format, depth)
		},
	}
}

// formatOr returns the value of --format, or another one without the flag.
func formatOr(c *cli.Context, other string) string {
	if c.IsSet("format") {
		return c.String("format")
	}
	return other
}

// why compiles the program with the goal, runs it and prints the reasons.
func (r *run) why(ctx context.Context, c *cli.Context, format string, depth int) error {
	defer r.progress.done()
	goal, files := c.Args().First(), c.Args().Tail()
	if goal == "" || len(files) == 0 && len(c.StringSlice("clauses")) == 0 {
		return &usageError{command: c.Command.Name, message: "no goal and program are named",
			help: "write redfox why 'p(1, 2)' PROGRAM"}
	}
	if filepath.Ext(goal) == ".logic" {
		return &usageError{command: c.Command.Name, message: goal + " is a program, not a goal",
			help: "write the goal first, as in redfox why 'p(1, 2)' " + shellQuote(goal)}
	}
	sources, err := readSources(c, files)
	if err != nil {
		return err
	}
	if name := sources[0].Name; isProgram(name) && filepath.Ext(name) != ".logic" {
		return &usageError{command: c.Command.Name, message: name + " has no rules of LogiQL",
			help: "name the files of LogiQL that it was made from"}
	}
	prog, err := driver.Compile(ctx, append(sources, driver.GoalSource(goal)),
		programOptions(c, r.external))
	if err != nil {
		return err
	}
	limitHeap(r.options.Memory)
	if r.load.Predicates, err = prog.GoalPredicates(); err != nil {
		return err
	}
	r.options.Engine, r.options.Outputs = driver.EngineGo, r.load.Predicates
	db, err := r.read(ctx, prog)
	if err != nil {
		return err
	}
	reasons, err := prog.Why(ctx, db, r.options, depth)
	if err != nil {
		return r.adviseSpill(err)
	}
	r.progress.done()
	if format == "text" {
		return written(reasons.WriteText(r.con.out))
	}
	out := json.NewEncoder(r.con.out)
	out.SetEscapeHTML(false)
	return written(out.Encode(reasons))
}
