package main

import (
	"context"
	"fmt"
	"os"

	"github.com/redfoxdb/redfox/internal/driver"
)

// cliqueGraphs are the graphs whose cliques are counted, with the numbers of
// their triangles, as triangles.logic has them, and of their 4-cliques.
var cliqueGraphs = []struct {
	name        string
	three, four int64
}{
	{"ego-Facebook", 1612010, 30004668},
	{"wiki-Vote", 746557, 2077903},
	{"CA-HepTh", 171238, 65592},
	{"loc-Brightkite", 494728, 2851308},
}

// benchCliques counts triangles and 4-cliques on each engine and on DuckDB,
// which has only binary joins. All must agree, and 4-cliques also with the
// known number. Graphs that are not in the folder run on demand. With -peer,
// 4-cliques are counted in processes instead.
func benchCliques(ctx context.Context, c config) error {
	if c.peer != "" {
		return c.benchProcesses(ctx, c.graphProcesses("cliques", "ego-Facebook", "wiki-Vote",
			"CA-HepTh"))
	}
	t := comparison{title: "cliques", labels: []string{"graph", "cliques"}, systems: c.measured(),
		figures: "cliques"}
	for _, g := range cliqueGraphs {
		_, err := os.Stat(c.graphFile(g.name))
		t.works = append(t.works,
			work{name: "3 of " + g.name, onDemand: err != nil, run: func() (*entry, error) {
				return c.countCliques(ctx, t.systems, "triangles.logic", g.name, g.three, peerTriangles)
			}},
			work{name: "4 of " + g.name, onDemand: err != nil, run: func() (*entry, error) {
				return c.countCliques(ctx, t.systems, "cliques.logic", g.name, g.four, peerCliques)
			}})
	}
	return c.compare(t)
}

// countCliques measures a program that counts the cliques of a graph.
func (c config) countCliques(ctx context.Context, engines []string, program, graph string,
	count int64, peer peerWork) (*entry, error) {
	prog, db, err := c.loadGraph(ctx, program, graph, driver.Options{})
	if err != nil {
		return nil, err
	}
	e := &entry{}
	for _, engine := range engines {
		took, res, err := c.timeRuns(ctx, engine, c.repeat, prog, db)
		if err == nil {
			err = wantValue("_", count)(res)
		}
		if err != nil {
			return nil, fmt.Errorf("engine %s: %w", engine, err)
		}
		e.times = append(e.times, took)
	}
	e.labels = []any{count}
	return e, e.askPeer(ctx, c, min(c.repeat, 3), peer, c.graphFile(graph), count)
}
