package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox"
)

// triangleGraphs are the graphs whose triangles are counted.
var triangleGraphs = []string{"CA-HepTh", "wiki-Vote", "cti", "SF.cedge"}

// benchTriangles counts triangles as the optimiser chooses, with binary joins
// only and with the peer, which must agree.
func benchTriangles(ctx context.Context, c config) error {
	var rows []table.Row
	version := ""
	for _, name := range triangleGraphs {
		if !c.wants(name, true) {
			continue
		}
		file := filepath.Join(c.graphs, name+".tsv.gz")
		multi, n, err := countTriangles(ctx, c, file, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		binary, m, err := countTriangles(ctx, c, file, []string{"SelectMultijoin"})
		if err != nil {
			return fmt.Errorf("%s, binary joins: %w", name, err)
		}
		peer, err := duckdb(ctx, c, c.repeat, peerTriangles, file)
		if err != nil {
			return err
		}
		version = peer.version
		if n != m || peer.rows[0][0] != fmt.Sprint(n) {
			return fmt.Errorf("%s: %d triangles, %d by binary joins, %s by the peer", name, n, m,
				peer.rows[0][0])
		}
		rows = append(rows, table.Row{name, n, seconds(multi), seconds(binary), seconds(peer.time),
			fmt.Sprintf("%.1f", peer.time.Seconds()/multi.Seconds())})
	}
	report(fmt.Sprintf("triangles, go engine beside DuckDB %s, %d threads", version, c.threads),
		table.Row{"graph", "triangles", "redfox", "binary joins", "DuckDB", "times as fast"}, rows)
	return nil
}

// countTriangles returns the median time and the answer without the given
// optimiser passes.
func countTriangles(ctx context.Context, c config, file string,
	disable []string) (time.Duration, int64, error) {
	sources, err := redfox.ReadSources(testFile("graphs", "triangles.logic"))
	if err != nil {
		return 0, 0, err
	}
	prog, err := redfox.Compile(ctx, sources, redfox.Options{Disable: disable})
	if err != nil {
		return 0, 0, err
	}
	db, err := prog.Load(ctx, redfox.NewFacts().File("edge", file),
		redfox.LoadOptions{Threads: c.threads})
	if err != nil {
		return 0, 0, err
	}
	var n int64
	times, err := repeatTimed(c.repeat, func() error {
		res, err := prog.RunOn(ctx, db,
			redfox.RunOptions{Threads: c.threads, Outputs: []string{"_"}})
		if err != nil {
			return err
		}
		n, err = scalarInt(res, "_")
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return median(times), n, nil
}
