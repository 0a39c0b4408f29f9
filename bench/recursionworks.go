package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/graphgen"
	"github.com/redfoxdb/redfox/internal/pointergen"
	"github.com/redfoxdb/redfox/internal/reference/recursive"
)

// recursionWork is a row of the suite recursion: a program whose query _
// answers with numbers.
type recursionWork struct {
	name    string
	program []string // the files of the program
	clauses string   // further clauses
	// The facts are the edges of a graph of -graphs, or of a graph that
	// processes generate, or what make writes.
	graph string
	made  *graphgen.Graph
	// make writes generated facts and programs into a folder.
	make func(w *recursionWork, dir string, seed uint64) error
	// answer is the expected value of _ over a graph, or over facts of seed 1.
	// If it is "", the expected answer is that of the go engine, or any.
	answer string
	// stored means that the answer counts pairs that the run keeps, so that the
	// bar on their bytes applies.
	stored bool
	// onDemand works are measured only if -only names them or their group.
	onDemand bool
	// alone means that one process does everything, because the facts are
	// large. It compiles the code before its first run.
	alone bool

	other   float64 // the time of another system, in seconds
	source  string  // the name of that system, and its inputs if they differ
	bar     float64 // bar for a hot run, in seconds
	perStep float64 // bar for a round, in seconds
	rounds  int64   // the number of rounds, if it is known
	// than names another row; times as long as that row takes is a bar.
	than  string
	times float64
	// gpulog is the time of GPULog, for the mean of all closures.
	gpulog float64
	// beside is how many times as fast as the go engine a hot run should be.
	beside float64
}

// prototypeShare is the speed, relative to a program in CUDA C++, that closures
// of these graphs should reach.
const prototypeShare = 0.9

var nearPrototype = []string{"SF.cedge", "fe_sphere", "fe_ocean"}

// recursionWorks returns all rows of the suite.
func recursionWorks() []*recursionWork {
	return slices.Concat(closureWorks(), generationWorks(), analysisWorks(), cliqueWorks(),
		joinWorks(), roundWorks(), scaleWorks(), graphWorks())
}

func closureWorks() (works []*recursionWork) {
	for _, g := range closures {
		w := &recursionWork{name: "tc/" + g.name, graph: g.name, stored: true,
			program: []string{testFile("graphs", "tc.logic")}, answer: fmt.Sprintln(g.tuples),
			other: g.prototype, source: "hand-written CUDA", bar: g.gpulog, gpulog: g.gpulog}
		if g.bar > 0 {
			w.bar = g.bar
		}
		if slices.Contains(nearPrototype, g.name) {
			w.bar = g.prototype / prototypeShare
		}
		works = append(works, w)
	}
	return works
}

// generationWorks has numbers of tuples that VFLog and SRDatalog publish, the
// latter two in millions; the cpu engine counts the rest of their digits.
func generationWorks() []*recursionWork {
	sg := func(graph string, published float64, by string, bar float64,
		answer string) *recursionWork {
		return &recursionWork{name: "sg/" + graph, graph: graph, stored: true,
			program: []string{testFile("graphs", "sg.logic")}, answer: answer,
			other: published, source: by, bar: bar}
	}
	return []*recursionWork{
		sg("fe_body", 1.85, "VFLog, H100", 0.3, "408443204\n"),
		sg("SF.cedge", 1.10, "SRDatalog, RTX 6000 Ada", 0.15, "382418182\n"),
		sg("fe_sphere", 1.04, "SRDatalog, RTX 6000 Ada", 0.15, "205814096\n"),
	}
}

