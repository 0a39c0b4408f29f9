package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/internal/collector"
	"github.com/redfoxdb/redfox/internal/driver"
)

func runCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "run a program over facts",
		ArgsUsage: "PROGRAM...",
		Description: "Prints the program's queries, the predicates named _; without any, what it derives and " +
			"exports; with --print, just the predicates named. Tuples come out sorted.\n\n" +
			"DIR/a_b.tsv and DIR/a/b.tsv both hold predicate a:b. Text files may be compressed (.gz, .zst). " +
			"One Parquet file, or text file with --header, feeds all predicates whose arguments are columns " +
			"of it.\n\n" +
			"A project file, such as shop.project, stands for the files that it lists.\n\n" +
			"The program is a transaction. --add, --exec, --exec-text and --exec-block are further ones, in the order of the " +
			"command line; each that fails changes nothing. Queries of --exec and --exec-text are printed, and at " +
			"the end the results of the program.\n\n" +
			"With --db FILE.rfdb, transactions change the database in that file, and the program is the one in it; a file that is not there is made of PROGRAM and the facts.\n\n" +
			"A recursion of which RF0604 warns ends with an error after --max-rounds rounds. Ctrl-C, SIGTERM and SIGHUP end a run with " +
			"exit code 130; a result that cannot be written is exit code 2.\n\n" +
			examplesMark +
			"redfox run reach.logic --facts data\n" +
			"redfox run reach.logic --facts data -c '_(x) <- reach(1, x).'\n" +
			"redfox run reach.logic --fact road=roads.tsv.gz --print reach --format tsv | head\n" +
			"redfox run schema.logic rules.logic --facts data --out results --format parquet\n" +
			"redfox run shop.logic --exec-text '+order(\"ann\", \"pear\").' --print stock\n" +
			"redfox run --db shop.rfdb --exec sale.logic",
		Flags: flags("clauses", "facts", "fact", "allow-path", "header", "delimiter", "null", "on-error", "missing-facts", "strict", "print", "out", "format",
			"limit", "keep-going", "stats", "profile",
			"engine", "device", "threads", "memory", "spill", "device-memory", "max-rounds", "trust-code",
			"timeout", "disable", "no-fuse", "keep-apart", "no-decompose", "no-tiers", "json",
			"add", "exec", "exec-text", "exec-block", "on-abort", "db"),
		Action: func(c *cli.Context) error {
			r, err := newRun(c, con)
			if err != nil {
				return err
			}
			ctx, cancel, err := withTimeout(c)
			if err != nil {
				return err
			}
			defer cancel()
			changes, err := changesOf(c)
			if err != nil {
				return err
			}
			ordered := false
			if len(changes) == 0 && hasProject(c) && !c.IsSet("db") {
				sources, err := readProgram(c)
				if err != nil {
					return err
				}
				_, _, ordered = driver.Executions(sources)
			}
			if len(changes) > 0 || ordered || c.IsSet("db") {
				return r.transactions(ctx, c, changes)
			}
			return r.do(ctx, c)
		},
	}
}

// gcPercent and gcSlack make Go's collector run when the heap has grown by this
// share and by so many bytes. The large arrays of loaded facts hold no pointers
// and cost nothing to mark, so running it often is cheap and keeps the peak of
// memory near what is in use. The trees of a large program are costly to mark
// and small.
const (
	gcPercent = 25
	gcSlack   = 64 << 20
)

// limitHeap keeps the garbage of loading and running small. Compiling makes too
// little of it to be worth the collector's time.
func limitHeap(memory int64) {
	collector.Allow(gcPercent, gcSlack)
	driver.LimitProcess(memory)
}

// run is one execution of the run or explain --run command.
type run struct {
	con *console
	factFlags
	options  driver.RunOptions
	results  results
	stats    bool
	profile  string // the file of --profile, or ""
	tracer   driver.Tracer
	progress *progress
}

