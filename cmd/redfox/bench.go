package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox"
	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/bench/suite"
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
			"redfox bench ssb --sf 1 --generate --queries q11,q21 --runs 30\n" +
			"redfox bench list",
		Flags: flags("sf", "data", "queries", "queries-from", "runs", "against", "python",
			"generate", "shared-facts", "each-pass-off", "out",
			"engine", "device", "threads", "memory", "device-memory", "timeout", "disable",
			"no-fuse", "no-decompose"),
		Action: func(c *cli.Context) error {
			if c.Args().First() == "list" && c.Args().Len() == 1 {
				return listSuites(con)
			}
			b, err := newBench(c, con)
			if err != nil {
				return fromSuite(err)
			}
			ctx, cancel, err := withTimeout(c)
			if err != nil {
				return err
			}
			defer cancel()
			return fromSuite(b.do(ctx))
		},
	}
}

// listSuites prints the suites and their queries.
func listSuites(con *console) error {
	for _, s := range suite.Suites() {
		queries, err := s.Embedded()
		if err != nil {
			return fromSuite(err)
		}
		var names []string
		for _, q := range queries {
			names = append(names, q.Name)
		}
		fmt.Fprintf(con.out, "%s  %s\n%s\n", s.Name, s.Title,
			indent(wrapAt(strings.Join(names, " "), helpWidth-4)))
	}
	return nil
}

// fromSuite gives errors about the machine that kind.
func fromSuite(err error) error {
	var e *suite.Error
	if errors.As(err, &e) {
		return &redfox.EnvironmentError{Message: e.Message, Help: e.Help, Err: err}
	}
	return err
}

// hotLimit is how long the repetitions of a query may take; three happen
// anyway.
const hotLimit = 20 * time.Second

// bench is one execution of the command.
type bench struct {
	con      *console
	suite    *suite.Suite
	all      []suite.Query // of the suite
	queries  []suite.Query // that are asked for
	dir      string        // of the data
	scale    float64       // 0 if it is not given
	runs     int
	threads  int
	out      string // the folder of --out, or ""
	python   string
	against  []string
	shared   bool // the facts of all queries are loaded at once
	passes   bool // --each-pass-off
	compile  redfox.Options
	run      redfox.RunOptions
	progress *progress

	db     *redfox.Database // of all queries, if shared
	peer   *suite.DuckDB    // nil if it is not asked for
	report measure.Report
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
	b := &bench{con: con, suite: s, scale: c.Float64("sf"), dir: c.String("data"),
		runs: c.Int("runs"), threads: threadsOf(c.Int("threads")), out: c.String("out"),
		python: c.String("python"), shared: c.Bool("shared-facts"), passes: c.Bool("each-pass-off"),
		progress: newProgress(con),
		compile: redfox.Options{Disable: splitList(c.StringSlice("disable")),
			NoFuse: c.Bool("no-fuse")}}
	checks := []func(*cli.Context) error{b.checkNumbers, b.checkEngine, b.checkQueries,
		b.checkAgainst,
		b.checkData}
	for _, check := range checks {
		if err := check(c); err != nil {
			return nil, err
		}
	}
	return b, nil
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
	case b.runs < 1:
		return wrongValue("runs", fmt.Sprint(b.runs), "is less than 1")
	case c.IsSet("sf") && !(b.scale > 0):
		return wrongValue("sf", fmt.Sprint(b.scale), "is not more than 0")
	}
	memory, err := sizeFlag(c, "memory")
	if err != nil {
		return err
	}
	deviceMemory, err := sizeFlag(c, "device-memory")
	b.run = redfox.RunOptions{Threads: b.threads, Memory: memory, Device: c.String("device"),
		DeviceMemory: deviceMemory,
		NoDecompose:  c.Bool("no-decompose"), Outputs: []string{"_"}}
	return err
}

// checkEngine decides which engine all queries run on; auto is the fastest that
// the machine has, whatever the facts.
func (b *bench) checkEngine(c *cli.Context) error {
	engine, err := engineFlags(c)
	if err != nil {
		return err
	}
	chosen, _, err := redfox.ChooseEngine(engine)
	if err != nil {
		return err
	}
	b.run.Engine = chosen.Name
	b.report.EngineDetail = chosen.Detail
	return nil
}

