package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/driver"
)

func explainCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "show the plan of a program, or what a diagnostic means",
		ArgsUsage: "PROGRAM... | CODE",
		Description: "Without facts, the plan is what the optimiser makes of the program alone; with --facts it " +
			"knows how many tuples there are. Below it come choices between plans, with the sizes and costs that they rest on: multijoins or binary joins, and auxiliary relations of recursive rules. --steps shows what each pass changed; --run runs the plan and " +
			"adds the engine, tuples and times, and marks the costliest command. The kernels that the plan becomes come last, but not after a run on engine go, which has none; --kernels says what each is expected " +
			"to take and what is decided of its code, with reasons, and with facts the time that it is predicted to take on a GPU; after a run on engine gpu, by estimates and by the rows that were counted. --format json prints these times alone. --why-not-fused lists those that stay apart, with reasons. A code, such as RF0101, gets its text; the word codes lists all of them.\n\n" +
			examplesMark +
			"redfox explain reach.logic\n" +
			"redfox explain --steps reach.logic\n" +
			"redfox explain --run reach.logic --facts data\n" +
			"redfox explain --kernels --why-not-fused reach.logic\n" +
			"redfox explain RF0101",
		Flags: flags(append([]string{"clauses", "steps", "run", "kernels", "why-not-fused", "no-fuse",
			"keep-apart", "no-decompose", "no-tiers", "target", "format", "print", "engine", "device",
			"threads", "memory", "spill", "device-memory", "max-rounds", "trust-code", "timeout",
			"disable", "json"}, factNames...)...),
		Action: func(c *cli.Context) error {
			if name := c.Args().First(); c.NArg() == 1 && isCode(name) {
				return explainCode(con, name)
			}
			if _, err := choice("format", formatOr(c, "text"), "text", "json"); err != nil {
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
			return r.explain(ctx, c)
		},
	}
}

// explain prints the plan, after loading facts and running it as asked.
func (r *run) explain(ctx context.Context, c *cli.Context) error {
	defer r.progress.done()
	prog, _, err := r.prepare(ctx, c)
	if err != nil {
		return err
	}
	targets, err := targetsOf(c)
	if err != nil {
		return err
	}
	if len(targets) > 1 {
		return &usageError{message: fmt.Sprintf("kernels are explained for one target, and these are %s", strings.Join(targets, ", "))}
	}
	if _, _, err := prog.ChooseEngine(nil, r.options); err != nil {
		return err
	}
	opts := driver.ExplainOptions{Target: strings.Join(targets, ""), Steps: c.Bool("steps"),
		Run:     c.Bool("run"),
		JSON:    formatOr(c, "text") == "json",
		Kernels: c.Bool("kernels"), WhyNotFused: c.Bool("why-not-fused"), RunOptions: r.options}
	var db *driver.Database
	if r.given || opts.Run {
		if db, err = r.read(ctx, prog); err != nil {
			return err
		}
	}
	return written(prog.Explain(ctx, stoppable{ctx, r.con.out}, db, opts))
}

// codePattern is what codes of diagnostics look like.
var codePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i)RF\d+$`)
})

// isCode reports whether an argument of explain means a diagnostic: it looks
// like a code or is the name of one, and no file is called so.
func isCode(arg string) bool {
	if _, err := os.Stat(arg); err == nil {
		return false
	}
	return codePattern().MatchString(arg) || arg == "codes" || diag.Lookup(arg) != nil
}

// explainCode prints the text of a diagnostic code.
func explainCode(con *console, name string) error {
	if name == "codes" {
		for _, code := range diag.Codes() {
			fmt.Fprintf(con.out, "%s  %s\n", code.ID, code.Name)
		}
		return nil
	}
	code := diag.Lookup(name)
	if code == nil {
		return &usageError{command: "explain",
			message: fmt.Sprintf("there is no diagnostic %s", strings.ToUpper(name)),
			help:    "redfox explain codes lists them"}
	}
	fmt.Fprintf(con.out, "%s %s\n\n%s\n", code.ID, code.Name, wrap(code.When))
	if code.Example != "" {
		fmt.Fprintf(con.out, "\nFor example:\n\n%s\n", indent(code.Example))
	}
	if code.Fix != "" {
		fmt.Fprintf(con.out, "\n%s\n", wrap("To mend it: "+code.Fix))
	}
	if text := code.Mended(); text != "" && text != code.Example {
		fmt.Fprintf(con.out, "\nMended:\n\n%s\n", indent(text))
	}
	return nil
}
