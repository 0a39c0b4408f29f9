package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/internal/driver"
)

// The groups of flags, as help shows them.
const (
	groupBench        = "Benchmark"
	groupProgram      = "Program"
	groupFacts        = "Facts"
	groupTransactions = "Transactions"
	groupResults      = "Results"
	groupEngine       = "Engine"
	groupCompiler     = "Compiler"
	groupMessages     = "Messages"
)

// flagTable has every flag of every command, so that a name means the same
// wherever it occurs. Usage texts name the value in backquotes.
var flagTable = []func() cli.Flag{
	func() cli.Flag {
		return &cli.StringFlag{Name: "facts", Category: groupFacts,
			Usage: "read facts from the folder `DIR`: DIR/PRED.tsv, .csv, .txt, .json, .jsonl, .parquet or .arrow holds predicate PRED; DIR may be s3://BUCKET/FOLDER, an SQLite database, or one that redfox load has written"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "strict", Category: groupFacts,
			Usage: "fail where a predicate has no file of facts, or a file is that of no predicate; without it, these are notes"}
	},
	func() cli.Flag {
		return &cli.StringSliceFlag{Name: "fact", Category: groupFacts,
			Usage: "read one file: `PRED=FILE`, or PRED=FILE(column,...) to name its columns; several files of a predicate are united; FILE may also be a folder, a pattern such as part-*.csv, or a URL of https or s3"}
	},
	func() cli.Flag {
		return &cli.StringSliceFlag{Name: "allow-path", Category: groupFacts,
			Usage: "let the program read and write files that it names itself below the folder `DIR`, or read below a URL; without it, it reads " +
				"below its own folder, that of --facts and the current one, and writes below that of --out"}
	},
	func() cli.Flag {
		return &cli.GenericFlag{Name: "header", Category: groupFacts, Value: new(header),
			Usage: "TSV and CSV files start with a line of column names, by which facts are bound; `WHICH` is facts, results, none or, when left out, both; without the flag, a first line of facts that cannot be a fact has the names"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "on-error", Category: groupFacts, Value: "stop",
			Usage: "at a malformed line of facts, `WHAT`: stop, or skip it and report how many were skipped"}
	},
	func() cli.Flag {
		return &cli.GenericFlag{Name: "delimiter", Category: groupFacts, Value: new(delimiter),
			Usage: "`CHAR` separates the fields of text files; tab is \\t", DefaultText: "comma in .csv files, tab in others, or what the file shows"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "null", Category: groupFacts,
			Usage: "take the field `TEXT` of a text file for a missing value", DefaultText: "the empty field"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "missing-facts", Category: groupFacts, Value: "error",
			Usage: "where a file that the program names is not there, `WHAT`: error, or empty to take it as a file without facts"}
	},
	func() cli.Flag {
		return &cli.GenericFlag{Name: "add", Category: groupTransactions,
			Value: &changes{kind: addFile},
			Usage: "add `FILE` to the program: its delta rules react to later transactions; may be repeated"}
	},
	func() cli.Flag {
		return &cli.GenericFlag{Name: "exec", Category: groupTransactions,
			Value: &changes{kind: execFile},
			Usage: "run `FILE` as a transaction, and print its queries; may be repeated"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "db", Category: groupTransactions,
			Usage: "work on the database in `FILE`.rfdb: its program runs, and transactions change it; if it is not there, or has no program, PROGRAM and the facts begin it"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "raw",
			Usage: "pack no columns and strings in the file: it is larger, and runs need no memory for what they read of it"}
	},
	func() cli.Flag {
		return &cli.StringSliceFlag{Name: "clauses", Aliases: []string{"c"}, Category: groupProgram,
			Usage: "add the clauses in `TEXT` to the program, or take them alone"}
	},
	func() cli.Flag {
		return &cli.GenericFlag{Name: "exec-text", Category: groupTransactions,
			Value: &changes{kind: execText},
			Usage: "run `TEXT`, which is LogiQL, as --exec does"}
	},
	func() cli.Flag {
		return &cli.GenericFlag{Name: "exec-block", Category: groupTransactions,
			Value: &changes{kind: execBlock},
			Usage: "run the inactive block `NAME` of the program's project, as --exec does"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "on-abort", Category: groupTransactions, Value: "stop",
			Usage: "when a transaction fails, which changes nothing, `WHAT`: stop, or continue with the next and exit with 1 at the end"}
	},
	func() cli.Flag {
		return &cli.StringSliceFlag{Name: "print", Aliases: []string{"p"}, Category: groupResults,
			Usage: "print the predicate `PRED`; without it the program's queries, or what it exports"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "out", Aliases: []string{"o"}, Category: groupResults,
			Usage: "write to files in the folder `DIR`: each exported predicate and those of --print; a name such as r.csv is a file, which gets the one predicate that would be printed; r.sqlite is a database with a table for each; of bench, the figures as JSON and Markdown and a chart as SVG"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "format", Aliases: []string{"f"}, Category: groupResults,
			Usage: "`FORMAT` of results, or with --out of its files: table, tsv, csv, json, jsonl, parquet, arrow, or arrows for an Arrow stream", DefaultText: "table, and tsv in files"}
	},
	func() cli.Flag {
		return &cli.IntFlag{Name: "depth", Category: groupResults, Value: 10,
			Usage: "show `N` levels of a derivation; 0 shows all"}
	},
	func() cli.Flag {
		return &cli.Int64Flag{Name: "limit", Category: groupResults,
			Usage: "print at most `N` tuples of each predicate; 0 prints all", DefaultText: "all, and 40 in a table on a terminal"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "keep-going", Category: groupResults,
			Usage: "print and write the results also if constraints do not hold, keep such transactions, and then exit with 1"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "stats", Category: groupResults,
			Usage: "say on standard error what was loaded, derived and written, and how long it took, kernel by kernel"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "profile", Category: groupResults,
			Usage: "write to `FILE` what took how long, as JSON that Perfetto (ui.perfetto.dev) and Chrome show"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "engine", Category: groupEngine, Value: driver.EngineAuto,
			Usage: "run on `ENGINE`: auto, go, cpu or gpu, as redfox engines tells, or mixed, which is gpu and cpu at the same time"}
	},
	func() cli.Flag {
		return &cli.IntFlag{Name: "threads", Category: groupEngine, DefaultText: "all cores",
			Usage: "use `N` threads"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "memory", Category: groupEngine, DefaultText: "no bound",
			Usage: "hold at most `SIZE` of relations and indexes, such as 512M or 8G"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "spill", Category: groupEngine, DefaultText: "a run that does not fit --memory fails",
			Usage: "keep facts and relations that do not fit --memory, or a GPU's memory, in a file without a name in the folder `DIR`"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "device", Category: groupEngine,
			DefaultText: "the first that can be used",
			Usage:       "run on the GPU with the number or UUID `N`, as redfox engines lists them; --engine auto is then gpu"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "device-memory", Category: groupEngine,
			DefaultText: "what is free",
			Usage:       "take at most `SIZE` of the GPU's memory, for facts as well, such as 512M or 8G; --engine mixed keeps columns in half of it"}
	},
	func() cli.Flag {
		return &cli.GenericFlag{Name: "max-rounds", Category: groupEngine, Value: new(rounds),
			DefaultText: "1000000, or the number of facts if that is more",
			Usage:       "stop a recursion that may never end (RF0604) after `N` rounds; none, or 0, for no bound"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "trust-code", Category: groupEngine,
			Usage: "run the code for GPUs that a compiled program holds, which can do all that you can; " +
				"without it, it is compiled again"}
	},
	func() cli.Flag {
		return &cli.DurationFlag{Name: "timeout", Category: groupEngine, DefaultText: "none",
			Usage: "give up after `TIME`, such as 30s or 5m"}
	},
	func() cli.Flag {
		return &cli.StringSliceFlag{Name: "disable", Category: groupCompiler,
			Usage: "leave out the optimiser's pass `PASS`, as redfox explain --steps names it"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "emit", Category: groupCompiler, Value: "plan",
			Usage: "print the program's `STAGE`: ast, normal, core, plan, harmony, shape, llvm, ptx or asm"}
	},
	func() cli.Flag {
		return &cli.StringSliceFlag{Name: "target", Category: groupCompiler,
			Usage:       "compile kernels for `TARGET`: cpu, or gpu:sm_80 and later, such as gpu:sm_90; several may be separated by commas",
			DefaultText: "gpu:sm_80, which later GPUs run, or cpu, or both"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "lines", Category: groupCompiler,
			Usage: "give code the places of rules, which profilers and debuggers show"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "no-fuse", Category: groupCompiler,
			Usage: "leave kernels as they are lowered, one an operator"}
	},
	func() cli.Flag {
		return &cli.StringSliceFlag{Name: "keep-apart", Category: groupCompiler,
			Usage: "do not fuse two kernels, a `PAIR` such as k1+k2 by the names that --no-fuse shows"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "no-decompose", Category: groupCompiler,
			Usage: "run every loop round by round over all tuples, also where a column decomposes it"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "no-tiers", Category: groupCompiler,
			Usage: "run all of a program as native code on engine cpu, also what begins sooner on engine go"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "kernels", Category: groupCompiler,
			Usage: "say of the kernels what they are expected to take"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "why-not-fused", Category: groupCompiler,
			Usage: "list the pairs of kernels that stay apart, with the reason and the place of the rule"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: groupResults,
			Usage: "write to `FILE` instead of standard output; its extension says what: .rfx the compiled program, .ast, .normal, .core, .plan, .harmony, .shape, .ll, .ptx or .s a stage"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "source", Category: groupResults,
			Usage: "print the program's LogiQL"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "plan", Category: groupResults,
			Usage: "print the query plan as it is before it is optimised for facts"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "harmony", Category: groupResults,
			Usage: "print a target's kernel graph"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "abi", Category: groupResults,
			Usage: "print a target's functions and what their parameters mean"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "llvm", Category: groupResults,
			Usage: "print the LLVM IR of the cpu target"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "ptx", Category: groupResults,
			Usage: "print the PTX of a gpu target"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "steps", Category: groupCompiler,
			Usage: "show what each pass of the optimiser changed, as a diff"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "run", Category: groupEngine,
			Usage: "run the program, and add tuples and times to the plan"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "write", Aliases: []string{"w"}, Category: groupResults,
			Usage: "rewrite the files in place"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "stdio", Category: groupMessages,
			Usage: "talk over standard input and output, as always; clients add this flag"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "diff", Aliases: []string{"d"}, Category: groupResults,
			Usage: "print what would change, as a diff; exit with 1 if anything does"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "list", Aliases: []string{"l"}, Category: groupResults,
			Usage: "print the names of files that are not in canonical form; exit with 1 if there are any"}
	},
	func() cli.Flag {
		return &cli.Float64Flag{Name: "sf", Category: groupBench, DefaultText: "what the data are",
			Usage: "the scale factor `N` of the data, which is checked"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "data", Category: groupBench,
			DefaultText: "tpch/sf1, by suite and scale factor",
			Usage:       "read the tables from the folder `DIR`: DIR/TABLE.parquet"}
	},
	func() cli.Flag {
		return &cli.StringSliceFlag{Name: "queries", Category: groupBench, DefaultText: "all",
			Usage: "measure the queries `LIST`, such as q01,q06"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "queries-from", Category: groupBench,
			DefaultText: "those in the binary",
			Usage:       "read the queries from the folder `DIR`: schema.logic, q01.logic, sql/q01.sql and so on"}
	},
	func() cli.Flag {
		return &cli.IntFlag{Name: "runs", Category: groupBench, Value: 10,
			Usage: "run each query `N` times after the first; fewer where that takes longer than 20 s, but three"}
	},
	func() cli.Flag {
		return &cli.StringSliceFlag{Name: "against", Category: groupBench, DefaultText: "none",
			Usage: "show times of `PEER` beside ours: duckdb, or duckdb-files, which reads the files in each query; published; or both with a comma"}
	},
	func() cli.Flag {
		return &cli.StringFlag{Name: "python", Category: groupBench, Value: "python3",
			Usage: "the Python interpreter `FILE` has the module duckdb"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "generate", Category: groupBench,
			Usage: "make the data first, if they are not there; of ssb alone, by its generator and seed 0"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "shared-facts", Category: groupBench,
			Usage: "load the facts of all queries once, instead of each query's for itself"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "each-pass-off", Category: groupBench,
			Usage: "leave out each pass of the optimiser in turn, and kernel fusion, and show how much longer the queries take"}
	},
	func() cli.Flag {
		return &cli.StringSliceFlag{Name: "pass-off", Category: groupBench,
			Usage: "run each query with and without the pass or step `PASS` by turns, and show both times"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "fresh", Category: groupBench,
			Usage: "show also the times of runs that make again what a hot run finds ready beside columns and code: --pass-off KeepIndexes"}
	},
	func() cli.Flag {
		return &cli.BoolFlag{Name: "json", Category: groupMessages,
			Usage: "write diagnostics, notes and failures as one JSON array when the command ends: check to standard output, others to standard error"}
	},
}

