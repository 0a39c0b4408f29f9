package read

import (
	"bytes"
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
)

// randomKeys returns keys of two fields in order, or in that of the first one,
// some of which repeat or come too early.
func randomKeys(r *rand.Rand) [][2]int64 {
	keys := make([][2]int64, r.IntN(40))
	wide := []int64{3, 60, 1 << 20}[r.IntN(3)]
	for i := range keys {
		keys[i] = [2]int64{r.Int64N(1 + int64(len(keys))), r.Int64N(wide) - wide/2}
	}
	slices.SortFunc(keys, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
	if r.IntN(3) > 0 {
		keys = slices.Compact(keys)
	}
	if r.IntN(3) == 0 {
		r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		slices.SortStableFunc(keys, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	}
	if len(keys) > 1 && r.IntN(3) == 0 {
		i, j := r.IntN(len(keys)), r.IntN(len(keys))
		keys[i], keys[j] = keys[j], keys[i]
	}
	return keys
}

// TestSortedKeys divides keys into row groups. They are proven if their first
// fields are in order and no two agree, and their statistics are those of
// columns.
func TestSortedKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	count := map[bool]int{}
	for range 2000 {
		keys := randomKeys(r)
		want := true
		have := map[[2]int64]bool{}
		for i, k := range keys {
			want = want && !have[k] && (i == 0 || keys[i-1][0] <= k[0])
			have[k] = true
		}
		seen := [][][]bool{{nil, make([]bool, 1<<16)}, {nil, make([]bool, 1<<16)}}
		var runs []*keyRun
		differ := true
		for rest := keys; len(rest) > 0; {
			n := r.IntN(len(rest) + 1)
			words := [][]int64{nil, nil}
			for _, k := range rest[:n] {
				words[0], words[1] = append(words[0], k[0]), append(words[1], k[1])
			}
			runs, rest = append(runs, &keyRun{rows: n}), rest[n:]
			differ = differ && runs[len(runs)-1].scan(words, seen[len(runs)%2])
		}
		var stats []store.ColumnStats
		if differ {
			stats = joinRuns(runs, seen, 2)
		}
		if count[want]++; (stats != nil) != want {
			t.Fatalf("%v: proven %v", keys, stats != nil)
		}
		if len(keys) == 0 || !want {
			continue
		}
		for i, s := range stats {
			words := make([]int64, len(keys))
			for row, k := range keys {
				words[row] = k[i]
			}
			slices.Sort(words)
			least, most := words[0], words[len(words)-1]
			different := int64(len(slices.Compact(words)))
			if s.Min != least || s.Max != most || s.Distinct < different ||
				s.Distinct != different && most-least < 1<<16 {
				t.Fatalf("%v: field %d: %+v, want %d to %d, %d different", keys, i, s, least, most,
					different)
			}
		}
	}
	if min(count[true], count[false]) < 100 {
		t.Errorf("keys are proven or not: %v", count)
	}
}

// writeGroups writes columns k, l and v, each list of rows as a row group.
func writeGroups(t *testing.T, groups [][][3]int64) string {
	t.Helper()
	var nodes schema.FieldList
	for _, name := range []string{"k", "l", "v"} {
		nodes = append(nodes, schema.NewInt64Node(name, parquet.Repetitions.Required, -1))
	}
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1))
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root)
	for _, rows := range groups {
		group, err := w.AppendRowGroupChecked()
		if err != nil {
			t.Fatal(err)
		}
		for i := range nodes {
			var words []int64
			for _, row := range rows {
				words = append(words, row[i])
			}
			column, err := group.NextColumn()
			if err == nil {
				_, err = column.(*file.Int64ColumnChunkWriter).WriteBatch(words, nil, nil)
			}
			if err == nil {
				err = column.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := group.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return WriteFile(t, t.TempDir(), "t.parquet", out.String())
}

// TestProveKeysInAnyOrder selects rows of files of several row groups whose
// keys are in order, are not, or repeat. The rows, or the clash of two, are
// those that a load of all rows has.
func TestProveKeysInAnyOrder(t *testing.T) {
	alwaysSelect(t)
	r := rand.New(rand.NewPCG(3, 4))
	v := storetest.Predicate(t, "t:v[k:int; l:int]=v:int")
	clashes := 0
	for round := range 400 {
		keys := randomKeys(r)
		var groups [][][3]int64
		for rest := keys; len(rest) > 0; {
			var rows [][3]int64
			n := 1 + r.IntN(len(rest))
			for _, k := range rest[:n] {
				value := 7 * (k[0] + k[1]) % 5
				if round%2 == 0 {
					value = r.Int64N(5)
				}
				rows = append(rows, [3]int64{k[0], k[1], value})
			}
			groups, rest = append(groups, rows), rest[n:]
		}
		if len(groups) == 0 {
			continue
		}
		path := writeGroups(t, groups)
		words := func(test *Test) (out [][3]int64, clash bool) {
			opts := memoryProofs(map[string][]byte{})
			opts.Threads = 2
			b, err := Bind(t.Context(), []store.Schema{v}, "", []Fact{{Pred: "t", Path: path}}, opts)
			if err != nil {
				t.Fatal(err)
			}
			b.Leave(func(_ string, arg int) bool { return round%3 == 0 && arg == 1 })
			b.Ask(func(_ string, arg int) *Test {
				if arg == 2 || arg == 0 && test != nil && round%5 == 0 {
					return test
				}
				return nil
			})
			db, _, err := Load(t.Context(), b, opts)
			if key := new(KeyError); errors.As(err, &key) {
				return nil, true
			}
			if err != nil {
				t.Fatal(err)
			}
			rel := db.Relation("t:v")
			for i := range rel.Rows() {
				row := [3]int64{rel.Column(0).Word(i), 0, rel.Column(2).Word(i)}
				if !rel.Column(1).Absent && round%3 > 0 {
					row[1] = rel.Column(1).Word(i)
				}
				if (round%5 > 0 || row[0] >= 0 && row[0] <= 2) && row[2] >= 0 && row[2] <= 2 {
					out = append(out, row)
				}
			}
			slices.SortFunc(out, func(a, b [3]int64) int { return slices.Compare(a[:], b[:]) })
			return out, false
		}
		want, wantClash := words(nil)
		got, clash := words(&Test{Range: true, Least: 0, Most: 2})
		if !slices.Equal(got, want) || clash != wantClash {
			t.Fatalf("%v: got %v, clash %v, want %v, clash %v", groups, got, clash, want, wantClash)
		}
		if clash {
			clashes++
		}
	}
	if clashes < 10 {
		t.Errorf("%d clashes", clashes)
	}
}

// TestAscendKinds holds the scans of keys that ascend against that of keys that
// differ.
func TestAscendKinds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		keys := randomKeys(r)
		var lead, second []int64
		for _, k := range keys {
			lead, second = append(lead, k[0]), append(second, k[1])
		}
		if len(keys) == 0 {
			continue
		}
		for n := 1; n <= 2; n++ {
			want := true
			for i := range keys[1:] {
				want = want && slices.Compare(keys[i][:n], keys[i+1][:n]) < 0
			}
			wantLeads, differs := differ(lead, [][]int64{second}[:n-1])
			l, all := ascendAll(lead, [][]int64{second}[:n-1])
			if all != want || all && l != wantLeads {
				t.Fatalf("%v, all of %d: %d, %v; want %d, %v", keys, n, l, all, wantLeads, want)
			}
			leads, ok := ascendOne(lead)
			if n == 2 {
				leads, ok = ascendTwo(lead, second)
			}
			if ok != want || ok && (leads != wantLeads || !differs) {
				t.Fatalf("%v, %d fields: %d, %v; want %d, %v", keys, n, leads, ok, wantLeads, want)
			}
		}
	}
}

