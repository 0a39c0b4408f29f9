package read

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/scratch"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

// spilling adds a folder to options, and a bound that is always scarce but
// never refuses.
func spilling(o Options, dir string) Options {
	o.Spill, o.Bound = dir, -4
	o.Reserve = func(string, int64) error { return nil }
	return o
}

// TestSpill compares facts in pages of a file with those in memory: of one file
// and of several, of all formats, with tuples that repeat.
func TestSpill(t *testing.T) {
	if !scratch.CanMap {
		t.Skip("files cannot be mapped")
	}
	rng := rand.New(rand.NewPCG(11, 11))
	dicts := 0
	for round := range 24 {
		dir := t.TempDir()
		s, r := randomRelation(t, rng, 2000+rng.IntN(2000))
		if len(s.Args) == 0 {
			continue
		}
		name := []string{"p%d.tsv", "p%d.csv", "p%d.parquet", "p%d.jsonl", "p%d.arrow", "p%d.arrows",
			"p%d.tsv.gz"}[round%7]
		var facts []Fact
		for i := range 1 + rng.IntN(3) {
			path := filepath.Join(dir, fmt.Sprintf(name, i))
			err := write.File(path, func(w io.Writer) error {
				return write.Rows(w, write.Of(r), write.FormatOf(path), write.Options{Header: true})
			})
			if err != nil {
				t.Fatal(err)
			}
			facts = append(facts, Fact{Pred: "p", Path: path})
		}
		load := func(o Options) (*store.Relation, *Report) {
			o.Threads, o.Header, o.blockSize = 1+rng.IntN(3), true, 4096
			b, err := Bind(context.Background(), []store.Schema{s}, "", facts, o)
			if err != nil {
				t.Fatal(err)
			}
			db, report, err := Load(context.Background(), b, o)
			if err != nil {
				t.Fatal(err)
			}
			return db.Relation("p"), report
		}
		want, _ := load(Options{})
		got, report := load(spilling(Options{}, dir))
		goruntime.GC() // what nothing keeps is gone
		compareColumns(t, name, got, want)
		if slices.ContainsFunc(got.Columns(), func(c *store.Column) bool {
			return c.Width > 0 && !c.OnDisk
		}) {
			t.Errorf("%s: a column of %v is in memory", name, s.Args)
		}
		for _, c := range got.Columns() {
			if c.Dict == nil || c.Dict.Len() == 0 {
				continue
			}
			if dicts++; !c.Dict.OnDisk {
				t.Errorf("%s: a dictionary of %d strings is in memory", name, c.Dict.Len())
			}
		}
		if disk := slices.ContainsFunc(got.Columns(), func(c *store.Column) bool {
			return c.OnDisk
		}); disk && report.Spilled == 0 {
			t.Errorf("%s: nothing was spilled", name)
		}
	}
	if dicts == 0 {
		t.Error("no dictionary was looked at")
	}
}

// TestSpillNowhere spills to a folder that is not there.
func TestSpillNowhere(t *testing.T) {
	if !scratch.CanMap {
		t.Skip("files cannot be mapped")
	}
	s := storetest.Predicate(t, "p(x:int)")
	dir := t.TempDir()
	path := WriteFile(t, dir, "p.tsv", "1\n2\n3\n")
	opts := spilling(Options{}, filepath.Join(dir, "none"))
	b, err := Bind(context.Background(), []store.Schema{s}, "", []Fact{{Pred: "p", Path: path}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = Load(context.Background(), b, opts)
	var failed *scratch.Error
	if !errors.As(err, &failed) || failed.Do != "make" {
		t.Errorf("got %v", err)
	}
}
