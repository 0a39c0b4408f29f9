package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/redfoxdb/redfox/internal/driver"
)

// closure is a graph whose closure is measured on a GPU. Times are in seconds,
// on one H200; 0 means unknown.
type closure struct {
	name      string
	tuples    int64
	prototype float64 // the faster of two programs in CUDA C++ written for it
	gpulog    float64 // GPULog (Sun and others, ASPLOS 2025)
	bar       float64
}

// gpulog is the name of the peer of closures.
const gpulog = "GPULog"

// closures holds times of other systems, described in bench/history.md: one
// H200, best of three, tuples counted. GPULog omits 12,948 tuples of SF.cedge.
var closures = []closure{
	{"wiki-Vote", 11947132, 0.0039, 0, 0},
	{"CA-HepTh", 74619885, 0.0206, 0.330, 0},
	{"SF.cedge", 80498014, 0.0128, 0.764, 0},
	{"p2p-Gnutella31", 884179859, 0.144, 2.37, 0.25},
	{"usroads", 871365688, 0.111, 9.46, 0.25},
	{"fe_sphere", 78557912, 0.0114, 0.579, 0},
	{"fe_body", 156120489, 0.0290, 0.970, 0},
	{"loc-Brightkite", 138269412, 0.0469, 0.333, 0},
	{"luxembourg_osm", 5022084, 0.0090, 0, 0},
	{"wing", 329438, 0.0004, 0, 0},
	{"fe_ocean", 1669750513, 0.238, 10.21, 0},
}

// closures measures the transitive closures of those graphs whose files exist.
func (s *gpuSuite) closures(ctx context.Context) error {
	sources, err := driver.ReadSources(testFile("graphs", "tc.logic"))
	if err != nil {
		return err
	}
	for _, g := range closures {
		if _, err := os.Stat(s.graphFile(g.name)); !s.wants(g.name, true) ||
			errors.Is(err, fs.ErrNotExist) || s.scale < 1 && g.tuples > 20e6 {
			continue
		}
		_, db, err := s.loadGraph(ctx, "tc.logic", g.name, driver.Options{})
		if err != nil {
			s.fail(g.name, err)
			continue
		}
		j := &job{name: g.name, program: sources, output: "tc", rows: g.tuples, unit: "tuples",
			bytes: g.tuples * 8, ceiling: ceiling{g.prototype, "hand-written CUDA"}, bar: g.bar,
			check: wantRows("tc", g.tuples)}
		if g.gpulog > 0 {
			j.peer = fmt.Sprintf("GPULog, this card: %.3g s", g.gpulog)
		}
		for _, out := range s.measure(ctx, db, j) {
			if err := s.recordGPU("tc/"+g.name, out.Median, gpulog, g.gpulog,
				"on such a card"); err != nil {
				return err
			}
		}
	}
	return nil
}
