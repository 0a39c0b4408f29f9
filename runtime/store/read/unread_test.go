package read

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

// memoryProofs keeps proofs in memory and takes any file for the same.
func memoryProofs(kept map[string][]byte) Options {
	return Options{Proofs: Proofs{
		Identity: func(fs.FileInfo) string { return "the file" },
		Get:      func(key string) ([]byte, bool) { p, ok := kept[key]; return p, ok },
		Put:      func(key string, proof []byte) { kept[key] = proof },
	}}
}

// writeKeyed writes a Parquet file of ints k, l, v and w.
func writeKeyed(t *testing.T, rows ...[4]int64) string {
	t.Helper()
	out := &write.Output{Name: "t", Names: []string{"k", "l", "v", "w"}, Rows: len(rows),
		Limit: -1, InOrder: true}
	for i := range 4 {
		words := make([]int64, len(rows))
		for r := range rows {
			words[r] = rows[r][i]
		}
		out.Columns = append(out.Columns, store.ColumnOf(scalar.IntType, words, nil))
	}
	var b bytes.Buffer
	if err := write.Rows(&b, out, write.Parquet, write.Options{}); err != nil {
		t.Fatal(err)
	}
	return WriteFile(t, t.TempDir(), "t.parquet", b.String())
}

// loadKeyed loads t:v and t:w of a file, of which nothing looks at the
// arguments in unread.
func loadKeyed(t *testing.T, path string, unread []int, opts Options) (
	*store.Database, *Report, error) {
	t.Helper()
	schemas := []store.Schema{storetest.Predicate(t, "t:v[k:int; l:int]=v:int"),
		storetest.Predicate(t, "t:w[k:int; l:int]=w:int")}
	b, err := Bind(context.Background(), schemas, "", []Fact{{Pred: "t", Path: path}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	b.Leave(func(_ string, arg int) bool { return slices.Contains(unread, arg) })
	return Load(context.Background(), b, opts)
}

// TestLeaveKeys leaves keys out once they are proven, and only those that
// nothing looks at.
func TestLeaveKeys(t *testing.T) {
	path := writeKeyed(t, [4]int64{1, 1, 5, 6}, [4]int64{1, 2, 7, 8}, [4]int64{2, 1, 9, 5})
	opts := memoryProofs(map[string][]byte{})
	for run, unread := range [][]int{{0, 1}, {0, 1}, {1}, {2}, nil} {
		db, report, err := loadKeyed(t, path, unread, opts)
		if err != nil {
			t.Fatal(err)
		}
		r := db.Relation("t:w")
		for arg := range r.Cols {
			want := run > 0 && arg < 2 && slices.Contains(unread, arg)
			if c := r.Column(arg); c.Absent != want || c.Len() != 3 {
				t.Errorf("run %d: argument %d, absent %v, %d rows", run, arg, c.Absent, c.Len())
			}
		}
		if left := report.Files[0].Left; run > 0 && len(unread) == 2 &&
			!slices.Equal(left, []string{"k", "l"}) || run == 0 && left != nil {
			t.Errorf("run %d: without %v", run, left)
		}
		if c := r.Column(2); c.Word(0) != 6 || c.Word(1) != 8 || c.Word(2) != 5 {
			t.Errorf("run %d: other values", run)
		}
		if r.Table != db.Relation("t:v").Table {
			t.Errorf("run %d: two tables", run)
		}
	}
}

// TestRepeatedKeysAreNotProven has a file in which a row repeats, and one with
// two values for a key: they are read whole each time.
func TestRepeatedKeysAreNotProven(t *testing.T) {
	kept := map[string][]byte{}
	opts := memoryProofs(kept)
	again := writeKeyed(t, [4]int64{1, 1, 5, 6}, [4]int64{1, 1, 5, 6})
	clash := writeKeyed(t, [4]int64{1, 1, 5, 6}, [4]int64{1, 1, 5, 7})
	for range 2 {
		db, _, err := loadKeyed(t, again, []int{0, 1}, opts)
		if err != nil || db.Relation("t:w").Rows() != 1 || db.Relation("t:w").Column(0).Absent {
			t.Errorf("a repeated row: %v", err)
		}
		var key *KeyError
		if _, _, err := loadKeyed(t, clash, []int{0, 1}, opts); !errors.As(err, &key) {
			t.Errorf("two values: %v", err)
		}
	}
	for about := range kept {
		t.Errorf("there is a proof of %s", about)
	}
}

// TestProofsAreOfOneFile changes what a proof is about: the file, and the type
// of a column. A proof that is cut short is none.
func TestProofsAreOfOneFile(t *testing.T) {
	kept := map[string][]byte{}
	opts := memoryProofs(kept)
	rows := [][4]int64{{1, 1, 5, 6}, {1, 2, 7, 8}}
	one, other := writeKeyed(t, rows...), writeKeyed(t, append(rows, [4]int64{1, 2, 7, 8})...)
	absent := func(path string) bool {
		db, _, err := loadKeyed(t, path, []int{0, 1}, opts)
		if err != nil {
			t.Fatal(err)
		}
		return db.Relation("t:w").Column(0).Absent
	}
	if absent(one) || !absent(one) || absent(other) || absent(other) {
		t.Error("columns are left out of another file")
	}
	opts.Proofs.Identity = func(fs.FileInfo) string { return "the file, changed" }
	if absent(one) {
		t.Error("columns are left out of a file that changed")
	}
	for about, proof := range kept {
		if !strings.Contains(about, "as int") {
			t.Errorf("a proof that names no types: %s", about)
		}
		kept[about] = proof[1:]
	}
	if absent(one) {
		t.Error("a cut proof is taken")
	}
	opts.Proofs.Identity = func(fs.FileInfo) string { return "" }
	for range 2 {
		if absent(one) {
			t.Error("a proof of an unknown file")
		}
	}
}

// TestKeyOfFolder loads a key of which the folder of a Parquet file has a part:
// neither proofs nor tests are about columns that the file lacks.
func TestKeyOfFolder(t *testing.T) {
	file, err := os.ReadFile(writeKeyed(t, [4]int64{1, 1, 5, 6}, [4]int64{2, 2, 7, 8}))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "year=2024")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	WriteFile(t, dir, "t.parquet", string(file))
	schemas := []store.Schema{storetest.Predicate(t, "t:v[k:int; year:int]=v:int"),
		storetest.Predicate(t, "t:year[k:int]=year:int")}
	opts := memoryProofs(map[string][]byte{})
	opts.SelectAlways = true
	for run := range 2 {
		b, err := Bind(context.Background(), schemas, "",
			[]Fact{{Pred: "t", Path: filepath.Dir(dir)}}, opts)
		if err != nil {
			t.Fatal(err)
		}
		b.Leave(func(_ string, arg int) bool { return arg == 0 })
		b.Ask(func(pred string, arg int) *Test {
			if arg == 0 {
				return nil
			}
			return &Test{Range: true, Least: 6, Most: 3000, Holds: func(v scalar.Value) bool {
				return v.Int() >= 6
			}}
		})
		db, _, err := Load(context.Background(), b, opts)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(storetest.Tuples(db.Relation("t:v")), storetest.Tuples(db.Relation("t:year")))
		if want := "[1 2024 5 2 2024 7] [1 2024 2 2024]"; got != want {
			t.Errorf("run %d: %q, not %q", run, got, want)
		}
	}
}