// checkQueries reads the queries and picks those that are asked for.
func (b *bench) checkQueries(c *cli.Context) (err error) {
	if folder := c.String("queries-from"); folder != "" {
		b.all, err = b.suite.ReadQueries(os.DirFS(folder), folder)
	} else {
		b.all, err = b.suite.Embedded()
	}
	if err != nil {
		return err
	}
	var names []string
	for _, n := range splitList(c.StringSlice("queries")) {
		names = append(names, suite.QueryName(n))
	}
	var unknown string
	if b.queries, unknown = suite.Select(b.all, names); unknown != "" {
		var known []string
		for _, q := range b.all {
			known = append(known, q.Name)
		}
		return &usageError{message: fmt.Sprintf("%s has no query %s", b.suite.Name, unknown),
			help: nearest(unknown, known)}
	}
	return nil
}

// The values of --against.
const (
	againstDuckDB    = "duckdb"
	againstFiles     = "duckdb-files" // DuckDB that reads the files anew, once for a query
	againstPublished = "published"
)

// isAgainst reports whether a peer is asked for.
func (b *bench) isAgainst(peer string) bool { return slices.Contains(b.against, peer) }

// checkAgainst checks the peers that are asked for.
func (b *bench) checkAgainst(c *cli.Context) error {
	for _, name := range splitList(c.StringSlice("against")) {
		if _, err := choice("against", name, againstDuckDB, againstFiles,
			againstPublished); err != nil {
			return err
		}
		b.against = append(b.against, name)
	}
	if b.passes && len(b.against) > 0 {
		return &usageError{message: "--each-pass-off compares redfox with itself",
			help: "leave --against out"}
	}
	switch loaded, files := b.isAgainst(againstDuckDB), b.isAgainst(againstFiles); {
	case loaded && files:
		return &usageError{message: "--against names DuckDB twice",
			help: "write duckdb or duckdb-files"}
	case !loaded && !files:
		return nil
	}
	for _, q := range b.queries {
		if q.SQL == "" {
			return &redfox.EnvironmentError{Message: fmt.Sprintf("there is no SQL for %s, which DuckDB could run", q.Name),
				Help: fmt.Sprintf("put it into sql/%s.sql beside the query", q.Name)}
		}
	}
	return nil
}

// checkData looks for the files of the tables that the queries read.
func (b *bench) checkData(c *cli.Context) error {
	scale := b.scale
	if scale == 0 {
		scale = 1
	}
	if b.dir == "" {
		b.dir = filepath.Join(b.suite.Name, "sf"+suite.FormatScale(scale))
	}
	tables, err := b.tables(c.Context)
	if err != nil {
		return err
	}
	missing := b.missing(tables)
	if len(missing) > 0 && c.Bool("generate") {
		if b.suite.Name != "ssb" {
			return &redfox.EnvironmentError{Message: "redfox does not make the data of " +
				b.suite.Title, Help: "make them with: " + b.suite.Command(scale, b.dir)}
		}
		b.progress.show("making the data")
		if err := ssbgen.Generate(c.Context, b.dir,
			ssbgen.Options{Scale: scale, Threads: b.threads}); err != nil {
			return cannotWrite(b.dir, err)
		}
		missing = b.missing(tables)
	}
	if len(missing) > 0 {
		return &redfox.EnvironmentError{Message: fmt.Sprintf("%s lacks %s", b.dir,
			strings.Join(missing, ", ")),
			Help: "make the data with: " + b.suite.Command(scale, b.dir) +
				"; or name their folder with --data"}
	}
	return nil
}

// missing lists the files of tables that are not in the folder of the data.
func (b *bench) missing(tables []string) []string {
	var out []string
	for _, t := range tables {
		if _, err := os.Stat(filepath.Join(b.dir, t+".parquet")); err != nil {
			out = append(out, t+".parquet")
		}
	}
	return out
}

// tables lists the tables that the queries read.
func (b *bench) tables(ctx context.Context) ([]string, error) {
	var out []string
	for _, q := range b.queries {
		prog, err := b.program(ctx, q)
		if err != nil {
			return nil, err
		}
		reads, err := prog.Reads()
		if err != nil {
			return nil, err
		}
		for _, pred := range reads {
			// A query may also have facts in its text.
			table, _, _ := strings.Cut(pred, ":")
			if b.suite.HasTable(table) && !slices.Contains(out, table) {
				out = append(out, table)
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// program compiles a query's text.
func (b *bench) program(ctx context.Context, q suite.Query) (*redfox.Program, error) {
	var sources []redfox.Source
	for _, f := range q.Program {
		sources = append(sources, redfox.Text(f.Name, f.Text))
	}
	return redfox.Compile(ctx, sources, b.compile)
}