// analysisWorks are analyses of generated programs, and the text of an editor.
// The figures of others are for inputs that redfox does not have.
func analysisWorks() []*recursionWork {
	pointers := func(name string, n int, of func(int, uint64) pointergen.Facts,
		program, answer string) *recursionWork {
		return &recursionWork{name: name, program: []string{testFile("graphs", program)},
			answer: answer, stored: true,
			make: func(_ *recursionWork, dir string, seed uint64) error {
				return of(n, seed).Write(dir)
			}}
	}
	made := func(name, program string, n int, of func(int, uint64) recursive.Facts, clauses,
		answer string) *recursionWork {
		return &recursionWork{name: name, clauses: clauses, answer: answer,
			program: []string{testFile("recursive", program)},
			make: func(_ *recursionWork, dir string, seed uint64) error {
				return of(n, seed).Write(dir)
			}}
	}
	with := func(w *recursionWork, other float64, source string, bar float64) *recursionWork {
		w.other, w.source, w.bar = other, source, bar
		return w
	}
	return []*recursionWork{
		with(pointers("cspa/6000", 6000, pointergen.CSPA, "cspa.logic",
			"1753403\t439731\t5799759\n"), 0.73, "SRDatalog, httpd", 0.3),
		with(pointers("cspa/10000", 10_000, pointergen.CSPA, "cspa.logic",
			"5156315\t1297366\t16990602\n"), 0.96, "SRDatalog, postgresql", 0.3),
		with(pointers("andersen", 59_000, pointergen.Andersen, "andersen.logic",
			"26279099\n"), 0.12, "SRDatalog, large", 0.1),
		with(made("crdt", "crdt.logic", 182_315, recursive.CRDT,
			counted("nextVisible(_, _, _, _)", "skipBlank(_, _, _, _)", "nextElem(_, _, _, _)",
				"nextSiblingAnc(_, _, _, _)"), "141697\t990004\t182315\t181679\n"),
			3.39, "FlowLog, 32 threads, another text", 0.15),
		with(made("doop", "doop.logic", 250, recursive.Doop, doopSizes,
			"526094\t1558601\t75399\t7003\n"),
			1.93, "SRDatalog, batik", 0.25),
		with(made("polonius", "polonius.logic", 36*1400, recursive.Polonius,
			counted("subset(_, _, _)", "origin_contains_loan_on_entry(_, _, _)",
				"loan_live_at(_, _)", "errors(_, _)"), "655531\t795405\t410789\t404\n"),
			2.64, "SRDatalog, clap-rs", 0.5),
	}
}

// counted returns clauses whose query counts the tuples of predicates.
func counted(rels ...string) (clauses string) {
	var numbers, counts []string
	for i, rel := range rels {
		numbers = append(numbers, fmt.Sprintf("n%d", i))
		counts = append(counts, fmt.Sprintf("count%d[] = n%d", i, i))
		clauses += fmt.Sprintf("count%d[] = n <- agg<<n = count()>> %s.\n", i, rel)
	}
	return fmt.Sprintf("%s_(%s) <- %s.\n", clauses, strings.Join(numbers, ", "),
		strings.Join(counts, ", "))
}

// doopSizes count what Doop's core rules derive.
var doopSizes = counted("VarPointsTo(_, _)", "InstanceFieldPointsTo(_, _, _)",
	"CallGraphEdge(_, _)", "Reachable(_)")

// cliqueBar is the bar for triangles and 4-cliques of a graph, in seconds.
const cliqueBar = 0.020

func cliqueWorks() (works []*recursionWork) {
	for _, g := range cliqueGraphs {
		works = append(works,
			&recursionWork{name: "3/" + g.name, graph: g.name, bar: cliqueBar,
				program: []string{testFile("graphs", "triangles.logic")},
				answer:  fmt.Sprintln(g.three)},
			&recursionWork{name: "4/" + g.name, graph: g.name, bar: cliqueBar,
				program: []string{testFile("graphs", "cliques.logic")},
				answer:  fmt.Sprintln(g.four)})
	}
	return works
}

// skewBar is the bar for the ratio of the times of a skewed join and a uniform
// join with as many matches.
const skewBar = 1.5

// joinWorks are joins of two and of three relations whose keys follow Zipf's
// law with exponent 1.5, each behind uniform ones.
func joinWorks() (works []*recursionWork) {
	const keys = 1_000
	for _, c := range []struct {
		name, program   string
		rows            []int
		uniform, skewed string // the answers
	}{
		{"2", "join.logic", []int{1_000_000, 2_000}, "174499326\n", "178085599\n"},
		{"3", "chain.logic", []int{50_000, 2_000, 10_000}, "75697768\n", "77717794\n"},
	} {
		work := func(kind, answer string, of func(seed uint64) graphgen.Chain) *recursionWork {
			return &recursionWork{name: fmt.Sprintf("join/%s-%s", c.name, kind), answer: answer,
				program: []string{testFile("graphs", c.program)},
				make: func(_ *recursionWork, dir string, seed uint64) error {
					return of(seed).Write(dir)
				}}
		}
		zipf := func(seed uint64) graphgen.Chain { return graphgen.ZipfChain(c.rows, 1.5, seed) }
		uniform := work("uniform", c.uniform, func(seed uint64) graphgen.Chain {
			return graphgen.UniformChain(c.rows[0], len(c.rows), keys, zipf(seed).Matches(), seed)
		})
		skewed := work("zipf", c.skewed, zipf)
		skewed.than, skewed.times = uniform.name, skewBar
		works = append(works, uniform, skewed)
	}
	return works
}

