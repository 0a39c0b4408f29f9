package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/ssbgen"
)

func benchCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:      "bench",
		Usage:     "measure the queries of TPC-H or the Star Schema Benchmark",
		ArgsUsage: "tpch|ssb|list",
		Description: "Runs the queries, which are in the binary, over a folder of Parquet files, one a table, and prints a " +
			"line for each. list names the suites and their queries.\n\n" +
			"load is the reading of the columns that the query needs from the files. cold is from its text to its answer " +
			"with these in memory and nothing compiled before; on a GPU they are copied to it in that time. compile and cached are the " +
			"parts of it up to code that is ready, the latter with what another process has left on disk; on a GPU the first " +
			"summand is up to PTX, and the second one what the driver takes, to make machine code of it and to load that. hot is the " +
			"median of the runs after the first, wall clock from asking for a run to its answer, in order, as columns in the " +
			"host's memory; from to are the shortest and the longest. MB are those of the columns that the query's plan scans, each " +
			"once, as stored, without dictionaries. floor is the share of hot that reading them takes at the bandwidth of the " +
			"memory: of the host's, which is measured, or of the GPU's, as its maker states it.\n\n" +
			"A hot run finds columns and code ready, indexes over facts, and on a GPU the values of functions of strings. --fresh " +
			"shows what runs take that make the latter two again, as most other systems do.\n\n" +
			"--against duckdb measures DuckDB, too: on the same files, which it loads into tables first, with as " +
			"many threads, each query beside ours. Its times are without the making of Python values. Answers are compared " +
			"whole: numbers to the last digit, and where DuckDB computes in binary floating point, to the digits that ours " +
			"have; a difference is an error. Q11 of TPC-H is asked with its parameter for the scale factor. --against duckdb-files " +
			"compares answers where its tables would take more memory than there is: DuckDB runs each query once, over the files. " +
			"--against published shows what others have published for the scale factor. A ratio " +
			"above 1 means that redfox is faster. The last lines are the sum and the geometric mean.\n\n" +
			examplesMark +
			"redfox bench tpch --sf 1 --data tpch/sf1 --against duckdb\n" +
			"redfox bench tpch --sf 10 --data tpch/sf10 --engine gpu --out results\n" +
			"redfox bench ssb --sf 1 --data ssb/sf1 --pass-off FoldConstants\n" +
			"redfox bench tpch --sf 1 --data tpch/sf1 --engine gpu --fresh\n" +
			"redfox bench ssb --sf 1 --generate --queries q11,q21 --runs 30\n" +
			"redfox bench list",
		Flags: flags("sf", "data", "queries", "queries-from", "runs", "against", "python",
			"generate", "shared-facts", "each-pass-off", "pass-off", "fresh", "out",
			"engine", "device", "threads", "memory", "device-memory", "timeout", "disable",
			"no-fuse", "no-decompose"),
		Action: func(c *cli.Context) error {
			if c.Args().First() == "list" && c.Args().Len() == 1 {
				return listSuites(con)
			}
			b, err := newBench(c, con)
			if err != nil {
				return err
			}
			ctx, cancel, err := withTimeout(c)
			if err != nil {
				return err
			}
			defer cancel()
			return b.do(ctx)
		},
	}
}

// listSuites prints the suites and their queries.
func listSuites(con *console) error {
	for _, s := range suite.Suites() {
		queries, err := s.Embedded()
		if err != nil {
			return err
		}
		fmt.Fprintf(con.out, "%s  %s\n%s\n", s.Name, s.Title,
			indent(wrapAt(strings.Join(suite.Names(queries), " "), helpWidth-4)))
	}
	return nil
}

// bench is one execution of the command.
type bench struct {
	measure.Runner
	con      *console
	out      string // the folder of --out, or ""
	passes   bool   // --each-pass-off or --pass-off
	progress *progress
}

