package read

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
)

// TestKeysAreProvenFirst selects rows of a file that no process has read
// before, in one of which a key repeats.
func TestKeysAreProvenFirst(t *testing.T) {
	alwaysSelect(t)
	load := func(path string, most int64, unread bool, opts Options) (
		*store.Relation, *Report, error) {
		schemas := []store.Schema{storetest.Predicate(t, "t:v[k:int; l:int]=v:int"),
			storetest.Predicate(t, "t:w[k:int; l:int]=w:int")}
		b, err := Bind(context.Background(), schemas, "", []Fact{{Pred: "t", Path: path}}, opts)
		if err != nil {
			t.Fatal(err)
		}
		b.Leave(func(_ string, arg int) bool { return unread && arg == 0 })
		b.Ask(func(pred string, arg int) *Test {
			if pred == "t:v" && arg == 2 {
				return &Test{Range: true, Least: 0, Most: most}
			}
			return nil
		})
		db, report, err := Load(context.Background(), b, opts)
		if err != nil {
			return nil, nil, err
		}
		return db.Relation("t:w"), report, nil
	}
	for _, threads := range []int{1, 2} {
		kept := map[string][]byte{}
		opts := memoryProofs(kept)
		opts.Threads = threads
		path := writeKeyed(t, [4]int64{1, 1, 5, 6}, [4]int64{1, 2, 7, 8}, [4]int64{2, 1, 9, 5})
		for run, unread := range []bool{true, true, false} {
			if run == 2 {
				clear(kept)
			}
			r, report, err := load(path, 7, unread, opts)
			if err != nil {
				t.Fatal(err)
			}
			if r.Rows() != 2 || !report.Files[0].Selected || r.Column(0).Absent != unread ||
				r.Column(1).Word(1) != 2 || r.Column(2).Word(1) != 8 {
				t.Errorf("run %d: %d rows, absent %v", run, r.Rows(), r.Column(0).Absent)
			}
			if len(kept) != 1 {
				t.Errorf("run %d: %d proofs", run, len(kept))
			}
		}
		// No row fails, so that none is selected; keys are not read again.
		mostSelected = 0.5
		if r, report, err := load(path, 100, false, Options{Threads: threads}); err != nil ||
			report.Files[0].Selected || r.Rows() != 3 || r.Column(0).Word(2) != 2 {
			t.Errorf("all rows: %v", err)
		}
		if r, _, err := load(path, 100, true, Options{Threads: threads}); err != nil ||
			!r.Column(0).Absent || r.Rows() != 3 || r.Column(1).Word(1) != 2 {
			t.Errorf("all rows without a key: %v", err)
		}
		mostSelected = 1
		again := writeKeyed(t, [4]int64{1, 1, 5, 6}, [4]int64{1, 1, 5, 6}, [4]int64{3, 1, 50, 6})
		r, report, err := load(again, 7, true, Options{Threads: threads})
		if err != nil || report.Files[0].Selected || r.Rows() != 2 || r.Column(0).Absent {
			t.Errorf("a repeated row: %v", err)
		}
		// The clash is in rows that fail the test.
		clash := writeKeyed(t, [4]int64{1, 1, 5, 6}, [4]int64{3, 1, 50, 6}, [4]int64{3, 1, 50, 7})
		var key *KeyError
		if _, _, err := load(clash, 7, true, Options{Threads: threads}); !errors.As(err, &key) {
			t.Errorf("two values: %v", err)
		}
	}
}

// TestKeysWithoutValues selects rows of a file in which a key is missing: the
// load refuses the row, or skips it, as it does when it reads all rows.
func TestKeysWithoutValues(t *testing.T) {
	alwaysSelect(t)
	s := storetest.Predicate(t, "p[v:int]=id:int")
	for _, policy := range []Policy{Stop, Skip} {
		opts := Options{OnError: policy}
		b, err := Bind(context.Background(), []store.Schema{s}, "", []Fact{{Pred: "p", Path: "f",
			Format: Parquet, Reader: bytes.NewReader(withoutValue(t)[Parquet]),
			Columns: []string{"v", "id"}}}, opts)
		if err != nil {
			t.Fatal(err)
		}
		b.Ask(func(_ string, arg int) *Test {
			if arg == 0 {
				return nil
			}
			return &Test{Range: true, Least: 3, Most: 3}
		})
		db, report, err := Load(context.Background(), b, opts)
		if policy == Stop {
			var wrong *LoadError
			if !errors.As(err, &wrong) || wrong.Row != 2 {
				t.Errorf("a key without a value: %v", err)
			}
			continue
		}
		if err != nil || report.Files[0].Skipped != 1 || db.Relation("p").Rows() != 2 {
			t.Errorf("skipping: %v", err)
		}
	}
}
