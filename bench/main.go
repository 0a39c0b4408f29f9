package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// config is what the flags say.
type config struct {
	python  string
	graphs  string
	tpch    string
	threads int
	repeat  int
	only    string
	engines string
	scale   float64
	json    string
	figures string
	redfox  string
	service string
	ssb     string
	sf      float64
	out     string
	seed    uint64
}

// suite is one table of measurements.
type suite struct {
	name, doc string
	run       func(context.Context, config) error
}

var suites = []suite{
	{"tc", "transitive closure of real graphs", benchTC},
	{"triangles", "triangles of real graphs, by multijoin and by binary joins", benchTriangles},
	{"tpch", "TPC-H from loaded columns", benchTPCH},
	{"ssb", "the Star Schema Benchmark from loaded columns", benchSSB},
	{"cpu", "the engines beside one another, on TPC-H and two closures", benchCPU},
	{"fusion", "kernels fused and apart, in the patterns of Kernel Weaver", benchFusion},
	{"latency", "from LogiQL to PTX", benchLatency},
	{"gpu", "the GPU at work on what it holds, beside its ceilings", benchGPU},
	{"load", "reading TSV and Parquet", benchLoad},
	{"check", "checking and compiling a program of 5,000 lines", benchCheck},
	{"memory", "peak memory of a closure, a process each", benchMemory},
}

// generators make data and documents. They run where they are named only.
var generators = []suite{
	{"docs", "renders the figures of bench/figures into docs/performance.md", writeDocuments},
	{"ssbgen", "makes data of the Star Schema Benchmark of a scale factor, in a folder",
		generateSSB},
}

func main() {
	var c config
	flag.StringVar(&c.python, "python", "python3", "Python interpreter that has the duckdb package")
	flag.StringVar(&c.graphs, "graphs", "testdata/graphs", "folder of NAME.tsv.gz edge lists")
	flag.StringVar(&c.tpch, "tpch", "bench/data/tpch",
		"folder of TPC-H Parquet files; made with: tpchgen-cli parquet -s 1 --output-dir DIR")
	flag.IntVar(&c.threads, "threads", goruntime.NumCPU(), "threads for redfox and for the peer")
	flag.IntVar(&c.repeat, "repeat", 5, "repetitions, of which the median counts")
	flag.StringVar(&c.only, "only", "", "comma-separated workloads of a suite; all when empty")
	flag.StringVar(&c.engines, "engines", "",
		"comma-separated engines; all that the machine has when empty")
	flag.Float64Var(&c.scale, "scale", 1, "of the suite gpu: part of the rows")
	flag.StringVar(&c.json, "json", "", "of the suite gpu: file that gets the table as JSON")
	flag.StringVar(&c.figures, "figures", "",
		"file of bench/figures whose rows the suites replace; none when empty")
	flag.StringVar(&c.redfox, "redfox", "",
		"of the suite gpu: the command to measure cold processes of; none when empty")
	flag.StringVar(&c.service, "service", "",
		"of the suite gpu: the test program of primitives/service, whose kernels alone are measured; none when empty")
	flag.StringVar(&c.ssb, "ssb", ssbFolder,
		"folder of SSB's Parquet files; made with: go run ./bench ssbgen")
	flag.Float64Var(&c.sf, "sf", 1, "of ssbgen: scale factor")
	flag.StringVar(&c.out, "out", ssbFolder, "of ssbgen: folder that gets the files")
	flag.Uint64Var(&c.seed, "seed", 1, "of ssbgen: seed of the data")
	flag.Usage = usage
	flag.Parse()
	debug.SetGCPercent(25) // as the command line does
	names := flag.Args()
	if len(names) == 0 {
		for _, s := range suites {
			names = append(names, s.name)
		}
	}
	all := slices.Concat(suites, generators)
	for _, name := range names {
		i := slices.IndexFunc(all, func(s suite) bool { return s.name == name })
		if i < 0 {
			fmt.Fprintf(os.Stderr, "bench: no suite is called %q\n", name)
			usage()
			os.Exit(2)
		}
		if err := all[i].run(context.Background(), c); err != nil {
			fmt.Fprintf(os.Stderr, "bench %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: go run ./bench [flags] [suite]...\n\nsuites:")
	for _, s := range suites {
		fmt.Fprintf(os.Stderr, "  %-10s %s\n", s.name, s.doc)
	}
	fmt.Fprintln(os.Stderr, "\ndata and documents:")
	for _, s := range generators {
		fmt.Fprintf(os.Stderr, "  %-10s %s\n", s.name, s.doc)
	}
	fmt.Fprintln(os.Stderr, "\nflags:")
	flag.PrintDefaults()
}

// wants reports whether a workload was asked for.
func (c config) wants(name string, byDefault bool) bool {
	if c.only == "" {
		return byDefault
	}
	return slices.Contains(strings.Split(c.only, ","), name)
}

// report prints a table with a title.
func report(title string, header table.Row, rows []table.Row) {
	t := table.NewWriter()
	t.SetOutputMirror(os.Stdout)
	t.SetTitle(title)
	t.AppendHeader(header)
	t.AppendRows(rows)
	t.SetStyle(table.StyleLight)
	t.Render()
	fmt.Println()
}

// median returns the middle of the times.
func median(times []time.Duration) time.Duration {
	sorted := slices.Clone(times)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}

// seconds renders a time with three significant digits.
func seconds(d time.Duration) string { return fmt.Sprintf("%.3g s", d.Seconds()) }

// ratio renders how many times as long ours takes as theirs.
func ratio(ours, theirs time.Duration) string {
	return fmt.Sprintf("%.2f", ours.Seconds()/theirs.Seconds())
}

// repeatTimed runs f some times and returns the times.
func repeatTimed(n int, f func() error) ([]time.Duration, error) {
	var out []time.Duration
	for range n {
		goruntime.GC()
		start := time.Now()
		if err := f(); err != nil {
			return nil, err
		}
		out = append(out, time.Since(start))
	}
	return out, nil
}

// testFile returns the path of a file of the project's test data.
func testFile(elem ...string) string {
	return filepath.Join(append([]string{"testdata"}, elem...)...)
}