// header is the value of --header: which files have a line of column names.
type header string

// The values of --header, which alone means both.
const (
	headerFacts   header = "facts"
	headerResults header = "results"
	headerBoth    header = "both"
	headerNone    header = "none"
)

// Set takes the text behind the flag, or "true" for none.
func (h *header) Set(text string) error {
	switch value := header(text); value {
	case headerFacts, headerResults, headerBoth, headerNone:
		*h = value
	case "true":
		*h = headerBoth
	default:
		return fmt.Errorf("it is facts, results, both or none")
	}
	return nil
}

// String returns the value; it is empty when the flag was not given.
func (h *header) String() string { return string(*h) }

// IsBoolFlag lets the flag stand without a value, as package flag has it.
func (h *header) IsBoolFlag() bool { return true }

// delimiter is the value of --delimiter: a character, or 0.
type delimiter byte

// Set takes a character, also as it is escaped in Go.
func (d *delimiter) Set(text string) error {
	if text == `\t` || text == "tab" {
		text = "\t"
	}
	if len(text) != 1 || text[0] >= 0x80 || strings.Contains("\r\n\"\\", text) {
		return errors.New(`it is one ASCII character, such as ; or \t, and no quote, backslash or end of line`)
	}
	*d = delimiter(text[0])
	return nil
}

