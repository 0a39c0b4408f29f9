package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/redfoxdb/redfox/internal/driver"
)

// pattern is a program whose operators form one of the patterns of Kernel
// Weaver (Wu and others, MICRO 2012).
type pattern struct {
	name    string // the name of a program in testdata/fusion
	samples int    // the rows of its largest input
}

var patterns = []pattern{
	{"selects", 20_000_000},
	{"joins", 20_000_000},
	{"selected-joins", 20_000_000},
	{"shared", 20_000_000},
	{"arithmetic", 20_000_000},
	{"rule", 100_000},
}

// keys is the number of rows of the tables that are joined.
const keys = 1_000_000

// variant is a way to compile a pattern.
type variant struct {
	name    string
	options driver.Options
}

// variants differ only in fusion. Both omit PushFilters, which merges selects,
// so that each select stays an operator.
var variants = []variant{
	{"apart", driver.Options{Disable: []string{"PushFilters"}, NoFuse: true}},
	{"fused", driver.Options{Disable: []string{"PushFilters"}}},
}

// benchFusion runs each pattern on the cpu engine with its kernels apart and
// fused. The bytes count columns that kernels read and tuples that they write.
func benchFusion(ctx context.Context, c config) error {
	dir, err := os.MkdirTemp("", "redfox-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := comparison{title: "kernels of the cpu engine, one an operator and fused, answers equal",
		labels: []string{"pattern", "rows"}}
	for _, v := range variants {
		t.systems = append(t.systems, v.name)
		t.labels = append(t.labels, "kernels "+v.name, "MB "+v.name)
	}
	written := 0 // rows of the sample file
	for _, p := range patterns {
		t.works = append(t.works, work{name: p.name, run: func() (*entry, error) {
			if p.samples != written {
				if err := writeSamples(dir, p.samples); err != nil {
					return nil, err
				}
				written = p.samples
			}
			e, answer := &entry{labels: []any{p.samples}}, ""
			for i, v := range variants {
				got, err := e.measurePattern(ctx, c, dir, p, v)
				if err == nil && i > 0 && got != answer {
					err = fmt.Errorf("the answer is %s and was %s", got, answer)
				}
				if err != nil {
					return nil, fmt.Errorf("%s: %w", v.name, err)
				}
				answer = got
			}
			return e, nil
		}})
	}
	return c.compare(t)
}

// measurePattern adds the kernels, bytes and time of a variant to an entry. It
// returns the answer.
func (e *entry) measurePattern(ctx context.Context, c config, dir string, p pattern,
	v variant) (answer string, err error) {
	prog, err := compile(ctx, v.options, testFile("fusion", p.name+".logic"))
	if err != nil {
		return "", err
	}
	db, err := prog.Load(ctx, driver.NewFacts().Dir(dir),
		driver.LoadOptions{Threads: c.threads, Header: true})
	if err != nil {
		return "", err
	}
	// A separate run takes the profile. It also generates the code.
	res, err := prog.RunOn(ctx, db, driver.RunOptions{Engine: driver.EngineCPU,
		Threads: c.threads, Outputs: []string{"_"}, Profile: true})
	if err != nil {
		return "", err
	}
	bytes := int64(0)
	for _, k := range res.Stats.Kernels {
		bytes += k.Bytes
	}
	e.labels = append(e.labels, len(res.Stats.Kernels), fmt.Sprintf("%.0f", float64(bytes)/1e6))
	took, res, err := c.timeRuns(ctx, driver.EngineCPU, c.repeat, prog, db)
	if err != nil {
		return "", err
	}
	e.times = append(e.times, took)
	for row := range res.Rows("_") {
		answer += fmt.Sprint(row)
	}
	return answer, res.Err()
}

// writeSamples writes the facts of the patterns, which depend only on n: n
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
	// Short steps ahead make paths long, so that there are many rounds.
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

// writeTable writes n rows as TSV, below a header if it is not "".
func writeTable(file, header string, n int, row func(i int) []int64) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if header != "" {
		w.WriteString(header + "\n") // w keeps an error until Flush
	}
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
