package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/internal/driver"
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

// label names the change in what --stats and --profile show. number is its
// place among the changes, which messages about a text show.
func (c change) label(number int) string {
	if c.kind == execText {
		return fmt.Sprintf("--%s %d", c.kind, number)
	}
	return c.String()
}

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
func (c change) transaction(number int) (t driver.Transaction, err error) {
	t.Install = c.kind == addFile
	switch c.kind {
	case execBlock:
		t.Block = c.text
		return t, nil
	case execText:
		t.Sources = []driver.Source{driver.Text(fmt.Sprintf("<exec-text %d>", number), c.text)}
		return t, nil
	}
	t.Sources, err = driver.ReadSources(c.text)
	return t, err
}

// hasProject reports whether an argument names a project.
func hasProject(c *cli.Context) bool {
	return slices.ContainsFunc(c.Args().Slice(), func(name string) bool {
		return filepath.Ext(name) == projectExtension
	})
}

// transactions runs the program and the transactions after it, and prints the
// results of the program at the end.
func (r *run) transactions(ctx context.Context, c *cli.Context, changes []change) error {
	defer r.progress.done()
	sources, err := r.program(c)
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		// The database has the program.
	} else if name := sources[0].Name; isProgram(name) && filepath.Ext(name) != ".logic" {
		return &usageError{command: c.Command.Name,
			message: name + " has no clauses that transactions could follow",
			help:    "name the files of LogiQL that it was made from"}
	}
	session, err := driver.OpenSession(driver.SessionOptions{Engine: r.options.Engine,
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
	if program, executed, ordered := driver.Executions(sources); ordered {
		sources = program
		for i, s := range executed {
			changes = slices.Insert(changes, i, change{kind: execFile, text: s.Name})
		}
	}
	err = r.inSession(ctx, c, session, sources, changes)
	return errors.Join(err, session.Close())
}

// inSession runs the transactions of a session. --keep-going keeps those that
// violate a constraint; others are rolled back.
func (r *run) inSession(ctx context.Context, c *cli.Context, session *driver.Session,
	sources []driver.Source, changes []change) error {
	x := r.executing("the program")
	w, err := r.open(ctx, c, session, sources, needsWriter(c, changes), x.options)
	violated, err := r.kept(w != nil, err)
	if err != nil {
		return err
	}
	return r.sequence(ctx, c, session, w, x, changes, violated)
}

// needsWriter reports whether transactions have to lock a database. Queries
// wait for no writer, and no writer waits for them.
func needsWriter(c *cli.Context, changes []change) bool {
	mayStore := c.IsSet("facts") || c.IsSet("fact")
	return slices.ContainsFunc(changes, func(change change) bool {
		t, err := change.transaction(0)
		return mayStore || err == nil && !t.OnlyAsks()
	})
}

// sequence runs transactions after the program, whose run is x, and closes the
// workspace.
func (r *run) sequence(ctx context.Context, c *cli.Context, session *driver.Session,
	w *driver.Workspace, x *execution, changes []change, violated bool) (err error) {
	defer func() { err = cmp.Or(err, w.Close()) }()
	r.told(w)
	if err := x.end(w, nil); err != nil {
		return err
	}
	if err := r.check(w.Report()); err != nil {
		return err
	}
	asked, aborted := false, violated
	for i, change := range changes {
		t, err := change.transaction(i + 1)
		if err != nil {
			return err
		}
		x := r.executing(change.label(i + 1))
		res, err := session.Exec(ctx, w, t, x.options)
		if errors.Is(err, driver.ErrReadOnly) {
			// It only asks, but an installed rule reacts to each transaction.
			var writer *driver.Workspace
			if writer, err = r.open(ctx, c, session, nil, true, x.options); err != nil {
				return err
			}
			w = writer
			res, err = session.Exec(ctx, w, t, x.options)
		}
		violated, err := r.kept(res != nil, err)
		var wrong *driver.ProgramError
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
		aborted = aborted || violated
		r.told(w)
		x.ran = time.Now()
		if names := res.Predicates(); len(names) > 0 {
			asked = true
			shown := chosen{results: results{header: r.results.header, limit: r.results.limit,
				cut: r.results.cut},
				shown: names}
			if r.results.dir == "" && r.results.file == "" && r.results.base == "" {
				shown.format = r.results.format
			}
			if err := shown.write(ctx, r.con, res); err != nil {
				return err
			}
		}
		if err := x.end(w, res); err != nil {
			return err
		}
	}
	if err := r.final(ctx, session, w, asked, len(changes) > 0); err != nil {
		return err
	}
	if err := r.writeProfile(); err != nil || !aborted {
		return err
	}
	return &toldError{exitProgram}
}

// kept reports whether a transaction was kept although it violates a
// constraint, and prints which. Another error is returned.
func (r *run) kept(isDone bool, err error) (bool, error) {
	var wrong *driver.ProgramError
	if !r.options.KeepGoing || !isDone || !errors.As(err, &wrong) {
		return false, err
	}
	r.progress.done()
	r.con.diagnostics(wrong.Diagnostics)
	return true, nil
}

// told prints the warnings of a transaction, and what is noteworthy about the
// facts that it read.
func (r *run) told(w *driver.Workspace) {
	r.progress.done()
	r.con.diagnostics(w.Warnings())
	r.notes(w.Report())
}

// final prints and writes what the program derives from the contents of the
// workspace. If queries have been asked already, a program without queries
// prints only what --print names. Transactions may have nothing to print.
func (r *run) final(ctx context.Context, session *driver.Session, w *driver.Workspace,
	asked, changed bool) error {
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
	exports, err := prog.ResolveExports(driver.ExportOptions{Dir: wanted.dir, Allow: r.allowed})
	if err == nil {
		err = wanted.leave(exports)
	}
	if err != nil {
		return err
	}
	x := r.executing("results")
	opts := x.options
	opts.Outputs = wanted.all()
	for _, x := range exports {
		if !slices.Contains(opts.Outputs, x.Pred) {
			opts.Outputs = append(opts.Outputs, x.Pred)
		}
	}
	if len(opts.Outputs) == 0 && (asked || changed) {
		return nil
	}
	res, err := session.Read(ctx, w, opts)
	if res == nil {
		return err
	}
	// A constraint that does not hold has been reported.
	r.progress.done()
	x.ran = time.Now()
	if err := wanted.write(ctx, r.con, res); err != nil {
		return err
	}
	for _, x := range exports {
		if err := prog.WriteExport(res, x); err != nil {
			return err
		}
	}
	return x.end(w, res)
}

// execution is one run of a sequence of transactions, as --stats and --profile
// show it.
type execution struct {
	run        *run
	label      string
	options    driver.RunOptions
	start, ran time.Time
}

// executing begins a run. Its spans are on tracks of its own.
func (r *run) executing(label string) *execution {
	x := &execution{run: r, label: label, options: r.options, start: time.Now()}
	if r.profile != "" {
		x.options.Trace = func(s driver.Span) {
			s.Track = label + ": " + s.Track
			r.tracer.Add(s)
		}
	}
	return x
}

// end prints what --stats says of the run. res is nil if nothing is shown of
// it.
func (x *execution) end(w *driver.Workspace, res *driver.Result) error {
	r, now := x.run, time.Now()
	x.ran = cmp.Or(x.ran, now)
	if res != nil && r.profile != "" {
		x.options.Trace(driver.Span{Track: driver.HostTrack, Name: "write results", Start: x.ran,
			Duration: now.Sub(x.ran)})
	}
	if !r.stats {
		return nil
	}
	if err := r.con.out.Flush(); err != nil {
		return &outputError{err}
	}
	stats, compile := w.Latest()
	var names []string
	if res != nil {
		names = res.Predicates()
	}
	fmt.Fprintf(r.con.err, "run      %s\n", x.label)
	r.printLoaded(w.Report())
	r.printRun(res, stats, names)
	compiled := x.start.Add(compile)
	r.printTime(stats, moments{start: x.start, compiled: compiled,
		loaded: compiled.Add(stats.Load), ran: x.ran, written: now})
	return nil
}
