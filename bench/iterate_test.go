package main

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/graphgen"
)

// TestSuiteIterate runs the works of the suite over a small graph on the
// engines of this machine. Other values than those of the loop are an error.
func TestSuiteIterate(t *testing.T) {
	t.Chdir("..")
	var engines []string
	for _, e := range []string{driver.EngineGo, driver.EngineCPU} {
		if _, _, err := driver.ChooseEngine(e); err == nil {
			engines = append(engines, e)
		}
	}
	c := config{threads: 2, repeat: 2, figures: filepath.Join(t.TempDir(), "figures.json")}
	graph := graphgen.Graph{Kind: graphgen.RMAT, Bits: 8, Edges: 1 << 12, Seed: 1}
	for _, w := range iterateWorks {
		rows, err := c.iterate(context.Background(), w.program, w, graph, engines)
		if err != nil {
			t.Fatalf("%s: %v", w.program, err)
		}
		if len(rows) != len(engines) {
			t.Errorf("%s: %d rows for %d engines", w.program, len(rows), len(engines))
		}
		by := w.loop
		for _, other := range []float64{math.NaN(), -1} {
			w.loop = func(g *arrays) []float64 {
				value := by(g)
				value[g.source[0]] = other
				return value
			}
			_, err = c.iterate(context.Background(), w.program, w, graph, engines[:1])
			if err == nil || !strings.Contains(err.Error(), "in the loop by hand") {
				t.Errorf("%s: %v where the loop has %v", w.program, err, other)
			}
		}
	}
}
