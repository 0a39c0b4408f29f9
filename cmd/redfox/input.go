package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/driver"
)

// The extensions of files that hold a query plan or a kernel graph instead of
// LogiQL. Compiled programs have driver.CompiledExtension.
const (
	planExtension    = ".plan"
	harmonyExtension = ".harmony"
)

// projectExtension is that of files that list the files of a program.
const projectExtension = ".project"

// isProgram reports whether a file is one of a program, by its name.
func isProgram(name string) bool {
	switch filepath.Ext(name) {
	case ".logic", planExtension, harmonyExtension, driver.CompiledExtension:
		return true
	}
	return false
}

// readProgram reads the files that the arguments name; "-" is standard input.
func readProgram(c *cli.Context) ([]driver.Source, error) {
	if !c.Args().Present() && len(c.StringSlice("clauses")) == 0 {
		return nil, &usageError{command: c.Command.Name, message: "no program is named",
			help: "write redfox " + c.Command.Name + " PROGRAM, or - for standard input"}
	}
	return readSources(c, c.Args().Slice())
}

// readSources reads files, and the clauses of the command line.
func readSources(c *cli.Context, files []string) (sources []driver.Source, err error) {
	clauses := c.StringSlice("clauses")
	for _, name := range files {
		switch {
		case driver.IsStored(name):
			return nil, &usageError{command: c.Command.Name,
				message: name + " is a database, not a program",
				help: "name a program and give the file with --facts " + shellQuote(name) +
					", or run the program in it with redfox run --db " + shellQuote(name)}
		case driver.IsFactsName(name) && filepath.Ext(name) != ".txt":
			return nil, &usageError{command: c.Command.Name,
				message: name + " is a file of facts, not a program",
				help:    "name a program and give the file with --fact PRED=" + shellQuote(name)}
		}
	}
	if len(files) > 0 {
		sources, err = driver.ReadSources(files...)
	}
	for i, text := range clauses {
		sources = append(sources, driver.Text(fmt.Sprintf("<clauses %d>", i+1), text))
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
func programOptions(c *cli.Context, external []string) driver.Options {
	return driver.Options{Disable: splitList(c.StringSlice("disable")), External: external,
		NoFuse:    c.Bool("no-fuse"),
		KeepApart: splitList(c.StringSlice("keep-apart")), TrustCode: c.Bool("trust-code")}
}

// compileProgram reads and compiles the program that the arguments name, and
// prints its warnings.
func compileProgram(ctx context.Context, c *cli.Context, con *console,
	external []string) (*driver.Program, error) {
	sources, err := readProgram(c)
	if err != nil {
		return nil, err
	}
	opts := programOptions(c, external)
	switch s := sources[0]; filepath.Ext(s.Name) {
	case planExtension:
		return driver.ParsePlan(s, opts)
	case driver.CompiledExtension:
		compiled, err := driver.ParseCompiled(s)
		if err != nil {
			return nil, err
		}
		return compiled.Program(opts)
	case harmonyExtension:
		return nil, &driver.EnvironmentError{
			Message: fmt.Sprintf("%s is a kernel graph; redfox %s takes LogiQL, plans and compiled programs", s.Name, c.Command.Name),
			Help:    "redfox compile --emit and redfox check take kernel graphs"}
	}
	prog, err := driver.Compile(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	con.diagnostics(prog.Warnings())
	return prog, nil
}

// factNames are the flags about facts that every command with facts takes.
var factNames = []string{"facts", "fact", "allow-path", "header", "delimiter", "null", "on-error", "missing-facts",
	"strict"}

// factFlags is what the flags say of facts.
type factFlags struct {
	facts    *driver.Facts
	external []string // predicates that --fact names
	given    bool     // a flag names some
	stdin    bool     // standard input is read
	allowed  []string // folders of --allow-path
	load     driver.LoadOptions
	strict   bool
}

// newFactFlags checks the flags about facts, before any are read.
func newFactFlags(c *cli.Context) (factFlags, error) {
	f := factFlags{facts: driver.NewFacts().Dir(c.String("facts")), given: c.IsSet("facts") ||
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
		file, err := driver.ParseFact(text)
		if err != nil {
			return f, &usageError{command: c.Command.Name, message: "--fact " + err.Error()}
		}
		if file.Path == "-" {
			if err := f.standardInput(c, &file); err != nil {
				return f, err
			}
		} else if _, err := os.Stat(file.Path); err != nil && !driver.IsPattern(file.Path) &&
			!driver.IsRemote(file.Path) {
			help := "name a file that is there, as in --fact " + file.Pred + "=FILE"
			if near, ok := similarFile(file.Path); ok {
				help = "did you mean " + near + "?"
			}
			return f, usage(help, "--fact %s: %v", shellQuote(text), reason(err))
		}
		f.facts.Add(file)
		f.external = append(f.external, file.Pred)
	}
	f.load = driver.LoadOptions{
		Header:        headerOf(c) == headerBoth || headerOf(c) == headerFacts,
		SkipMalformed: onError == "skip",
		MissingEmpty:  missing == "empty",
	}
	f.load.NoHeader = headerOf(c) == headerNone
	if d, ok := c.Generic("delimiter").(*delimiter); ok {
		f.load.Delimiter = byte(*d)
	}
	if c.IsSet("null") {
		text := c.String("null")
		f.load.Null = &text
	}
	return f, nil
}

// standardInput makes a fact of standard input, which has one reader.
func (f *factFlags) standardInput(c *cli.Context, file *driver.FactFile) error {
	if f.stdin = f.stdin || slices.Contains(c.Args().Slice(), "-"); f.stdin {
		return &usageError{command: c.Command.Name,
			message: fmt.Sprintf("--fact %s=- reads standard input, which is read already", file.Pred),
			help:    "name a file for one of the two"}
	}
	f.stdin, file.Reader, file.Path, file.Sniff = true, os.Stdin, "<stdin>", true
	return nil
}

// similarFile returns a file whose name is like the last part of a path that is
// not there.
func similarFile(path string) (string, bool) {
	dir, name := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return "", false
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	near, ok := diag.Suggest(name, names)
	return dir + near, ok
}

// allow decides which folders the program may read below, beside that of
// --facts: those of --allow-path, its own and the current one.
func (f *factFlags) allow(c *cli.Context) error {
	f.allowed = c.StringSlice("allow-path")
	for _, dir := range f.allowed {
		if driver.IsRemote(dir) {
			continue
		}
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
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			f.facts.Allow(name)
		} else if name != "-" {
			f.facts.Allow(filepath.Dir(name))
		}
	}
	f.facts.Allow(".")
	return nil
}

// check returns what --strict makes an error: notes about predicates without
// files and files without predicates.
func (f *factFlags) check(report *driver.LoadReport) error {
	if !f.strict || len(report.Unmatched) == 0 {
		return nil
	}
	wrong := &driver.ProgramError{}
	for _, note := range report.Unmatched {
		wrong.Diagnostics = append(wrong.Diagnostics, &driver.Diagnostic{Severity: diag.Error,
			Code: diag.UnmatchedFacts, Message: note})
	}
	return wrong
}