// Rounds of a stratum, in each of which all rules derive rows.
const (
	steps     = 10_000
	fewRows   = 400   // rows of all deltas of a round
	manyRows  = 8_000 // rows of all deltas of a round
	blockStep = 0.14e-6
)

// besideLoops are microseconds of a round of a WHILE node on an H200, by the
// number of its kernels. The kernels run side by side, except for 3.
var besideLoops = map[int]float64{1: 5.0, 3: 6.6, 10: 6.7, 30: 10.0}

// roundWorks are strata of 1 to 100 rules. Each stands beside a WHILE node, or
// a block that walks through the rules.
func roundWorks() (works []*recursionWork) {
	bars := map[int]map[int]float64{10: {fewRows: 3e-6, manyRows: 12e-6},
		100: {fewRows: 40e-6, manyRows: 40e-6}}
	for _, rules := range []int{1, 3, 10, 30, 100} {
		for _, rows := range []int{fewRows, manyRows} {
			stratum := recursive.Stratum{Rules: rules, Tokens: rows / rules, Rounds: steps}
			w := &recursionWork{name: fmt.Sprintf("rounds/%d-%d", rules, rows),
				rounds: steps, perStep: bars[rules][rows], answer: fmt.Sprintln(stratum.Tuples()),
				make: func(w *recursionWork, dir string, _ uint64) error {
					return w.writeStratum(stratum, dir)
				}}
			if rows == fewRows {
				w.other, w.source = steps*blockStep*float64(rules), "a block walks through rules"
			} else if us := besideLoops[rules]; us > 0 {
				w.other, w.source = steps*us*1e-6, "a WHILE node"
			}
			works = append(works, w)
		}
	}
	return works
}

// writeStratum writes the program of a stratum and its facts.
func (w *recursionWork) writeStratum(s recursive.Stratum, dir string) error {
	w.program = []string{filepath.Join(dir, "program.logic")}
	if err := os.WriteFile(w.program[0], []byte(s.Program()), 0o644); err != nil {
		return err
	}
	return s.Facts().Write(dir)
}

// scaleGroup is the group of works whose times are related to their sizes.
const scaleGroup = "scale"

// scaleBar is the bar for the time of the largest of these works, in seconds.
// sizeExponent is the bar for the exponent of the time as a power of the size.
const (
	scaleBar     = 6
	sizeExponent = 1.1
)

// scaleWorks are Doop's core rules over programs of three sizes, which derive
// about 1, 10 and 100 million tuples of VarPointsTo.
func scaleWorks() (works []*recursionWork) {
	for _, p := range []struct {
		name     string
		packages int
		answer   string
	}{
		{"1M", 460, "932952\t2708063\t135642\t12730\n"},
		{"10M", 4_460, "10234478\t33722766\t1450976\t124313\n"},
		{"100M", 44_600, ""},
	} {
		w := &recursionWork{name: scaleGroup + "/" + p.name, clauses: doopSizes, answer: p.answer,
			program: []string{testFile("recursive", "doop.logic")},
			make: func(_ *recursionWork, dir string, seed uint64) error {
				return recursive.WriteDoop(dir, p.packages, seed)
			}}
		w.alone = p.name != "1M"
		if p.name == "100M" {
			w.onDemand, w.bar = true, scaleBar
		}
		works = append(works, w)
	}
	return works
}

// besideGo is the bar for the speed, relative to the go engine, of the search
// for cliques in graphs.
const besideGo = 20

