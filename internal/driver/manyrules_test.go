package driver_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/redfoxdb/redfox/internal/bitcodegen"
	"github.com/redfoxdb/redfox/internal/driver"
)

// TestManyRules runs a program of 520 clauses, most of whose native code is
// made with little effort, on each engine of this machine. The second run on an
// engine uses the code of the first. The third one may run parts of the program
// on the go engine.
func TestManyRules(t *testing.T) {
	const kinds = 12
	ctx, dir := context.Background(), t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "facts"), 0o755); err != nil {
		t.Fatal(err)
	}
	program := bitcodegen.Program(kinds)
	var sources []driver.Source
	for _, f := range program {
		sources = append(sources, driver.Text(filepath.Join(dir, f.Name), f.Text))
	}
	for _, f := range bitcodegen.Facts(kinds, 1500, 1) {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	prog, err := driver.Compile(ctx, sources, driver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := prog.Load(ctx, driver.NewFacts().Dir(dir), driver.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	answers := func(engine string, tiers bool) map[string]string {
		res, err := prog.RunOn(ctx, db, driver.RunOptions{Engine: engine, NoTiers: !tiers})
		if err != nil {
			t.Fatal(err)
		}
		if shared := len(res.Stats.Segments) > 0; shared != (tiers && engine == driver.EngineCPU) {
			t.Errorf("on %s, the run has %d segments", engine, len(res.Stats.Segments))
		}
		out := map[string]string{}
		for _, name := range res.Predicates() {
			var b bytes.Buffer
			if err := res.Write(&b, name, driver.TSV, driver.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			out[name] = b.String()
		}
		return out
	}
	want := answers(driver.EngineGo, false)
	if want["op0:wide"] == "" || want["op3:chain"] == "" || want["statistic"] == "" {
		t.Fatal("predicates that say something are empty")
	}
	for _, e := range driver.Engines() {
		if !e.Available || e.Name == driver.EngineGo {
			continue
		}
		for i := range 3 {
			got := answers(e.Name, i == 2)
			for name := range want {
				if got[name] != want[name] {
					t.Fatalf("run %d on %s: %s is\n%s\nnot\n%s", i, e.Name, name, got[name],
						want[name])
				}
			}
		}
	}
}
