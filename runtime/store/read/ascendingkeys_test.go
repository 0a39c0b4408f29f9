package read

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
)

// randomKeys returns keys of two fields in order, some of which repeat or come
// too early.
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
	if len(keys) > 1 && r.IntN(3) == 0 {
		i, j := r.IntN(len(keys)), r.IntN(len(keys))
		keys[i], keys[j] = keys[j], keys[i]
	}
	return keys
}

// TestAscendingKeys divides keys into row groups. They are proven if each is
// larger than the one before it, and their statistics are those of columns.
func TestAscendingKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	count := map[bool]int{}
	for range 2000 {
		keys := randomKeys(r)
		want := true
		for i := range keys[min(1, len(keys)):] {
			want = want && slices.Compare(keys[i][:], keys[i+1][:]) < 0
		}
		seen := [][][]bool{{nil, make([]bool, 1<<16)}, {nil, make([]bool, 1<<16)}}
		var runs []*keyRun
		isAscending := true
		for rest := keys; len(rest) > 0; {
			n := r.IntN(len(rest) + 1)
			words := [][]int64{nil, nil}
			for _, k := range rest[:n] {
				words[0], words[1] = append(words[0], k[0]), append(words[1], k[1])
			}
			runs, rest = append(runs, &keyRun{rows: n}), rest[n:]
			isAscending = isAscending && runs[len(runs)-1].scan(words, seen[len(runs)%2])
		}
		var stats []store.ColumnStats
		if isAscending {
			stats = joinRuns(runs, seen, 2)
		}
		if count[want]++; (stats != nil) != want {
			t.Fatalf("%v: ascending %v", keys, stats != nil)
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
		t.Errorf("keys ascend or not: %v", count)
	}
}

// TestProveKeysInAnyOrder selects rows of files whose keys ascend, do not, or
// repeat. The rows are those that a load of all rows has.
func TestProveKeysInAnyOrder(t *testing.T) {
	alwaysSelect(t)
	r := rand.New(rand.NewPCG(3, 4))
	v := storetest.Predicate(t, "t:v[k:int; l:int]=v:int")
	for range 60 {
		var rows [][4]int64
		for _, k := range randomKeys(r) {
			rows = append(rows, [4]int64{k[0], k[1], 7 * (k[0] + k[1]) % 5, k[0]})
		}
		if len(rows) == 0 {
			continue
		}
		path := writeKeyed(t, rows...)
		words := func(test *Test) (out [][3]int64) {
			opts := memoryProofs(map[string][]byte{})
			opts.Threads = 2
			b, err := Bind(t.Context(), []store.Schema{v}, "", []Fact{{Pred: "t", Path: path}}, opts)
			if err != nil {
				t.Fatal(err)
			}
			b.Ask(func(_ string, arg int) *Test {
				if arg == 2 {
					return test
				}
				return nil
			})
			db, _, err := Load(t.Context(), b, opts)
			if err != nil {
				t.Fatal(err)
			}
			rel := db.Relation("t:v")
			for i := range rel.Rows() {
				if w := rel.Column(2).Word(i); w >= 0 && w <= 2 {
					out = append(out, [3]int64{rel.Column(0).Word(i), rel.Column(1).Word(i), w})
				}
			}
			slices.SortFunc(out, func(a, b [3]int64) int {
				return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
			})
			return out
		}
		want, got := words(nil), words(&Test{Range: true, Least: 0, Most: 2})
		if !slices.Equal(got, want) {
			t.Fatalf("%v: got %v, want %v", rows, got, want)
		}
	}
}

// TestAscendKinds holds the scans of one field and of two against that of any
// number.
func TestAscendKinds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		keys := randomKeys(r)
		words := [][]int64{nil, nil}
		for _, k := range keys {
			words[0], words[1] = append(words[0], k[0]), append(words[1], k[1])
		}
		if len(keys) == 0 {
			continue
		}
		for n := 1; n <= 2; n++ {
			wantLeads, want := ascendAll(words[:n], len(keys))
			leads, ok := ascendOne(words[0])
			if n == 2 {
				leads, ok = ascendTwo(words[0], words[1])
			}
			if ok != want || ok && leads != wantLeads {
				t.Fatalf("%v, %d fields: %d, %v; want %d, %v", keys, n, leads, ok, wantLeads, want)
			}
		}
	}
}
