package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/pointergen"
)

// spillWork is a program of testdata/graphs, and its facts.
type spillWork struct {
	name, program string
	facts         func(c config, dir string) (*driver.Facts, error)
	demand        bool // runs only if -only names it
}

// spillShare is the ratio of the memory that the go engine takes without a
// bound, except for the facts, to the memory of a bounded run.
const spillShare = 10

func spillGraph(name string) func(config, string) (*driver.Facts, error) {
	return func(c config, _ string) (*driver.Facts, error) {
		return driver.NewFacts().File("edge", c.graphFile(name)), nil
	}
}

func spillCSPA(variables int) func(config, string) (*driver.Facts, error) {
	return func(c config, dir string) (*driver.Facts, error) {
		err := pointergen.CSPA(variables, c.seed).Write(dir)
		return driver.NewFacts().Dir(dir), err
	}
}

// spillRMAT is the smaller graph of the suite iterate.
func spillRMAT(c config, _ string) (*driver.Facts, error) {
	graph := iterateGraphs[0].graph
	graph.Seed = c.seed
	from, to, err := graph.Make(c.threads)
	return driver.NewFacts().Columns("edge", from, to), err
}

var spillWorks = []spillWork{
	{name: "tc/TG.cedge", program: "tc", facts: spillGraph("TG.cedge")},
	{name: "tc/cti", program: "tc", facts: spillGraph("cti")},
	{name: "tc/wiki-Vote", program: "tc", facts: spillGraph("wiki-Vote")},
	{name: "tc/SF.cedge", program: "tc", facts: spillGraph("SF.cedge"), demand: true},
	{name: "cspa/2000", program: "cspa", facts: spillCSPA(2000)},
	{name: "cspa/4000", program: "cspa", facts: spillCSPA(4000), demand: true},
	{name: "triangles/1M", program: "triangles", facts: spillRMAT},
}

// benchSpill runs programs without a bound on memory, and then with a file and
// a tenth of the memory that the go engine took, facts excluded. Both must give
// the same answer. The cpu engine needs less memory for some programs, and no
// file.
func benchSpill(ctx context.Context, c config) error {
	engines := c.enginesOr(driver.EngineGo, driver.EngineCPU)
	var rows []table.Row
	for _, w := range spillWorks {
		if !c.wants(w.name, !w.demand) {
			continue
		}
		more, err := c.spill(ctx, w, engines)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		rows = append(rows, more...)
	}
	report(fmt.Sprintf("Runs without a bound on memory, and in 1/%d of what engine go takes then, "+
		"wall / processor time, %d threads", spillShare, c.threads),
		table.Row{"program", "engine", "memory", "unbounded", "bound", "bounded", "ratio",
			"parts", "written", "file"}, rows)
	return nil
}

// spill measures one program.
func (c config) spill(ctx context.Context, w spillWork, engines []string) (rows []table.Row,
	err error) {
	dir, err := os.MkdirTemp("", "redfox-spill")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	prog, err := compile(ctx, driver.Options{}, testFile("graphs", w.program+".logic"))
	if err != nil {
		return nil, err
	}
	facts, err := w.facts(c, dir)
	if err != nil {
		return nil, err
	}
	db, err := prog.Load(ctx, facts, driver.LoadOptions{Threads: c.threads})
	if err != nil {
		return nil, err
	}
	opts := driver.RunOptions{Engine: driver.EngineGo, Threads: c.threads,
		Outputs: []string{"_"}}
	first, err := prog.RunOn(ctx, db, opts)
	if err != nil {
		return nil, err
	}
	bound := (first.Stats.Peak - db.Held()) / spillShare
	seconds := map[string]float64{}
	for _, engine := range engines {
		opts.Engine, opts.Memory, opts.Spill = engine, 0, ""
		whole, free, err := c.medianRun(ctx, prog, db, opts)
		if err != nil {
			return nil, fmt.Errorf("engine %s: %w", engine, err)
		}
		opts.Memory, opts.Spill = db.Held()+bound, dir
		clock := startClock()
		res, err := prog.RunOn(ctx, db, opts)
		if err != nil {
			return nil, fmt.Errorf("engine %s in %s: %w", engine, mebibytes(bound), err)
		}
		parted := clock.taken()
		same := slices.Equal(answerOf(first), answerOf(res))
		if err := errors.Join(first.Err(), res.Err()); err != nil || !same {
			return nil, fmt.Errorf("engine %s: another answer in %s: %w", engine,
				mebibytes(bound), err)
		}
		seconds[engine], seconds[engine+" bounded"] = whole.wall, parted.wall
		row := table.Row{w.name, engine, mebibytes(free.Stats.Peak - db.Held()), whole,
			mebibytes(bound), parted, fmt.Sprintf("%.1f", parted.wall/whole.wall)}
		if s := res.Stats.Spill; s != nil {
			row = append(row, s.Boxes, mebibytes(s.Written), mebibytes(s.Peak))
		}
		rows = append(rows, row)
	}
	return rows, c.record("spill/"+w.name, seconds, nil)
}

// answerOf returns the tuples of the query as text.
func answerOf(res *driver.Result) (out []string) {
	for row := range res.Rows("_") {
		out = append(out, fmt.Sprint(row))
	}
	return out
}

func mebibytes(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
