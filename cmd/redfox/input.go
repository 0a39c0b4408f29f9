package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox"
	"github.com/redfoxdb/redfox/frontend/diag"
)

// The extensions of files that hold a query plan or a kernel graph instead of
// LogiQL. Compiled programs have redfox.CompiledExtension.
const (
	planExtension    = ".plan"
	harmonyExtension = ".harmony"
)

// isProgram reports whether a file is one of a program, by its name.
func isProgram(name string) bool {
	switch filepath.Ext(name) {
	case ".logic", planExtension, harmonyExtension, redfox.CompiledExtension:
		return true
	}
	return false
}

// readProgram reads the files that the arguments name; "-" is standard input.
func readProgram(c *cli.Context) ([]redfox.Source, error) {
	clauses := c.StringSlice("clauses")
	if !c.Args().Present() && len(clauses) == 0 {
		return nil, &usageError{command: c.Command.Name, message: "no program is named",
			help: "write redfox " + c.Command.Name + " PROGRAM, or - for standard input"}
	}
	var sources []redfox.Source
	var err error
	if c.Args().Present() {
		sources, err = redfox.ReadSources(c.Args().Slice()...)
	}
	for i, text := range clauses {
		sources = append(sources, redfox.Text(fmt.Sprintf("<clauses %d>", i+1), text))
	}
	for _, s := range sources {
		if ext := filepath.Ext(s.Name); len(sources) > 1 && ext != ".logic" && isProgram(s.Name) {
			return nil, &usageError{command: c.Command.Name,
				message: fmt.Sprintf("%s is a whole program; it cannot be combined with other files", s.Name)}
		}
	}
	return sources, err
}

// programOptions are those of the flags.
func programOptions(c *cli.Context, external []string) redfox.Options {
	return redfox.Options{Disable: splitList(c.StringSlice("disable")), External: external,
		NoFuse:    c.Bool("no-fuse"),
		KeepApart: splitList(c.StringSlice("keep-apart")), TrustCode: c.Bool("trust-code")}
}

// compileProgram reads and compiles the program that the arguments name, and
// prints its warnings.
func compileProgram(ctx context.Context, c *cli.Context, con *console,
	external []string) (*redfox.Program, error) {
	sources, err := readProgram(c)
	if err != nil {
		return nil, err
	}
	opts := programOptions(c, external)
	switch s := sources[0]; filepath.Ext(s.Name) {
	case planExtension:
		return redfox.ParsePlan(s, opts)
	case redfox.CompiledExtension:
		compiled, err := redfox.ParseCompiled(s)
		if err != nil {
			return nil, err
		}
		return compiled.Program(opts)
	case harmonyExtension:
		return nil, &redfox.EnvironmentError{
			Message: fmt.Sprintf("%s is a kernel graph; redfox %s takes LogiQL, plans and compiled programs", s.Name, c.Command.Name),
			Help:    "redfox compile --emit and redfox check take kernel graphs"}
	}
	prog, err := redfox.Compile(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	con.diagnostics(prog.Warnings())
	return prog, nil
}

// factNames are the flags about facts that every command with facts takes.
var factNames = []string{"facts", "fact", "allow-path", "header", "on-error", "missing-facts",
	"strict"}

// factFlags is what the flags say of facts.
type factFlags struct {
	facts    *redfox.Facts
	external []string // predicates that --fact names
	given    bool     // a flag names some
	allowed  []string // folders of --allow-path
	load     redfox.LoadOptions
	strict   bool
}

// newFactFlags checks the flags about facts, before any are read.
func newFactFlags(c *cli.Context) (factFlags, error) {
	f := factFlags{facts: redfox.NewFacts().Dir(c.String("facts")), given: c.IsSet("facts") ||
		c.IsSet("fact"), strict: c.Bool("strict")}
	onError, err := choice("on-error", c.String("on-error"), "stop", "skip")
	if err != nil {
		return f, err
	}
	missing, err := choice("missing-facts", c.String("missing-facts"), "error", "empty")
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
		MissingEmpty:  missing == "empty",
	}
	return f, nil
}

// allow decides which folders the program may read below, beside that of
// --facts: those of --allow-path, its own and the current one.
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

// check returns what --strict makes an error: notes about predicates without
// files and files without predicates.
func (f *factFlags) check(report *redfox.LoadReport) error {
	if !f.strict || len(report.Unmatched) == 0 {
		return nil
	}
	wrong := &redfox.ProgramError{}
	for _, note := range report.Unmatched {
		wrong.Diagnostics = append(wrong.Diagnostics, &redfox.Diagnostic{Severity: diag.Error,
			Code: diag.UnmatchedFacts, Message: note})
	}
	return wrong
}
