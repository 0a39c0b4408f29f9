package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox"
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

func benchTC(ctx context.Context, c config) error {
	prog, err := compile(ctx, testFile("graphs", "tc.logic"))
	if err != nil {
		return err
	}
	engines := c.measured()
	var rows []table.Row
	version := ""
	for _, g := range graphs {
		if !c.wants(g.name, !g.big) {
			continue
		}
		file := filepath.Join(c.graphs, g.name+".tsv.gz")
		db, err := prog.Load(ctx, redfox.NewFacts().File("edge", file),
			redfox.LoadOptions{Threads: c.threads})
		if err != nil {
			return err
		}
		repeat := c.repeat
		if g.tc > 50e6 {
			repeat = 1
		}
		var ours []time.Duration
		for _, engine := range engines {
			times, res, err := timeRuns(ctx, c, engine, repeat, prog, db)
			if err != nil {
				return fmt.Errorf("%s, engine %s: %w", g.name, engine, err)
			}
			got, err := scalarInt(res, "_")
			if err != nil {
				return err
			}
			if got != g.tc {
				return fmt.Errorf("%s, engine %s: %d tuples, published are %d", g.name, engine, got,
					g.tc)
			}
			ours = append(ours, median(times))
		}
		var theirs time.Duration
		if g.peer {
			peer, err := duckdb(ctx, c, min(repeat, 3), peerClosure, file)
			if err != nil {
				return err
			}
			if peer.rows[0][0] != fmt.Sprint(g.tc) {
				return fmt.Errorf("%s: the peer counts %s tuples, published are %d", g.name,
					peer.rows[0][0], g.tc)
			}
			version, theirs = peer.version, peer.time
		}
		if err := c.record("tc/"+g.name, byEngine(engines, ours, theirs), nil); err != nil {
			return err
		}
		row := append(table.Row{g.name, g.tc, rate(g.tc, slices.Min(ours))},
			engineCells(ours, theirs)...)
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		report(fmt.Sprintf("transitive closure beside DuckDB %s, %d threads", version, c.threads),
			engineHeader(engines, "graph", "tuples", "tuples/s"), rows)
	}
	return nil
}

// compile compiles program files.
func compile(ctx context.Context, files ...string) (*redfox.Program, error) {
	sources, err := redfox.ReadSources(files...)
	if err != nil {
		return nil, err
	}
	return redfox.Compile(ctx, sources, redfox.Options{})
}

// scalarInt returns the one value of a nullary functional predicate.
func scalarInt(res *redfox.Result, pred string) (int64, error) {
	for row := range res.Rows(pred) {
		return row[0].(int64), nil
	}
	return 0, fmt.Errorf("%s is empty", pred)
}

func rate(n int64, d time.Duration) string {
	return fmt.Sprintf("%.3g M", float64(n)/d.Seconds()/1e6)
}
