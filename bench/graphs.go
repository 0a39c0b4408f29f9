package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/redfoxdb/redfox/internal/driver"
)

// graph is an edge list with the published size of its closure.
type graph struct {
	name string
	tc   int64
	peer bool // DuckDB closes it in minutes, and is measured beside
	big  bool // measured only when asked for by name
}

var graphs = []graph{
	{name: "OL.cedge", tc: 146120, peer: true},
	{name: "cal.cedge", tc: 501755, peer: true},
	{name: "TG.cedge", tc: 481121, peer: true},
	{name: "cti", tc: 6859653, peer: true},
	{name: "wiki-Vote", tc: 11947132, peer: true},
	{name: "SF.cedge", tc: 80498014, peer: true},
	{name: "CA-HepTh", tc: 74619885, peer: true},
	{name: "usroads", tc: 871365688, big: true},
}

// benchTC measures transitive closures on each engine and on DuckDB, or, with
// -peer, in processes.
func benchTC(ctx context.Context, c config) error {
	if c.peer != "" {
		return c.benchProcesses(ctx, c.graphProcesses("tc", "cti", "SF.cedge", "wiki-Vote",
			"CA-HepTh", pathGraph))
	}
	t := comparison{title: "transitive closure", labels: []string{"graph", "tuples", "tuples/s"},
		systems: c.measured(), figures: "tc"}
	for _, g := range graphs {
		t.works = append(t.works, work{name: g.name, onDemand: g.big, run: func() (*entry, error) {
			prog, db, err := c.loadGraph(ctx, "tc.logic", g.name, driver.Options{})
			if err != nil {
				return nil, err
			}
			n := c.repeat
			if g.tc > 50e6 {
				n = 1
			}
			e := &entry{}
			for _, engine := range t.systems {
				took, res, err := c.timeRuns(ctx, engine, n, prog, db)
				if err == nil {
					err = wantValue("_", g.tc)(res)
				}
				if err != nil {
					return nil, fmt.Errorf("engine %s: %w", engine, err)
				}
				e.times = append(e.times, took)
			}
			e.labels = []any{g.tc, fmt.Sprintf("%.3g M", float64(g.tc)/slices.Min(e.times)/1e6)}
			if g.peer {
				err = e.askPeer(ctx, c, min(n, 3), peerClosure, c.graphFile(g.name), g.tc)
			}
			return e, err
		}})
	}
	return c.compare(t)
}

// triangleGraphs are the graphs whose triangles are counted.
var triangleGraphs = []string{"CA-HepTh", "wiki-Vote", "cti", "SF.cedge"}

// benchTriangles counts triangles with the plan that the optimiser chooses,
// with binary joins only, and on DuckDB, or, with -peer, in processes. All must
// agree.
func benchTriangles(ctx context.Context, c config) error {
	if c.peer != "" {
		return c.benchProcesses(ctx, c.graphProcesses("triangles", triangleGraphs...))
	}
	t := comparison{title: "triangles", labels: []string{"graph", "triangles"},
		systems: []string{"redfox", "binary joins"}}
	for _, name := range triangleGraphs {
		t.works = append(t.works, work{name: name, run: func() (*entry, error) {
			e, count := &entry{}, int64(-1)
			for _, disable := range [][]string{nil, {"SelectMultijoin"}} {
				prog, db, err := c.loadGraph(ctx, "triangles.logic", name,
					driver.Options{Disable: disable})
				if err != nil {
					return nil, err
				}
				took, res, err := c.timeRuns(ctx, driver.EngineAuto, c.repeat, prog, db)
				if err != nil {
					return nil, err
				}
				if count < 0 {
					count, err = scalarInt(res, "_")
				} else {
					err = wantValue("_", count)(res)
				}
				if err != nil {
					return nil, err
				}
				e.times = append(e.times, took)
			}
			e.labels = []any{count}
			return e, e.askPeer(ctx, c, c.repeat, peerTriangles, c.graphFile(name), count)
		}})
	}
	return c.compare(t)
}

// loadGraph compiles a program about graphs and loads one.
func (c config) loadGraph(ctx context.Context, program, name string,
	opts driver.Options) (*driver.Program, *driver.Database, error) {
	prog, err := compile(ctx, opts, testFile("graphs", program))
	if err != nil {
		return nil, nil, err
	}
	db, err := prog.Load(ctx, driver.NewFacts().File("edge", c.graphFile(name)),
		driver.LoadOptions{Threads: c.threads})
	return prog, db, err
}

// graphFile returns the file of a graph's edges.
func (c config) graphFile(name string) string { return filepath.Join(c.graphs, name+".tsv.gz") }

// compile compiles program files.
func compile(ctx context.Context, opts driver.Options, files ...string) (*driver.Program, error) {
	sources, err := driver.ReadSources(files...)
	if err != nil {
		return nil, err
	}
	return driver.Compile(ctx, sources, opts)
}

// scalarInt returns the one value of a nullary functional predicate.
func scalarInt(res *driver.Result, pred string) (int64, error) {
	for row := range res.Rows(pred) {
		return row[0].(int64), nil
	}
	return 0, errors.Join(fmt.Errorf("%s is empty", pred), res.Err())
}
