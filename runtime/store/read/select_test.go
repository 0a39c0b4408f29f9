package read

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/parquet"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

// alwaysSelect makes selecting pay whatever it leaves out.
func alwaysSelect(t *testing.T) {
	before := mostSelected
	mostSelected = 1
	t.Cleanup(func() { mostSelected = before })
}

// selectedRows loads predicates of a file twice: the first load proves their
// keys. The second one selects rows by the tests of predicates' last arguments.
func selectedRows(t *testing.T, path string, schemas []store.Schema, opts Options,
	tests map[string]*Test) (*store.Database, *Report, error) {
	t.Helper()
	load := func(asks func(pred string, arg int) *Test) (*store.Database, *Report, error) {
		b, err := Bind(context.Background(), schemas, "", []Fact{{Pred: "t", Path: path}}, opts)
		if err != nil {
			return nil, nil, err
		}
		b.Ask(asks)
		return Load(context.Background(), b, opts)
	}
	none := func(string, int) *Test { return nil }
	if db, report, err := load(none); err != nil {
		return db, report, err
	}
	return load(func(pred string, arg int) *Test {
		if arg == 0 {
			return nil
		}
		return tests[pred]
	})
}

// TestSelectFilesOfOtherWriters selects by each column of files with all
// encodings, and compares with loading all rows.
func TestSelectFilesOfOtherWriters(t *testing.T) {
	alwaysSelect(t)
	var schemas []store.Schema
	for _, c := range strings.Split(parquetColumns, "; ")[1:] {
		name, typ, _ := strings.Cut(c, ":")
		schemas = append(schemas, storetest.Predicate(t, "t:"+name+"[id:int]="+name+":"+typ))
	}
	files, err := filepath.Glob("testdata/parquet/*.parquet")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	rng := rand.New(rand.NewPCG(3, 8))
	selected := 0
	for _, path := range files {
		whole, _, err := selectedRows(t, path, schemas, memoryProofs(map[string][]byte{}), nil)
		if err != nil {
			t.Fatal(err)
		}
		for at, s := range schemas {
			salt, alone := rng.IntN(1000), rng.IntN(2) == 0
			holds := func(v scalar.Value) bool {
				sum := salt
				for _, c := range []byte(scalar.Format(v)) {
					sum = 31*sum + int(c)
				}
				return sum%3 > 0
			}
			var opts Options // proves the keys each time
			if at%3 > 0 {
				opts = memoryProofs(map[string][]byte{})
			}
			opts.Threads = 1 + at%2
			db, report, err := selectedRows(t, path, schemas, opts,
				map[string]*Test{s.Name: {Holds: holds, Alone: alone}})
			if err != nil {
				t.Fatalf("%s by %s: %v", path, s.Name, err)
			}
			if report.Files[0].Selected {
				selected++
			}
			compareSelected(t, path+" by "+s.Name, whole, db, s.Name, holds,
				alone && report.Files[0].Selected)
		}
	}
	if selected < len(files)*len(schemas)/2 {
		t.Errorf("rows were selected %d times only", selected)
	}
}

// compareSelected compares what was loaded with the rows of all that pass. The
// values of a predicate that is alone only have to pass.
func compareSelected(t *testing.T, what string, whole, got *store.Database, by string,
	holds func(scalar.Value) bool, alone bool) {
	t.Helper()
	passing := map[int64]bool{}
	tested := whole.Relation(by)
	for row := range tested.Rows() {
		if holds(tested.Column(1).Value(row)) {
			passing[tested.Column(0).Word(row)] = true
		}
	}
	for _, r := range whole.Relations() {
		have := map[int64]string{}
		other := got.Relation(r.Name)
		for row := range other.Rows() {
			v := other.Column(1).Value(row)
			have[other.Column(0).Word(row)] = scalar.Format(v)
			if r.Name == by && alone && !holds(v) {
				t.Errorf("%s: %v does not pass", what, v)
			}
		}
		rows := 0
		for row := range r.Rows() {
			id, want := r.Column(0).Word(row), scalar.Format(r.Column(1).Value(row))
			if len(have) < r.Rows() && !passing[id] {
				continue
			}
			rows++
			if have[id] != want && !(alone && r.Name == by) {
				t.Fatalf("%s: %s of row %d is %q, want %q", what, r.Name, id, have[id], want)
			}
		}
		if rows != len(have) {
			t.Fatalf("%s: %s has %d rows, want %d", what, r.Name, len(have), rows)
		}
	}
}

