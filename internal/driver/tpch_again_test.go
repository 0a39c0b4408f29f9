package driver

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// TestTPCHAgainOnGPU runs each query of TPC-H again and again over the same
// facts. From the second run on, the host waits for the results and for what it
// computes itself only.
func TestTPCHAgainOnGPU(t *testing.T) {
	emulateGPU(t, emulated.Options{Seed: 9})
	if testing.Short() {
		t.Log("left out: -short: seven of eight queries that run again")
	}
	for i := range 22 {
		if testing.Short() && i%8 > 0 {
			continue
		}
		q := &benchmarkQuery{name: fmt.Sprintf("q%02d", i+1)}
		q.want = readAnswer(t, filepath.Join("../../testdata/tpch/sf0.01", q.name+".tsv"))
		var err error
		q.sources, err = ReadSources("../../testdata/tpch/schema.logic",
			filepath.Join("../../testdata/tpch", q.name+".logic"))
		if err != nil {
			t.Fatal(err)
		}
		prog := q.compile(t, Options{})
		if q.db, err = prog.Load(context.Background(), NewFacts().Dir("../../testdata/tpch/sf0.01"),
			LoadOptions{}); err != nil {
			t.Fatal(err)
		}
		for run := range 4 {
			res, err := prog.RunOn(context.Background(), q.db,
				RunOptions{Engine: "gpu", Outputs: []string{"_"}})
			if err != nil {
				t.Fatal(err)
			}
			if err := suite.SameRows(res.Rows("_"), q.want); err != nil {
				t.Errorf("%s, run %d: %v", q.name, run, err)
			}
			d := res.Stats.Device
			if run == 0 {
				t.Logf("%s: %d waits and %d launches in the first run", q.name, d.Waits, d.Launches)
				continue
			}
			t.Logf("%s: %d waits and %d launches", q.name, d.Waits, d.Launches)
			if d.Waits > 2 {
				t.Errorf("%s, run %d: %d waits", q.name, run, d.Waits)
			}
			if run == 3 && d.Nodes == 0 {
				t.Errorf("%s is not a graph in the fourth run", q.name)
			}
		}
	}
}
