package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox"
)

// changeKind is a flag that is a transaction.
type changeKind string

// The flags of transactions.
const (
	addFile  changeKind = "add"
	execFile changeKind = "exec"
	execText changeKind = "exec-text"
	// execBlock names an inactive block of a project.
	execBlock changeKind = "exec-block"
)

// change is one transaction of the command line.
type change struct {
	kind  changeKind
	text  string // a file, or LogiQL
	place int64  // on the command line, from 1
}

// String returns the change as it is on the command line.
func (c change) String() string { return "--" + string(c.kind) + " " + shellQuote(c.text) }

// changes is the value of a flag of transactions.
type changes struct {
	kind changeKind
	list []change
}

// changed counts the changes of this process. It orders those of different
// flags.
var changed atomic.Int64

// Set adds a transaction.
func (s *changes) Set(text string) error {
	s.list = append(s.list, change{s.kind, text, changed.Add(1)})
	return nil
}

// String returns nothing: no transaction is the default.
func (s *changes) String() string { return "" }

// changesOf returns the transactions in the order of the command line.
func changesOf(c *cli.Context) ([]change, error) {
	var out []change
	for _, kind := range []changeKind{addFile, execFile, execText, execBlock} {
		if s, ok := c.Generic(string(kind)).(*changes); ok {
			out = append(out, s.list...)
		}
	}
	slices.SortFunc(out, func(a, b change) int { return cmp.Compare(a.place, b.place) })
	_, err := choice("on-abort", c.String("on-abort"), "stop", "continue")
	if err == nil && c.IsSet("on-abort") && len(out) == 0 {
		err = &usageError{command: c.Command.Name,
			message: "--on-abort is about transactions, and there are none",
			help:    "add some with --add, --exec, --exec-text or --exec-block"}
	}
	return out, err
}

// transaction reads a transaction.
func (c change) transaction(number int) (t redfox.Transaction, err error) {
	t.Install = c.kind == addFile
	switch c.kind {
	case execBlock:
		t.Block = c.text
		return t, nil
	case execText:
		t.Sources = []redfox.Source{redfox.Text(fmt.Sprintf("<exec-text %d>", number), c.text)}
		return t, nil
	}
	t.Sources, err = redfox.ReadSources(c.text)
	return t, err
}

// transactions runs the program and the transactions after it, and prints the
// results of the program at the end.
func (r *run) transactions(ctx context.Context, c *cli.Context, changes []change) error {
	defer r.progress.done()
	if r.stats || r.profile != "" {
		return &usageError{command: c.Command.Name,
			message: "--stats and --profile are of one run, and transactions are several",
			help:    "leave them out"}
	}
	if r.options.KeepGoing {
		return &usageError{command: c.Command.Name,
			message: "--keep-going is of one run, and a transaction that violates a constraint changes nothing",
			help:    "leave it out, or write --on-abort continue to run the transactions after it"}
	}
	sources, err := readProgram(c)
	if err != nil {
		return err
	}
	if name := sources[0].Name; isProgram(name) && filepath.Ext(name) != ".logic" {
		return &usageError{command: c.Command.Name,
			message: name + " has no clauses that transactions could follow",
			help:    "name the files of LogiQL that it was made from"}
	}
	session, err := redfox.OpenSession(redfox.SessionOptions{Engine: r.options.Engine,
		Device: r.options.Device, DeviceMemory: r.options.DeviceMemory,
		Threads: r.options.Threads, Memory: r.options.Memory})
	if err != nil {
		return err
	}
	limitHeap(r.options.Memory)
	for _, change := range changes {
		if change.kind == addFile || change.kind == execFile {
			r.facts.Allow(filepath.Dir(change.text))
		}
	}
	r.options.Load = r.load
	err = r.inSession(ctx, c, session, sources, changes)
	return errors.Join(err, session.Close())
}

func (r *run) inSession(ctx context.Context, c *cli.Context, session *redfox.Session,
	sources []redfox.Source, changes []change) error {
	w, err := session.OpenWorkspace(ctx, sources, r.facts, programOptions(c, r.external), r.options)
	if err != nil {
		return err
	}
	r.told(w)
	if err := r.check(w.Report()); err != nil {
		return err
	}
	asked, aborted := false, false
	for i, change := range changes {
		t, err := change.transaction(i + 1)
		if err != nil {
			return err
		}
		res, err := session.Exec(ctx, w, t, r.options)
		var wrong *redfox.ProgramError
		switch {
		case errors.As(err, &wrong) && c.String("on-abort") == "continue":
			aborted = true
			r.progress.done()
			r.con.diagnostics(wrong.Diagnostics)
			fmt.Fprintf(r.con.err, "redfox: note: %s was rolled back\n", change)
			continue
		case errors.As(err, &wrong):
			r.progress.done()
			fmt.Fprintf(r.con.err, "redfox: note: %s was rolled back\n", change)
			return err
		case err != nil:
			return err
		}
		r.told(w)
		if names := res.Predicates(); len(names) > 0 {
			asked = true
			shown := chosen{results: results{header: r.results.header, limit: r.results.limit},
				shown: names}
			if r.results.dir == "" && r.results.file == "" {
				shown.format = r.results.format
			}
			if err := shown.write(ctx, r.con, res); err != nil {
				return err
			}
		}
	}
	if err := r.final(ctx, session, w, asked); err != nil || !aborted {
		return err
	}
	return &toldError{exitProgram}
}

// told prints the warnings of a transaction, and what is noteworthy about the
// facts that it read.
func (r *run) told(w *redfox.Workspace) {
	r.progress.done()
	r.con.diagnostics(w.Warnings())
	r.notes(w.Report())
}

// final prints and writes what the program derives from the contents of the
// workspace. If queries have been asked already, a program without queries
// prints only what --print names.
func (r *run) final(ctx context.Context, session *redfox.Session, w *redfox.Workspace,
	asked bool) error {
	prog, err := w.Program(ctx)
	if err != nil {
		return err
	}
	wanted, err := r.results.choose(prog)
	if err == nil {
		err = wanted.prepare(r.con)
	}
	if err != nil {
		return err
	}
	if wanted.implicit && asked {
		wanted.shown = nil
	}
	exports, err := prog.ResolveExports(redfox.ExportOptions{Dir: wanted.dir, Allow: r.allowed})
	if err == nil {
		err = wanted.leave(exports)
	}
	if err != nil {
		return err
	}
	opts := r.options
	opts.Outputs = wanted.all()
	for _, x := range exports {
		if !slices.Contains(opts.Outputs, x.Pred) {
			opts.Outputs = append(opts.Outputs, x.Pred)
		}
	}
	if len(opts.Outputs) == 0 && asked {
		return nil
	}
	res, err := session.Read(ctx, w, opts)
	if err != nil {
		return err
	}
	r.progress.done()
	if err := wanted.write(ctx, r.con, res); err != nil {
		return err
	}
	for _, x := range exports {
		if err := prog.WriteExport(res, x); err != nil {
			return err
		}
	}
	return nil
}
