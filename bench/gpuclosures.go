package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/redfoxdb/redfox"
)

// closure is a graph whose closure is measured on a GPU.
type closure struct {
	name   string
	tuples int64
	// seconds of a program in CUDA C++ for this alone, on this card, the better
	// of two
	prototype float64
	// seconds of GPULog (Sun and others, ASPLOS 2025) on this card; 0 if not
	// measured
	gpulog float64
	bar    time.Duration
}

// The figures of others were measured on one H200 on the day of
// bench/history.md, best of three, the tuples counted. GPULog leaves out 12,948
// tuples of SF.cedge.
var closures = []closure{
	{"wiki-Vote", 11947132, 0.0039, 0, 0},
	{"CA-HepTh", 74619885, 0.0206, 0.330, 0},
	{"SF.cedge", 80498014, 0.0128, 0.764, 0},
	{"p2p-Gnutella31", 884179859, 0.144, 2.37, 250 * time.Millisecond},
	{"usroads", 871365688, 0.111, 9.46, 250 * time.Millisecond},
	{"fe_sphere", 78557912, 0.0114, 0.579, 0},
	{"fe_body", 156120489, 0.0290, 0.970, 0},
	{"loc-Brightkite", 138269412, 0.0469, 0.333, 0},
	{"luxembourg_osm", 5022084, 0.0090, 0, 0},
	{"wing", 329438, 0.0004, 0, 0},
	{"fe_ocean", 1669750513, 0.238, 10.21, 0},
}

// closures measures transitive closures of those graphs that are there.
func (s *gpuSuite) closures(ctx context.Context) error {
	sources, err := redfox.ReadSources(testFile("graphs", "tc.logic"))
	if err != nil {
		return err
	}
	prog, err := redfox.Compile(ctx, sources, redfox.Options{})
	if err != nil {
		return err
	}
	for _, g := range closures {
		file := filepath.Join(s.graphs, g.name+".tsv.gz")
		if _, err := os.Stat(file); !s.wants(g.name, true) || errors.Is(err, fs.ErrNotExist) ||
			s.scale < 1 && g.tuples > 20e6 {
			continue
		}
		db, err := prog.Load(ctx, redfox.NewFacts().File("edge", file),
			redfox.LoadOptions{Threads: s.threads})
		if err != nil {
			s.fail(g.name, err)
			continue
		}
		j := &job{
			name: g.name, program: sources, output: "tc", rows: g.tuples, unit: "tuples",
			bytes:     g.tuples * 8,
			ceiling:   time.Duration(g.prototype * float64(time.Second)),
			ceilingOf: "hand-written CUDA", bar: g.bar,
			check: wantRows("tc", g.tuples),
		}
		if g.gpulog > 0 {
			j.peer = fmt.Sprintf("GPULog, this card: %.3g s", g.gpulog)
		}
		for _, out := range s.measure(ctx, db, j) {
			if s.engine != "gpu" {
				continue
			}
			err := s.record("tc/"+g.name,
				map[string]time.Duration{"gpu": fromSeconds(out.Median),
					"GPULog": fromSeconds(g.gpulog)},
				map[string]string{"GPULog": "on such a card"})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