// newRun checks the flags before anything is read.
func newRun(c *cli.Context, con *console) (*run, error) {
	if c.Bool("stats") && c.Bool("json") {
		return nil,
			&usageError{message: "--stats writes text to standard error, where --json writes its document", help: "give one of them"}
	}
	r := &run{
		con:      con,
		stats:    c.Bool("stats"),
		profile:  c.String("profile"),
		progress: newProgress(con),
	}
	engine, err := engineFlags(c)
	if err != nil {
		return nil, err
	}
	threads := c.Int("threads")
	if err := notNegative("threads", threads); err != nil {
		return nil, err
	}
	memory, err := sizeFlag(c, "memory")
	if err != nil {
		return nil, err
	}
	if memory, err = con.withinLimit(memory, engine); err != nil {
		return nil, err
	}
	spill, err := spillFlag(c, memory > 0 || engine == driver.EngineGPU)
	if err != nil {
		return nil, err
	}
	deviceMemory, err := sizeFlag(c, "device-memory")
	if err != nil {
		return nil, err
	}
	if r.factFlags, err = newFactFlags(c); err != nil {
		return nil, err
	}
	r.load.Threads, r.load.Memory, r.load.Progress = threads, memory, r.showLoad
	r.options = driver.RunOptions{
		Engine:       engine,
		Threads:      threads,
		Memory:       memory,
		Spill:        spill,
		Device:       c.String("device"),
		DeviceMemory: deviceMemory,
		MaxRounds:    roundsOf(c),
		NoDecompose:  c.Bool("no-decompose"),
		NoTiers:      c.Bool("no-tiers"),
		KeepGoing:    c.Bool("keep-going"),
		Progress:     r.showRun,
		Profile:      r.stats,
	}
	if r.profile != "" {
		r.options.Trace = r.tracer.Add
	}
	r.results, err = newResults(c)
	return r, err
}

// prepare compiles the program and decides what is wanted of it.
func (r *run) prepare(ctx context.Context, c *cli.Context) (*driver.Program, chosen, error) {
	prog, err := compileProgram(ctx, c, r.con, r.external)
	if err != nil {
		return nil, chosen{}, err
	}
	wanted, err := r.results.choose(prog)
	if err == nil {
		err = wanted.prepare(r.con)
	}
	outputs := wanted.all()
	for _, x := range prog.Exports() {
		if !slices.Contains(outputs, x.Pred) {
			outputs = append(outputs, x.Pred)
		}
	}
	r.load.Predicates = outputs
	r.options.Outputs = outputs
	return prog, wanted, err
}

// read loads the facts and prints what is noteworthy about them. It ends as
// soon as the engine turns out to be unavailable.
func (r *run) read(ctx context.Context, prog *driver.Program) (*driver.Database, error) {
	defer r.progress.done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	missing := make(chan error, 1)
	go func() {
		_, _, err := prog.ChooseEngine(nil, r.options)
		if err != nil {
			cancel(err)
		}
		missing <- err
	}()
	opts := r.options
	opts.Load = r.load
	opts.Load.Once = true
	db, err := prog.LoadFor(ctx, r.facts, opts)
	if none := <-missing; none != nil {
		return nil, none
	}
	if err != nil {
		return nil, err
	}
	r.progress.done()
	r.notes(db.Report())
	if err := r.check(db.Report()); err != nil {
		return nil, err
	}
	chosen, passed, err := prog.ChooseEngine(db, r.options)
	if err != nil {
		return nil, err
	}
	if chosen.Name != driver.EngineGo {
		r.con.noteCodeFolder()
	}
	for _, e := range passed {
		fmt.Fprintf(r.con.err,
			"redfox: note: running on engine %s, because %s is not available: %s\n", chosen.Name,
			e.Name, e.Detail)
	}
	return db, nil
}

