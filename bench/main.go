package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"github.com/redfoxdb/redfox/internal/collector"
)

// config holds the flags.
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
	before  string
	service string
	ssb     string
	sf      float64
	out     string
	seed    uint64
	peer    string
	// of the suite recursion
	besideGo bool
	limit    time.Duration
}

// command is what one argument of the program names.
type command struct {
	name, doc string
	run       func(context.Context, config) error
}

var suites = []command{
	{"tc", "transitive closure of real graphs", benchTC},
	{"sg", "same generation of real graphs, a process each", benchSG},
	{"triangles", "triangles of real graphs, by multijoin and by binary joins", benchTriangles},
	{"cliques", "triangles and 4-cliques of real graphs on each engine", benchCliques},
	{"tpch", "TPC-H from loaded columns", benchTPCH},
	{"ssb", "the Star Schema Benchmark from loaded columns", benchSSB},
	{"cpu", "the engines beside one another, on TPC-H and two closures", benchCPU},
	{"fusion", "kernels fused and apart, in the patterns of Kernel Weaver", benchFusion},
	{"latency", "from LogiQL to PTX", benchLatency},
	{"gpu", "the GPU at work on what it holds, beside its ceilings", benchGPU},
	{"load", "reading TSV, Parquet and the other formats", benchLoad},
	{"whole", "TPC-H from Parquet, a process each", benchWhole},
	{"database", "TPC-H from files of databases, a process each, and their sizes", benchDatabase},
	{"check", "checking and compiling a program of 5,000 lines", benchCheck},
	{"memory", "peak memory of a closure, a process each", benchMemory},
	{"large", "a program of 4,000 clauses on each engine, a process each", benchLarge},
	{"first", "first and second runs of each engine and of auto, a process each", benchFirst},
	{"cspa", "a pointer analysis of mutually recursive rules, a process each", benchCSPA},
	{"andersen", "Andersen's pointer analysis, a process each", benchAndersen},
	{"pointsto", "a points-to analysis of up to 1,000,000 facts beside a worklist", benchPointsTo},
	{"growing", "a recursion whose largest relation begins with one tuple", benchGrowing},
	{"doop", "Doop's core rules on the go and cpu engines beside a worklist", benchDoop},
	{"crdt", "a list CRDT, as written and with invariants named by hand", benchCRDT},
	{"iterate", "PageRank and labels over R-MAT graphs beside loops over arrays", benchIterate},
	{"spill", "programs in memory, and in a tenth of it with a file", benchSpill},
	{"asks", "what a node reaches, a thousand times through one session", benchAsks},
	{"mixed", "SSB on a GPU that holds some of the columns, beside each engine alone",
		benchMixed},
	{"costs", "predicted and measured times of kernels on a GPU, of TPC-H and SSB", benchCosts},
	{"recursion", "recursive programs on a GPU: first, second and hot runs, rounds, bars",
		benchRecursion},
}

// onceName is the command of the processes of the suite recursion.
const onceName = "once"

// generators make data and documents. They run only if they are named.
var generators = []command{
	{"docs", "renders the figures of bench/figures into docs/performance.md", writeDocuments},
	{"ssbgen", "makes data of the Star Schema Benchmark of a scale factor, in a folder",
		generateSSB},
	{onceName, "runs the program of an order on standard input; the suite recursion calls it",
		once},
}

func main() {
	var c config
	flag.StringVar(&c.python, "python", "python3", "Python interpreter that has the duckdb package")
	flag.StringVar(&c.graphs, "graphs", "testdata/graphs", "folder of NAME.tsv.gz edge lists")
	flag.StringVar(&c.tpch, "tpch", "bench/data/tpch",
		"folder of TPC-H Parquet files; made with: tpchgen-cli parquet -s 1 --output-dir DIR")
	flag.IntVar(&c.threads, "threads", goruntime.NumCPU(), "threads for redfox and for the peer")
	flag.IntVar(&c.repeat, "repeat", 5, "repetitions; tables show the median")
	flag.StringVar(&c.only, "only", "", "comma-separated workloads of a suite; all when empty")
	flag.StringVar(&c.engines, "engines", "",
		"comma-separated engines; all that the machine has when empty")
	flag.Float64Var(&c.scale, "scale", 1, "of the suite gpu: fraction of the rows")
	flag.StringVar(&c.json, "json", "", "of the suites gpu and recursion: file for the table as JSON")
	flag.StringVar(&c.figures, "figures", "",
		"file of bench/figures whose rows the suites replace; none when empty")
	flag.StringVar(&c.redfox, "redfox", "",
		"of the suites gpu and recursion: the command redfox, to measure its processes; none when empty;\n"+
			"of the suite whole: the command to measure, made when empty")
	flag.StringVar(&c.before, "before", "",
		"of the suite database: the command redfox of another version, to measure over a file of its own;\n"+
			"none when empty")
	flag.BoolVar(&c.besideGo, "beside-go", false,
		"of the suite recursion: run the go engine as well, and hold the answers against its")
	flag.DurationVar(&c.limit, "limit", 4*time.Minute,
		"of the suite recursion: time after which no further row begins; 0 is no limit")
	flag.StringVar(&c.service, "service", "",
		"of the suite gpu: the test program of primitives/service, to measure its kernels alone; none when empty")
	flag.StringVar(&c.ssb, "ssb", ssbFolder,
		"folder of SSB's Parquet files; made with: go run ./bench ssbgen")
	flag.Float64Var(&c.sf, "sf", 1, "of ssbgen: scale factor")
	flag.StringVar(&c.out, "out", ssbFolder, "of ssbgen: folder for the files")
	flag.Uint64Var(&c.seed, "seed", 1,
		"of ssbgen, large, first, cspa, andersen, pointsto, growing, doop, crdt, iterate, spill, asks and recursion: seed of the data")
	flag.StringVar(&c.peer, "peer", "",
		"of tc, sg, triangles, cliques, cspa and andersen: comma-separated commands that are called\n"+
			"with the suite's name and a folder of facts, and print the numbers of tuples, such as\n"+
			"those of bench/peers; none when empty")
	flag.Usage = usage
	flag.Parse()
	if c.repeat < 1 {
		fmt.Fprintf(os.Stderr, "bench: -repeat %d is less than 1\n", c.repeat)
		os.Exit(2)
	}
	collector.Allow(25, 64<<20) // as the command line does
	names := flag.Args()
	if len(names) == 0 {
		for _, s := range suites {
			names = append(names, s.name)
		}
	}
	all := slices.Concat(suites, generators)
	for _, name := range names {
		i := slices.IndexFunc(all, func(s command) bool { return s.name == name })
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

// wants reports whether -only selects a piece of work; without -only the work
// has a default.
func (c config) wants(name string, byDefault bool) bool {
	if c.only == "" {
		return byDefault
	}
	return slices.Contains(strings.Split(c.only, ","), name)
}

// wantsAny reports whether -only selects one of the works.
func (c config) wantsAny(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return c.wants(name, true) })
}

// testFile returns the path of a file of the project's test data.
func testFile(elem ...string) string {
	return filepath.Join(append([]string{"testdata"}, elem...)...)
}
