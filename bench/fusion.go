package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox"
)

// pattern is a program whose operators stand in one of the patterns by which
// Kernel Weaver (Wu and others, MICRO 2012) measures fusion.
type pattern struct {
	name    string // of a program in testdata/fusion
	samples int    // rows of its largest input
}

var patterns = []pattern{
	{"selects", 20_000_000},
	{"joins", 20_000_000},
	{"selected-joins", 20_000_000},
	{"shared", 20_000_000},
	{"arithmetic", 20_000_000},
	{"rule", 100_000},
}

// keys is how many rows the tables have that joins look into.
const keys = 1_000_000

// variant is a way to compile a pattern.
type variant struct {
	name    string
	options redfox.Options
}

// variants differ in fusion alone. PushFilters, which makes one select of
// several, is left out of both, so that selects stay operators.
var variants = []variant{
	{"apart", redfox.Options{Disable: []string{"PushFilters"}, NoFuse: true}},
	{"fused", redfox.Options{Disable: []string{"PushFilters"}}},
}

// benchFusion runs each pattern on the cpu engine with its kernels apart and
// fused. Bytes are those of columns that kernels read and of tuples that they
// write.
func benchFusion(ctx context.Context, c config) error {
	dir, err := os.MkdirTemp("", "redfox-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	header := table.Row{"pattern", "rows"}
	for _, column := range []string{"kernels", "MB", "time"} {
		for _, v := range variants {
			header = append(header, column+" "+v.name)
		}
	}
	header = append(header, "apart/fused")
	var rows []table.Row
	var written int // rows of the sample file
	for _, p := range patterns {
		if !c.wants(p.name, true) {
			continue
		}
		if p.samples != written {
			if err := writeSamples(dir, p.samples); err != nil {
				return err
			}
			written = p.samples
		}
		kernels, bytes := table.Row{}, table.Row{}
		var times []time.Duration
		var answer string
		for _, v := range variants {
			m, err := measurePattern(ctx, c, dir, p, v)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", p.name, v.name, err)
			}
			if answer == "" {
				answer = m.answer
			}
			if m.answer != answer {
				return fmt.Errorf("%s, %s: the answer is %s and was %s", p.name, v.name, m.answer,
					answer)
			}
			kernels = append(kernels, m.kernels)
			bytes = append(bytes, fmt.Sprintf("%.0f", float64(m.bytes)/1e6))
			times = append(times, m.time)
		}
		row := append(table.Row{p.name, p.samples}, kernels...)
		row = append(row, bytes...)
		for _, t := range times {
			row = append(row, seconds(t))
		}
		rows = append(rows, append(row, ratio(times[0], times[1])))
	}
	report(fmt.Sprintf("kernels of the cpu engine, one an operator and fused, %d threads, answers equal", c.threads), header, rows)
	return nil
}

// measurement is what a variant of a pattern takes.
type measurement struct {
	kernels int
	bytes   int64
	time    time.Duration
	answer  string
}

func measurePattern(ctx context.Context, c config, dir string, p pattern,
	v variant) (*measurement, error) {
	sources, err := redfox.ReadSources(testFile("fusion", p.name+".logic"))
	if err != nil {
		return nil, err
	}
	prog, err := redfox.Compile(ctx, sources, v.options)
	if err != nil {
		return nil, err
	}
	db, err := prog.Load(ctx, redfox.NewFacts().Dir(dir),
		redfox.LoadOptions{Threads: c.threads, Header: true})
	if err != nil {
		return nil, err
	}
	// The profile is taken in a run of its own, which also generates the code.
	res, err := prog.RunOn(ctx, db,
		redfox.RunOptions{Engine: "cpu", Threads: c.threads, Outputs: []string{"_"}, Profile: true})
	if err != nil {
		return nil, err
	}
	m := &measurement{kernels: len(res.Stats.Kernels)}
	for _, k := range res.Stats.Kernels {
		m.bytes += k.Bytes
	}
	times, res, err := timeRuns(ctx, c, "cpu", c.repeat, prog, db)
	if err != nil {
		return nil, err
	}
	for row := range res.Rows("_") {
		m.answer += fmt.Sprint(row)
	}
	m.time = median(times)
	return m, nil
}

// writeSamples writes the facts of the patterns, the same for the same n: n
// samples with three columns of numbers below 1,000 and one of keys; tables of
// keys, each a permutation; and a graph of n edges with a few cycles.
func writeSamples(dir string, n int) error {
	random := rand.New(rand.NewPCG(1, 2))
	columns := func(width ...int64) func(i int) []int64 {
		row := make([]int64, len(width)+1)
		return func(i int) []int64 {
			row[0] = int64(i)
			for c, w := range width {
				row[c+1] = random.Int64N(w)
			}
			return row
		}
	}
	if err := writeTable(filepath.Join(dir, "sample.tsv"), "id\tx\ty\tz\tk", n,
		columns(1000, 1000, 1000, keys)); err != nil {
		return err
	}
	for _, name := range []string{"next", "final", "weight"} {
		values := random.Perm(keys)
		row := make([]int64, 2)
		err := writeTable(filepath.Join(dir, name+".tsv"), "k\tv", keys, func(i int) []int64 {
			row[0], row[1] = int64(i), int64(values[i])
			return row
		})
		if err != nil {
			return err
		}
	}
	// Edges that lead ahead by a little make paths long and rounds many.
	row := make([]int64, 2)
	return writeTable(filepath.Join(dir, "edge.tsv"), "x\ty", n, func(i int) []int64 {
		row[0] = int64(i)
		row[1] = int64(i) + 1
		if i%100 == 99 {
			row[1] = int64(i) - random.Int64N(100)
		}
		return row
	})
}

// writeTable writes n rows below a header.
func writeTable(file, header string, n int, row func(i int) []int64) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	w.WriteString(header + "\n") // an error stays with w until Flush
	var line []byte
	for i := range n {
		line = line[:0]
		for c, v := range row(i) {
			if c > 0 {
				line = append(line, '\t')
			}
			line = strconv.AppendInt(line, v, 10)
		}
		w.Write(append(line, '\n'))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