// spillFlag returns the folder of --spill, which can be used. Bounded says that
// something bounds the memory.
func spillFlag(c *cli.Context, bounded bool) (string, error) {
	folder := c.String("spill")
	switch {
	case c.IsSet("spill") && !bounded:
		return "", &usageError{message: "--spill is for runs that --memory or a GPU's memory bounds",
			help: "give --memory as well, such as --memory 8G, or --engine gpu"}
	case folder == "":
		return "", nil
	}
	return folder, driver.CheckSpill(folder)
}

// adviseSpill adds to an error of --memory that a file could help.
func (r *run) adviseSpill(err error) error {
	var lack *driver.EnvironmentError
	if r.options.Memory == 0 || r.options.Spill != "" || !driver.CouldSpill(err) ||
		!errors.As(err, &lack) || lack.Help != "" {
		return err
	}
	advised := *lack
	advised.Help = "or give --spill DIR, and the run keeps in that folder what does not fit"
	return &advised
}

// do compiles, loads, runs and prints.
func (r *run) do(ctx context.Context, c *cli.Context) error {
	defer r.progress.done()
	at := moments{start: time.Now()}
	driver.StartEngine(r.options, programOptions(c, r.external))
	prog, wanted, err := r.prepare(ctx, c)
	if err != nil {
		return err
	}
	exports, err := prog.ResolveExports(driver.ExportOptions{Dir: wanted.dir, Allow: r.allowed})
	if err == nil {
		err = wanted.leave(exports)
	}
	if err != nil {
		return err
	}
	at.compiled = time.Now()
	r.traced("compile the program", at.start, at.compiled)
	limitHeap(r.options.Memory)
	db, err := r.read(ctx, prog)
	if err != nil {
		return r.adviseSpill(err)
	}
	at.loaded = time.Now()
	r.traced("load facts", at.compiled, at.loaded)
	res, violated := prog.RunOn(ctx, db, r.options)
	if res == nil {
		return r.adviseSpill(violated)
	}
	at.ran = time.Now()
	r.progress.done()
	if n := res.Stats.Dropped; n > 0 {
		fmt.Fprintf(r.con.err,
			"redfox: note: %s did not fit the type, so the atoms that need them are false\n",
			count(n, "decimal"))
	}
	if res.Stats.Spill != nil && res.Stats.Device != nil {
		fmt.Fprintln(r.con.err, "redfox: note: the run did not fit the memory of the GPU and went on by "+
			"parts; --stats says how")
	}
	r.noteCombinations(prog, res)
	if err := wanted.write(ctx, r.con, res); err != nil {
		return err
	}
	for _, x := range exports {
		if err := prog.WriteExport(res, x); err != nil {
			return err
		}
	}
	at.written = time.Now()
	r.traced("write results", at.ran, at.written)
	if r.stats {
		if err := r.con.out.Flush(); err != nil {
			return &outputError{err}
		}
		r.printStats(db, res, wanted.all(), at)
	}
	return cmp.Or(violated, r.writeProfile())
}

// noteCombinations prints how many combinations of entities the rules tried of
// which RF0806 warns.
func (r *run) noteCombinations(prog *driver.Program, res *driver.Result) {
	for _, c := range prog.Combinations(res) {
		var sizes []string
		for i, name := range c.Types {
			sizes = append(sizes, fmt.Sprintf("%d of %s", c.Sizes[i], name))
		}
		fmt.Fprintf(r.con.err, "redfox: note: the rule at %s:%d:%d tries %s: %s\n", c.At.File,
			c.At.Line, c.At.Column, count(c.Count, "combination"), strings.Join(sizes, " times "))
	}
}

// traced adds what the command did to the profile.
func (r *run) traced(name string, start, end time.Time) {
	r.tracer.Add(driver.Span{Track: driver.HostTrack, Name: name, Start: start,
		Duration: end.Sub(start)})
}

// writeProfile writes the file of --profile, if it was asked for.
func (r *run) writeProfile() error {
	if r.profile == "" {
		return nil
	}
	return replaceFile(r.profile, r.tracer.Write)
}
