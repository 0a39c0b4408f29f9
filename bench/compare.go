package main

import (
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/internal/driver"
)

// comparison is the table of a suite: works that are each measured on the same
// systems and, in most suites, on a peer.
type comparison struct {
	title   string
	labels  []string // columns before the times
	systems []string // engines, or variants of one
	figures string   // prefix of the rows in the file of -figures; "" records none
	total   bool     // add sums and means, and record the sum instead of rows
	works   []work
}

// work is one row. The error of run includes a wrong answer.
type work struct {
	name     string // for -only and the first column
	figure   string // for -figures; "" stands for name
	onDemand bool   // measured only if -only names it
	run      func() (*entry, error)
}

// entry holds the measurements of one work. Times are medians in seconds.
type entry struct {
	labels   []any // those after the name
	times    []float64
	peer     float64 // 0: not measured
	peerName string
}

// compare measures the works that -only selects and prints their table.
func (c config) compare(t comparison) error {
	var entries []*entry
	peer := ""
	for _, w := range t.works {
		if !c.wants(w.name, !w.onDemand) {
			continue
		}
		e, err := w.run()
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		e.labels = append([]any{w.name}, e.labels...)
		entries = append(entries, e)
		if e.peer > 0 {
			peer = e.peerName
		}
		if t.figures != "" && !t.total {
			name := w.name
			if w.figure != "" {
				name = w.figure
			}
			if err := t.record(c, name, e); err != nil {
				return err
			}
		}
	}
	if len(entries) == 0 {
		return nil
	}
	title := t.title
	if peer != "" {
		title += " beside " + peer
	}
	rows := t.rows(entries, peer != "")
	if t.total {
		sum, mean := t.totals(entries)
		if len(entries) == len(t.works) { // do not record the sum of a selection
			if err := t.record(c, "sum", sum); err != nil {
				return err
			}
		}
		rows = append(append(rows, t.rows([]*entry{sum}, true)...), mean)
	}
	report(fmt.Sprintf("%s, %d threads", title, c.threads), t.header(peer != ""), rows)
	return nil
}

// record writes an entry to the file of -figures.
func (t comparison) record(c config, name string, e *entry) error {
	times := map[string]float64{"DuckDB": e.peer}
	for i, s := range t.systems {
		times[s] = e.times[i]
	}
	return c.record(t.figures+"/"+name, times, nil)
}

// header returns the column titles: labels, times, and ratios to the peer, or
// to the first system if there is no peer.
func (t comparison) header(peer bool) table.Row {
	var row table.Row
	for _, name := range slices.Concat(t.labels, t.systems) {
		row = append(row, name)
	}
	base, rest := t.systems[0], t.systems[1:]
	if peer {
		base, rest = "DuckDB", t.systems
		row = append(row, base)
	}
	for _, s := range rest {
		row = append(row, base+"/"+s)
	}
	return row
}

// rows returns the cells under header.
func (t comparison) rows(entries []*entry, peer bool) []table.Row {
	var out []table.Row
	for _, e := range entries {
		row := table.Row(e.labels)
		for _, s := range e.times {
			row = append(row, measure.FormatTime(s))
		}
		base, rest := e.times[0], e.times[1:]
		if peer && e.peer == 0 {
			row, rest = append(row, "not run"), nil
		} else if peer {
			base, rest = e.peer, e.times
			row = append(row, measure.FormatTime(base))
		}
		for _, s := range rest {
			row = append(row, fmt.Sprintf("%.2f", base/s))
		}
		out = append(out, row)
	}
	return out
}

// totals returns the sum of entries, and a row of the geometric means of their
// ratios to the peer.
func (t comparison) totals(entries []*entry) (*entry, table.Row) {
	sum := &entry{labels: blanks("all", len(t.labels)), times: make([]float64, len(t.systems))}
	mean := blanks("geometric mean", len(t.labels)+len(t.systems)+1)
	for i := range t.systems {
		var ratios []float64
		for _, e := range entries {
			sum.times[i] += e.times[i]
			ratios = append(ratios, e.peer/e.times[i])
		}
		mean = append(mean, fmt.Sprintf("%.2f", measure.GeometricMean(ratios)))
	}
	for _, e := range entries {
		sum.peer += e.peer
	}
	return sum, mean
}

// blanks returns n cells, all empty but the first.
func blanks(first string, n int) []any {
	row := []any{first}
	for len(row) < n {
		row = append(row, "")
	}
	return row
}

// report prints a table with a title.
func report(title string, header table.Row, rows []table.Row) {
	t := table.NewWriter()
	t.SetTitle(title)
	t.AppendHeader(header)
	t.AppendRows(rows)
	t.SetStyle(table.StyleLight)
	fmt.Println(t.Render() + "\n")
}

// enginesOr returns the engines of -engines, or those that a suite names.
func (c config) enginesOr(names ...string) []string {
	if c.engines != "" {
		return strings.Split(c.engines, ",")
	}
	return names
}

// measured returns the engines that suites run on: those of -engines, or all
// that the machine has, slowest first.
func (c config) measured() []string {
	var names []string
	for _, e := range driver.Engines() {
		if e.Available {
			names = append(names, e.Name)
		}
	}
	slices.Reverse(names)
	return c.enginesOr(names...)
}

// repeat calls f n times and returns the median of its times. Each time
// excludes collecting the garbage of the previous call.
func repeat(n int, f func() error) (float64, error) {
	var seconds []float64
	for range n {
		goruntime.GC()
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		seconds = append(seconds, time.Since(start).Seconds())
	}
	return measure.Median(seconds), nil
}

// timeRuns runs a program repeatedly over loaded facts. It returns the median
// time and the last answer. If -repeat is more than 1, a first run, which
// optimises the plan and generates code, is not counted.
func (c config) timeRuns(ctx context.Context, engine string, n int, prog *driver.Program,
	db *driver.Database) (float64, *driver.Result, error) {
	opts := driver.RunOptions{Engine: engine, Threads: c.threads, Outputs: []string{"_"},
		NoTiers: true}
	var res *driver.Result
	run := func() (err error) {
		res, err = prog.RunOn(ctx, db, opts)
		return err
	}
	if c.repeat > 1 {
		if err := run(); err != nil {
			return 0, nil, err
		}
	}
	median, err := repeat(n, run)
	return median, res, err
}