// TestLongRuns proves keys whose first fields are equal in many rows: if they
// ascend there, and of few rows if they differ.
func TestLongRuns(t *testing.T) {
	run := func(lead int64, seconds ...int64) *keyRun {
		words := [][]int64{nil, seconds}
		for range seconds {
			words[0] = append(words[0], lead)
		}
		k := &keyRun{rows: len(seconds)}
		if !k.scan(words, [][]bool{nil, make([]bool, 1<<16)}) {
			t.Fatalf("%d: rows of a group do not differ", lead)
		}
		return k
	}
	upwards := func(from, until int64) (out []int64) {
		for i := from; i < until; i++ {
			out = append(out, i)
		}
		return out
	}
	many := int64(2*mostAlike + 7)
	for _, c := range []struct {
		name string
		runs []*keyRun
		want bool
	}{
		{"ascending", []*keyRun{run(1, upwards(0, many)...), run(1, upwards(many, 2*many)...),
			run(1, 2*many), run(2, 0)}, true},
		{"ascending again", []*keyRun{run(1, upwards(0, many)...),
			run(1, upwards(many-1, 2*many)...)}, false},
		{"an early one after many", []*keyRun{run(1, upwards(0, many)...), run(1, many),
			run(1, 3)}, false},
		{"few in any order", []*keyRun{run(1, 5, 3), run(1, 4, 1), run(1, 2), run(2, 5, 3)}, true},
		{"few that repeat", []*keyRun{run(1, 5, 3), run(1, 4, 1), run(1, 3), run(2, 5, 3)}, false},
	} {
		seen := [][][]bool{{nil, make([]bool, 1<<16)}}
		if got := joinRuns(c.runs, seen, 2) != nil; got != c.want {
			t.Errorf("%s: proven %v, want %v", c.name, got, c.want)
		}
	}
}

// TestUnlike compares many rows, some of which agree, with a table of them.
func TestUnlike(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	count := map[bool]int{}
	for range 300 {
		n := r.IntN(60)
		columns := [][]int64{make([]int64, n), make([]int64, n)}
		want, have := true, map[[2]int64]bool{}
		for i := range n {
			k := [2]int64{r.Int64N(60), r.Int64N(60)}
			want = want && !have[k]
			have[k] = true
			columns[0][i], columns[1][i] = k[0], k[1]
		}
		if count[want]++; unlike(columns, 0, n) != want {
			t.Fatalf("%v: want %v", columns, want)
		}
	}
	if min(count[true], count[false]) < 20 {
		t.Errorf("rows are unlike or not: %v", count)
	}
}
