package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox"
)

// factNames are the flags about facts that every command with facts takes.
var factNames = []string{"facts", "fact", "header", "on-error"}

// factFlags is what the flags say of facts.
type factFlags struct {
	facts    *redfox.Facts
	external []string // predicates that --fact names
	given    bool     // a flag names some
	load     redfox.LoadOptions
}

// newFactFlags checks the flags about facts, before any are read.
func newFactFlags(c *cli.Context) (factFlags, error) {
	f := factFlags{facts: redfox.NewFacts().Dir(c.String("facts")), given: c.IsSet("facts") || c.IsSet("fact")}
	onError, err := choice("on-error", c.String("on-error"), "stop", "skip")
	if err != nil {
		return f, err
	}
	for _, text := range c.StringSlice("fact") {
		file, err := redfox.ParseFact(text)
		if err != nil {
			return f, &usageError{command: c.Command.Name, message: "--fact " + err.Error()}
		}
		if _, err := os.Stat(file.Path); err != nil {
			return f, usage("name a file that is there, as in --fact "+file.Pred+"=FILE",
				"--fact %s: %v", shellQuote(text), reason(err))
		}
		f.facts.Add(file)
		f.external = append(f.external, file.Pred)
	}
	f.load = redfox.LoadOptions{
		Header:        headerOf(c) == headerBoth || headerOf(c) == headerFacts,
		SkipMalformed: onError == "skip",
	}
	return f, nil
}