// String returns the value; it is empty when the flag was not given.
func (d *delimiter) String() string {
	if *d == 0 {
		return ""
	}
	return string(*d)
}

// rounds is the value of --max-rounds, as RunOptions.MaxRounds has it.
type rounds int64

// Set takes a number of rounds, or "none".
func (r *rounds) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case text == "none", err == nil && n == 0:
		*r = driver.NoMaxRounds
	case err == nil && n > 0:
		*r = rounds(n)
	default:
		return errors.New("it is a number of rounds in digits, such as 5000000, or none")
	}
	return nil
}

// String returns the value; it is empty when the flag was not given.
func (r *rounds) String() string {
	switch {
	case *r == 0:
		return ""
	case *r < 0:
		return "none"
	}
	return strconv.FormatInt(int64(*r), 10)
}

// roundsOf returns the value of --max-rounds.
func roundsOf(c *cli.Context) int64 {
	if r, ok := c.Generic("max-rounds").(*rounds); ok {
		return int64(*r)
	}
	return 0
}

// headerOf returns the value of --header.
func headerOf(c *cli.Context) header {
	if h, ok := c.Generic("header").(*header); ok {
		return *h
	}
	return ""
}

// flags picks flags from the table by name. Each call makes new ones, because a
// flag keeps its value.
func flags(names ...string) []cli.Flag {
	var out []cli.Flag
	for _, name := range names {
		out = append(out, flagIndex()[name]())
	}
	return out
}