// TestSelectManyRows selects rows of several row groups and pages by ranges and
// texts, few and many, of columns with few and with many values.
func TestSelectManyRows(t *testing.T) {
	alwaysSelect(t)
	rng := rand.New(rand.NewPCG(6, 2))
	rows := 150_000
	words := [3][]int64{make([]int64, rows), make([]int64, rows), make([]int64, rows)}
	var texts []string
	for i := range rows {
		words[0][i], words[1][i] = int64(i), int64(rng.IntN(50))
		words[2][i] = rng.Int64N(1 << 40)
		texts = append(texts, fmt.Sprint("text ", rng.IntN(100_000)))
	}
	out := &write.Output{Name: "t", Names: []string{"id", "few", "many", "text"}, Rows: rows,
		Limit: -1, InOrder: true}
	for _, w := range words {
		out.Columns = append(out.Columns, store.ColumnOf(scalar.IntType, w, nil))
	}
	out.Columns = append(out.Columns, store.StringColumn(texts))
	var b bytes.Buffer
	if err := write.Rows(&b, out, write.Parquet, write.Options{}); err != nil {
		t.Fatal(err)
	}
	path := WriteFile(t, t.TempDir(), "t.parquet", b.String())
	schemas := []store.Schema{storetest.Predicate(t, "t:few[id:int]=few:int"),
		storetest.Predicate(t, "t:many[id:int]=many:int"),
		storetest.Predicate(t, "t:text[id:int]=text:string")}
	for _, most := range []int64{-1, 0, 10, 60} {
		for _, alone := range []bool{false, true} {
			tests := map[string]*Test{
				"t:few":  {Range: true, Least: 0, Most: most, Alone: alone},
				"t:many": {Range: true, Least: 0, Most: 1 << 39},
				"t:text": {Text: func(s string) bool { return !strings.HasSuffix(s, "7") },
					Alone: alone},
			}
			db, report, err := selectedRows(t, path, schemas, memoryProofs(map[string][]byte{}),
				tests)
			if err != nil {
				t.Fatal(err)
			}
			var want []int64
			for i := range rows {
				if words[1][i] <= most && words[2][i] <= 1<<39 && !strings.HasSuffix(texts[i], "7") {
					want = append(want, int64(i))
				}
			}
			r := db.Relation("t:many")
			if f := report.Files[0]; !f.Selected || f.Kept != int64(len(want)) ||
				r.Rows() != len(want) || f.Rows != int64(rows) {
				t.Fatalf("up to %d: %d rows, want %d; %+v", most, r.Rows(), len(want), f)
			}
			few, text := db.Relation("t:few").Column(1), db.Relation("t:text").Column(1)
			for row, id := range want {
				if r.Column(0).Word(row) != id || r.Column(1).Word(row) != words[2][id] {
					t.Fatalf("up to %d: row %d is another", most, row)
				}
				if !alone && (few.Word(row) != words[1][id] || text.Value(row).Str() != texts[id]) {
					t.Fatalf("up to %d: row %d has other values", most, row)
				}
			}
			if alone && (few.Width > 0 || text.Width > 0) {
				t.Errorf("up to %d: columns that are alone take memory", most)
			}
		}
	}
}