// newBench checks the command line, and that the data and what is to run are
// there.
func newBench(c *cli.Context, con *console) (*bench, error) {
	name := c.Args().First()
	s, ok := suite.Find(name)
	switch {
	case name == "":
		return nil, &usageError{message: "no suite is named",
			help: "write redfox bench tpch, or redfox bench list"}
	case !ok:
		return nil, &usageError{message: fmt.Sprintf("there is no suite %q", name),
			help: nearest(name, suiteNames())}
	case c.Args().Len() > 1:
		return nil, &usageError{message: "bench takes one suite",
			help: "name queries with --queries"}
	}
	off := splitList(c.StringSlice("pass-off"))
	if c.Bool("fresh") {
		off = append(off, driver.KeepIndexes)
	}
	b := &bench{con: con, out: c.String("out"), passes: c.Bool("each-pass-off") || len(off) > 0,
		progress: newProgress(con)}
	b.Runner = measure.Runner{Suite: s, Scale: c.Float64("sf"), Dir: c.String("data"),
		Runs: c.Int("runs"), Python: c.String("python"), Shared: c.Bool("shared-facts"),
		Off:      off,
		Progress: b.progress.show, Compile: driver.Options{
			Disable: splitList(c.StringSlice("disable")), NoFuse: c.Bool("no-fuse")}}
	for _, check := range []func(*cli.Context) error{b.checkNumbers, b.checkEngine,
		b.checkQueries, b.checkAgainst, b.checkData} {
		if err := check(c); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// do measures the queries and prints and writes the report. A query that fails
// does not stop the others.
func (b *bench) do(ctx context.Context) error {
	defer b.progress.done()
	limitHeap(b.Run.Memory)
	if b.passes {
		return b.eachPassOff(ctx)
	}
	code := exitDone
	b.Failed = func(q suite.Query, err error) { code = max(code, b.failed(q, err)) }
	if err := b.MeasureAll(ctx); err != nil {
		return err
	}
	b.progress.done()
	b.print()
	if err := b.writeFiles(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case code != exitDone:
		return &toldError{code}
	}
	return nil
}

// eachPassOff prints and writes the table of passes.
func (b *bench) eachPassOff(ctx context.Context) error {
	report, err := b.EachPassOff(ctx)
	if err != nil {
		return err
	}
	b.progress.done()
	if err := report.WriteMarkdown(b.con.out); err != nil {
		return err
	}
	return b.writeFile(ctx, "-passes.md", report.WriteMarkdown)
}

// failed prints the failure of a query and returns its exit code.
func (b *bench) failed(q suite.Query, err error) int {
	b.progress.done()
	var wrong *suite.Mismatch
	if errors.As(err, &wrong) {
		fmt.Fprintf(b.con.err, "redfox: error: %s: wrong answer: %v\n", q.Name, err)
		return exitProgram
	}
	fmt.Fprintf(b.con.err, "redfox: error: %s failed\n", q.Name)
	return b.con.report(err, os.Args)
}

func suiteNames() []string {
	var out []string
	for _, s := range suite.Suites() {
		out = append(out, s.Name)
	}
	return append(out, "list")
}

// checkNumbers checks the flags that are numbers.
func (b *bench) checkNumbers(c *cli.Context) error {
	switch {
	case c.Int("threads") < 0:
		return notNegative("threads", c.Int("threads"))
	case b.Runs < 1:
		return wrongValue("runs", fmt.Sprint(b.Runs), "is less than 1")
	case c.IsSet("sf") && !(b.Scale > 0):
		return wrongValue("sf", fmt.Sprint(b.Scale), "is not more than 0")
	}
	memory, err := sizeFlag(c, "memory")
	if err != nil {
		return err
	}
	deviceMemory, err := sizeFlag(c, "device-memory")
	b.Run = driver.RunOptions{Threads: cmp.Or(c.Int("threads"), goruntime.NumCPU()),
		Memory: memory, Device: c.String("device"), DeviceMemory: deviceMemory,
		NoDecompose: c.Bool("no-decompose"), Outputs: []string{"_"}}
	return err
}

// checkEngine decides which engine all queries run on; auto is the fastest that
// the machine has, whatever the facts.
func (b *bench) checkEngine(c *cli.Context) error {
	engine, err := engineFlags(c)
	if err != nil {
		return err
	}
	chosen, _, err := driver.ChooseEngine(engine)
	if err != nil {
		return err
	}
	b.Run.Engine = chosen.Name
	b.Report.EngineDetail = chosen.Detail
	return nil
}

// checkQueries reads the queries and picks those that are asked for.
func (b *bench) checkQueries(c *cli.Context) (err error) {
	if folder := c.String("queries-from"); folder != "" {
		b.All, err = b.Suite.ReadQueries(os.DirFS(folder), folder)
	} else {
		b.All, err = b.Suite.Embedded()
	}
	if err != nil {
		return err
	}
	var names []string
	for _, n := range splitList(c.StringSlice("queries")) {
		names = append(names, suite.QueryName(n))
	}
	var unknown string
	if b.Queries, unknown = suite.Select(b.All, names); unknown != "" {
		return &usageError{message: fmt.Sprintf("%s has no query %s", b.Suite.Name, unknown),
			help: nearest(unknown, suite.Names(b.All))}
	}
	return nil
}

// checkAgainst checks the peers that are asked for.
func (b *bench) checkAgainst(c *cli.Context) error {
	for _, name := range splitList(c.StringSlice("against")) {
		if _, err := choice("against", name, measure.DuckDB, measure.DuckDBFiles,
			measure.Published); err != nil {
			return err
		}
		b.Against = append(b.Against, name)
	}
	if b.passes && len(b.Against) > 0 {
		return &usageError{message: "--each-pass-off, --pass-off and --fresh compare redfox with itself",
			help: "leave --against out"}
	}
	switch loaded, files := b.IsAgainst(measure.DuckDB), b.IsAgainst(measure.DuckDBFiles); {
	case loaded && files:
		return &usageError{message: "--against names DuckDB twice",
			help: "write duckdb or duckdb-files"}
	case !loaded && !files:
		return nil
	}
	for _, q := range b.Queries {
		if q.SQL == "" {
			return &driver.EnvironmentError{Message: fmt.Sprintf("there is no SQL for %s, which DuckDB could run", q.Name),
				Help: fmt.Sprintf("put it into sql/%s.sql beside the query", q.Name)}
		}
	}
	return nil
}

// checkData looks for the files of the tables that the queries read.
func (b *bench) checkData(c *cli.Context) error {
	scale := b.Scale
	if scale == 0 {
		scale = 1
	}
	if b.Dir == "" {
		b.Dir = filepath.Join(b.Suite.Name, "sf"+suite.FormatScale(scale))
	}
	tables, err := b.Tables(c.Context)
	if err != nil {
		return err
	}
	missing := b.missing(tables)
	if len(missing) > 0 && c.Bool("generate") {
		if b.Suite.Name != "ssb" {
			return &driver.EnvironmentError{Message: "redfox does not make the data of " +
				b.Suite.Title, Help: "make them with: " + b.Suite.Command(scale, b.Dir)}
		}
		b.progress.show("making the data")
		if err := ssbgen.Generate(c.Context, b.Dir,
			ssbgen.Options{Scale: scale, Threads: b.Run.Threads}); err != nil {
			return cannotWrite(b.Dir, err)
		}
		missing = b.missing(tables)
	}
	if len(missing) > 0 {
		return &driver.EnvironmentError{Message: fmt.Sprintf("%s lacks %s", b.Dir,
			strings.Join(missing, ", ")),
			Help: "make the data with: " + b.Suite.Command(scale, b.Dir) +
				"; or name their folder with --data"}
	}
	return nil
}

// missing lists the files of tables that are not in the folder of the data.
func (b *bench) missing(tables []string) []string {
	var out []string
	for _, t := range tables {
		if _, err := os.Stat(filepath.Join(b.Dir, t+".parquet")); err != nil {
			out = append(out, t+".parquet")
		}
	}
	return out
}