// flagIndex has the table by names, which cli takes long to find.
var flagIndex = sync.OnceValue(func() map[string]func() cli.Flag {
	index := map[string]func() cli.Flag{}
	for _, f := range flagTable {
		index[f().Names()[0]] = f
	}
	return index
})

// intersperse lets the flags of a command stand before, between and after its
// arguments. Go's flag package, which cli uses, stops at the first argument.
func intersperse(app *cli.App, args []string) ([]string, error) {
	if len(args) < 2 || args[len(args)-1] == completeFlag {
		return args, nil
	}
	cmd := app.Command(args[1])
	if cmd == nil {
		return args, nil
	}
	rest, err := permute(args[2:], cmd.Flags)
	if err != nil {
		err.(*usageError).command = cmd.Name
		return nil, err
	}
	return append(args[:2:2], rest...), nil
}

// permute moves the flags among the arguments of a command to the front and
// puts "--" between them and the rest.
func permute(args []string, flags []cli.Flag) ([]string, error) {
	takesValue := map[string]bool{"help": false, "h": false}
	var known []string
	for _, f := range flags {
		for _, name := range f.Names() {
			takesValue[name] = !isSwitch(f)
			if len(name) > 1 {
				known = append(known, name)
			}
		}
	}
	var front, rest []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			rest = append(rest, arg)
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		value, ok := takesValue[name]
		if !ok {
			return nil, unknownFlag(arg, name, known)
		}
		front = append(front, arg)
		if value && !hasValue {
			if i++; i == len(args) {
				return nil, &usageError{message: fmt.Sprintf("flag %s needs a value", arg)}
			}
			front = append(front, args[i])
		}
	}
	return append(append(front, "--"), rest...), nil
}

