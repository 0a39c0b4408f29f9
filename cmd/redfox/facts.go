package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox"
)

// factNames are the flags about facts that every command with facts takes.
var factNames = []string{"facts", "fact", "allow-path", "header", "on-error"}

// factFlags is what the flags say of facts.
type factFlags struct {
	facts    *redfox.Facts
	external []string // predicates that --fact names
	given    bool     // a flag names some
	allowed  []string // folders of --allow-path
	load     redfox.LoadOptions
}

// newFactFlags checks the flags about facts, before any are read.
func newFactFlags(c *cli.Context) (factFlags, error) {
	f := factFlags{facts: redfox.NewFacts().Dir(c.String("facts")), given: c.IsSet("facts") || c.IsSet("fact")}
	onError, err := choice("on-error", c.String("on-error"), "stop", "skip")
	if err != nil {
		return f, err
	}
	if err := f.allow(c); err != nil {
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

// allow decides which folders the program may read below, beside that of --facts:
// those of --allow-path, its own and the current one.
func (f *factFlags) allow(c *cli.Context) error {
	f.allowed = c.StringSlice("allow-path")
	for _, dir := range f.allowed {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			err = errors.New("this is a file, not a folder")
		}
		if err != nil {
			return cannot("allow the folder", dir, err)
		}
	}
	f.facts.Allow(f.allowed...)
	for _, name := range c.Args().Slice() {
		if name != "-" {
			f.facts.Allow(filepath.Dir(name))
		}
	}
	f.facts.Allow(".")
	return nil
}
