package redfox_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/redfoxdb/redfox"
	"github.com/redfoxdb/redfox/internal/bitcodegen"
)

// TestManyRules runs a program of 520 clauses, most of whose native code is
// made with little effort, on each engine of this machine. The second run on an
// engine uses the code of the first.
func TestManyRules(t *testing.T) {
	const kinds = 12
	ctx, dir := context.Background(), t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "facts"), 0o755); err != nil {
		t.Fatal(err)
	}
	program := bitcodegen.Program(kinds)
	var sources []redfox.Source
	for _, f := range program {
		sources = append(sources, redfox.Text(filepath.Join(dir, f.Name), f.Text))
	}
	for _, f := range bitcodegen.Facts(kinds, 1500, 1) {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	prog, err := redfox.Compile(ctx, sources, redfox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := prog.Load(ctx, redfox.NewFacts().Dir(dir), redfox.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	answers := func(engine string) map[string]string {
		res, err := prog.RunOn(ctx, db, redfox.RunOptions{Engine: engine})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, name := range res.Predicates() {
			var b bytes.Buffer
			if err := res.Write(&b, name, redfox.TSV, redfox.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			out[name] = b.String()
		}
		return out
	}
	want := answers(redfox.EngineGo)
	if want["op0:wide"] == "" || want["op3:chain"] == "" || want["statistic"] == "" {
		t.Fatal("predicates that say something are empty")
	}
	for _, e := range redfox.Engines() {
		if !e.Available || e.Name == redfox.EngineGo {
			continue
		}
		for i := range 2 {
			got := answers(e.Name)
			for name := range want {
				if got[name] != want[name] {
					t.Fatalf("run %d on %s: %s is\n%s\nnot\n%s", i, e.Name, name, got[name],
						want[name])
				}
			}
		}
	}
}