// parseSize reads a number of bytes with an optional unit: K, M, G or T, powers
// of 1,024, also as KB or KiB.
func parseSize(flag, text string) (int64, error) {
	number := strings.TrimRight(strings.ToUpper(strings.TrimSpace(text)), "IB")
	shift := 0
	if number != "" {
		if i := strings.IndexByte("KMGT", number[len(number)-1]); i >= 0 {
			shift = 10 * (i + 1)
			number = strings.TrimSpace(number[:len(number)-1])
		}
	}
	value, err := strconv.ParseFloat(number, 64)
	bytes := value * float64(int64(1)<<shift)
	if err != nil || !(bytes >= 1 && bytes < 1<<62) {
		if err == nil && value >= 0 && bytes < 1 {
			return 0, wrongValue(flag, text, "leaves no room")
		}
		e := wrongValue(flag, text, "is not a size")
		e.help = "write a number of bytes with K, M, G or T, for example --" + flag + " 8G"
		return 0, e
	}
	return int64(bytes), nil
}

// sizeFlag returns the number of bytes that a flag gives, 0 if it is not there.
func sizeFlag(c *cli.Context, flag string) (int64, error) {
	if !c.IsSet(flag) {
		return 0, nil
	}
	return parseSize(flag, c.String(flag))
}

// choice checks that a flag's value is one of those that it knows.
func choice(flag, value string, known ...string) (string, error) {
	for _, k := range known {
		if k == value {
			return value, nil
		}
	}
	return "", &usageError{
		message: fmt.Sprintf("--%s %s is not known", flag, value),
		help:    nearest(value, known),
	}
}

// splitList flattens the values of a repeatable flag that may also hold
// several names separated by commas.
func splitList(values []string) []string {
	var out []string
	for _, v := range values {
		for _, name := range strings.Split(v, ",") {
			if name = strings.TrimSpace(name); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}

// notNegative checks a number that a flag gives.
func notNegative[N int | int64 | time.Duration](flag string, n N) error {
	if n < 0 {
		return wrongValue(flag, fmt.Sprint(n), "is negative")
	}
	return nil
}
