package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/redfoxdb/redfox/internal/driver"
)

// countEdges reads all of a file of pairs.
const countEdges = `edge(x, y) -> int(x), int(y).
_[] = n <- agg<<n = count()>> edge(_, _).
`

// benchLoad measures the reading of files, and of the same rows in each format.
// The file of -figures names the times of redfox by the engine go, as loading
// does not depend on the engine.
func benchLoad(ctx context.Context, c config) error {
	dir, err := os.MkdirTemp("", "redfox-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	pairs := filepath.Join(dir, "pairs.tsv")
	random := rand.New(rand.NewPCG(1, 2))
	if err := writeTable(pairs, "", 15_000_000, func(i int) []int64 {
		return []int64{int64(i) * 7, random.Int64N(100_000_000)}
	}); err != nil {
		return err
	}
	queries, err := driver.ReadSources(testFile("tpch", "schema.logic"),
		testFile("tpch", "q01.logic"))
	if err != nil {
		return err
	}
	t := comparison{title: "loading",
		labels:  []string{"what", "of", "file", "rate of a thread"},
		systems: []string{driver.EngineGo}, figures: "load"}
	for _, w := range []struct {
		name, figure, of string
		file, data       string // a file of the measured size; what the peer reads
		peer             peerWork
		program          []driver.Source
		facts            *driver.Facts
	}{
		{"tsv-load", "tsv", "TSV, two int columns", pairs, pairs, peerTSV,
			[]driver.Source{driver.Text("edge.logic", countEdges)},
			driver.NewFacts().File("edge", pairs)},
		{"tpch-load", "parquet", "Parquet, 9 columns of lineitem",
			filepath.Join(c.tpch, "lineitem.parquet"), c.tpch, peerParquet, queries,
			driver.NewFacts().Dir(c.tpch)},
	} {
		t.works = append(t.works, work{name: w.name, figure: w.figure, run: func() (*entry, error) {
			prog, err := driver.Compile(ctx, w.program, driver.Options{})
			if err != nil {
				return nil, err
			}
			info, err := os.Stat(w.file)
			if err != nil {
				return nil, err
			}
			took, err := repeat(3, func() error {
				_, err := prog.Load(ctx, w.facts, driver.LoadOptions{Threads: c.threads})
				return err
			})
			if err != nil {
				return nil, err
			}
			mb := float64(info.Size()) / 1e6
			e := &entry{times: []float64{took}, labels: []any{w.of, fmt.Sprintf("%.0f MB", mb),
				fmt.Sprintf("%.0f MB/s", mb/took/float64(c.threads))}}
			return e, e.askPeer(ctx, c, 3, w.peer, w.data, -1)
		}})
	}
	if err := c.compare(t); err != nil {
		return err
	}
	return benchFormats(ctx, c, dir)
}