// TestSelectByStatistics has a file of which the row groups that statistics
// exclude are damaged: they are not read.
func TestSelectByStatistics(t *testing.T) {
	rows := 1_500_000
	ids, days := make([]int64, rows), make([]int64, rows)
	for i := range rows {
		ids[i], days[i] = int64(i), int64(i/1000)
	}
	out := &write.Output{Name: "t", Names: []string{"id", "day"}, Rows: rows, Limit: -1,
		InOrder: true, Columns: []*store.Column{store.ColumnOf(scalar.IntType, ids, nil),
			store.ColumnOf(scalar.IntType, days, nil)}}
	var b bytes.Buffer
	if err := write.Rows(&b, out, write.Parquet, write.Options{}); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	dir := t.TempDir()
	path := WriteFile(t, dir, "t.parquet", string(data))
	kept := map[string][]byte{}
	schemas := []store.Schema{storetest.Predicate(t, "t:day[id:int]=day:int")}
	tests := map[string]*Test{"t:day": {Range: true, Least: 1, Most: 2}}
	db, report, err := selectedRows(t, path, schemas, memoryProofs(kept), tests)
	if err != nil || db.Relation("t:day").Rows() != 2000 {
		t.Fatalf("%v, %+v", err, report.Files[0])
	}
	// Two thousand rows are a page of each column, or two.
	f := report.Files[0]
	if f.Bytes > int64(len(data))*3/4 || f.Size != int64(len(data)) || f.Groups != 2 ||
		f.GroupsLeft != 1 || f.PagesLeft == 0 || f.Pages-f.PagesLeft > 4 {
		t.Errorf("%d bytes of %d were read: %+v", f.Bytes, len(data), f)
	}
	footer, err := parquet.ReadFooter(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(footer.Groups) != 2 {
		t.Fatal(err, len(footer.Groups))
	}
	for _, c := range footer.Groups[1].Chunks {
		clear(data[c.Meta.Data:][:100])
	}
	opts := memoryProofs(kept)
	opts.Proofs.Get = func(string) ([]byte, bool) {
		return encodeProof([]store.ColumnStats{{Min: 0, Max: int64(rows), Distinct: 1}}), true
	}
	b2, err := Bind(context.Background(), schemas, "", []Fact{{Pred: "t", Path: WriteFile(t, dir, "u.parquet",
		string(data))}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	b2.Ask(func(_ string, arg int) *Test { return []*Test{nil, tests["t:day"]}[arg] })
	if db, _, err = Load(context.Background(), b2, opts); err != nil ||
		db.Relation("t:day").Rows() != 2000 {
		t.Errorf("a damaged row group that is left out: %v", err)
	}
}

// TestSelectOfDamagedFiles changes bytes of files anywhere: rows are selected,
// or the file is refused.
func TestSelectOfDamagedFiles(t *testing.T) {
	alwaysSelect(t)
	schemas := []store.Schema{storetest.Predicate(t, "t:i32[id:int]=i32:int[32]"),
		storetest.Predicate(t, "t:s[id:int]=s:string"),
		storetest.Predicate(t, "t:d18[id:int]=d18:decimal[18,4]")}
	files, err := filepath.Glob("testdata/parquet/*.parquet")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 11))
	dir := t.TempDir()
	tests := map[string]*Test{"t:i32": {Range: true, Least: -1 << 40, Most: 1 << 40, Alone: true},
		"t:s": {Text: func(s string) bool { return len(s)%2 == 0 }}}
	selected := 0
	for _, name := range files {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for range short.Count(t, 100, "damaged files") {
			data := slices.Clone(whole)
			for range 1 + rng.IntN(3) {
				data[rng.IntN(len(data))] = byte(rng.Uint32())
			}
			opts := memoryProofs(map[string][]byte{})
			// The keys of the file are taken for proven: the damage came later.
			opts.Proofs.Get = func(string) ([]byte, bool) {
				return encodeProof([]store.ColumnStats{{Min: 0, Max: 1 << 40, Distinct: 1}}), true
			}
			path := WriteFile(t, dir, "t.parquet", string(data))
			_, report, err := selectedRows(t, path, schemas, opts, tests)
			if err == nil && report.Files[0].Selected {
				selected++
			}
		}
	}
	if selected == 0 {
		t.Error("no rows were selected")
	}
}