// graphAnswers are the answers for random graphs of seed 1.
var graphAnswers = map[string]int64{
	"rmat/3-1M": 23_749_780, "rmat/3-16M": 573_989_561, "rmat/4-256k": 35_758_438,
	"uniform/3-1M": 4_609, "uniform/3-16M": 4_543, "uniform/4-256k": 1_920_670,
	"uniform/4-4M": 10_576,
	"zipf/3-1M":    1_806_173, "zipf/3-16M": 30_396_182, "zipf/4-256k": 372_712,
	"zipf/4-4M": 6_040_246,
}

// graphWorks count triangles and 4-cliques of random graphs with 16 edges a
// node. Uniform graphs for 4-cliques have 128, because otherwise there would be
// none. The larger graphs run on demand.
func graphWorks() (works []*recursionWork) {
	for _, kind := range []string{graphgen.RMAT, graphgen.Uniform, graphgen.Zipf} {
		for _, p := range []struct {
			nodes int
			edges string
			bits  int
		}{{3, "1M", 16}, {3, "16M", 20}, {3, "256M", 24}, {4, "256k", 14}, {4, "4M", 18}} {
			g := &graphgen.Graph{Kind: kind, Bits: p.bits, Edges: 16 << p.bits}
			w := &recursionWork{name: fmt.Sprintf("%s/%d-%s", kind, p.nodes, p.edges), made: g,
				program: []string{testFile("graphs", "triangles.logic")}, beside: besideGo,
				onDemand: p.bits > 16 || p.nodes == 4 && p.bits > 14, alone: p.bits > 20}
			if p.nodes == 4 {
				w.program = []string{testFile("graphs", "cliques.logic")}
				if kind == graphgen.Uniform {
					g.Bits -= 3
				}
			}
			if n := graphAnswers[w.name]; n > 0 {
				w.answer = fmt.Sprintln(n)
			}
			works = append(works, w)
		}
	}
	return works
}

// titles describe the works of a group. %s stands for what follows the slash of
// a name.
var titles = map[string]string{
	"tc": "transitive closure of %s", "sg": "same generation of %s",
	"cspa":     "context-sensitive pointer analysis of %s variables",
	"andersen": "Andersen's pointer analysis", "crdt": "a list CRDT", "doop": "Doop's core rules",
	"polonius": "the naive rules of Polonius", "3": "triangles of %s", "4": "4-cliques of %s",
	"join": "relations that are joined and their keys, %s", "rounds": "10,000 rounds, rules and rows of deltas: %s",
	scaleGroup:       "Doop's core rules, %s of VarPointsTo",
	graphgen.RMAT:    "an R-MAT graph, clique and edges: %s",
	graphgen.Uniform: "a uniform graph, clique and edges: %s",
	graphgen.Zipf:    "a skewed graph, clique and edges: %s",
}

// title describes a work, and about how many tuples it counts.
func (w *recursionWork) title() string {
	title := strings.ReplaceAll(titles[w.group()], "%s", strings.TrimPrefix(w.name, w.group()+"/"))
	if n := sumOf(w.answer); n > 0 {
		title += fmt.Sprintf(", %.4g million tuples", float64(n)/1e6)
	}
	return title + ", hot"
}

// order returns the order for a process that runs the work. Generated facts are
// in dir.
func (w *recursionWork) order(c config, engine, dir string) order {
	o := order{Program: w.program, Clauses: w.clauses, Engine: engine, Threads: c.threads}
	switch {
	case w.graph != "":
		o.Files = map[string]string{"edge": c.graphFile(w.graph)}
	case w.made != nil:
		made := *w.made
		made.Seed = c.seed
		o.Graph = &made
	default:
		o.Facts = dir
	}
	return o
}

// arguments returns the arguments of redfox run for an order.
func (o order) arguments() []string {
	args := slices.Concat([]string{"run"}, o.Program,
		[]string{"--engine", o.Engine, "--threads", fmt.Sprint(o.Threads), "--format", "tsv"})
	if o.Clauses != "" {
		args = append(args, "--clauses", o.Clauses)
	}
	if o.Facts != "" {
		args = append(args, "--facts", o.Facts)
	}
	for _, pred := range slices.Sorted(maps.Keys(o.Files)) {
		args = append(args, "--fact", pred+"="+o.Files[pred])
	}
	return args
}
