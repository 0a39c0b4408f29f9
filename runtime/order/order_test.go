package order

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
)

var ctx = context.Background()

// dictionary is strings whose first sorted ones are in order.
type dictionary struct {
	list   []string
	sorted int
}

func (d *dictionary) Len() int                { return len(d.list) }
func (d *dictionary) Sorted() int             { return d.sorted }
func (d *dictionary) String(c uint32) string  { return d.list[c] }
func (d *dictionary) Compare(a, b uint32) int { return cmp.Compare(d.list[a], d.list[b]) }

func (d *dictionary) Ranks() []uint32 {
	sorted := slices.Sorted(slices.Values(d.list))
	out := make([]uint32, len(d.list))
	for i, s := range d.list {
		at, _ := slices.BinarySearch(sorted, s)
		out[i] = uint32(at)
	}
	return out
}

// newDictionary returns n strings, of which the first sorted ones ascend.
func newDictionary(rng *rand.Rand, n, sorted int) *dictionary {
	d := &dictionary{sorted: sorted}
	for _, i := range rng.Perm(n) {
		d.list = append(d.list, fmt.Sprintf("%sé%d", strings.Repeat("a", i%3), i))
	}
	slices.Sort(d.list[:sorted])
	return d
}

// column returns a random column. Few says that it has few different values.
func column(rng *rand.Rand, n int, few bool) Column {
	types := []scalar.Type{scalar.IntType, scalar.UintOf(64), scalar.IntOf(8), scalar.FloatType,
		{Kind: scalar.Float, Bits: 32},
		scalar.DecimalOf(2), scalar.DatetimeType, scalar.BooleanType, scalar.StringType}
	c := Column{Type: types[rng.IntN(len(types))]}
	words := make(Slice, n)
	c.Words = words
	if c.Type.Kind == scalar.String {
		size := 1 + rng.IntN(20)
		if !few {
			size = 1 + rng.IntN(10*n+1)
		}
		c.Dict = newDictionary(rng, size, rng.IntN(size+1))
		for i := range words {
			words[i] = int64(rng.IntN(size))
		}
		return c
	}
	corners := []int64{0, 1, -1, math.MaxInt64, math.MinInt64}
	floats := []float64{0, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1),
		math.SmallestNonzeroFloat64,
		-math.MaxFloat64}
	for i := range words {
		switch k := c.Type.Kind; {
		case k == scalar.Boolean:
			words[i] = int64(rng.IntN(2))
		case k == scalar.Float && (few || rng.IntN(10) == 0):
			words[i] = int64(scalar.OfFloat(c.Type, floats[rng.IntN(len(floats))]).Bits())
		case k == scalar.Float:
			words[i] = int64(scalar.OfFloat(c.Type, rng.NormFloat64()).Bits())
		case few && rng.IntN(2) == 0:
			words[i] = int64(scalar.OfInt(c.Type, int64(rng.IntN(5))).Bits())
		case few:
			words[i] = int64(scalar.OfInt(c.Type, corners[rng.IntN(len(corners))]).Bits())
		default:
			words[i] = int64(scalar.OfInt(c.Type, int64(rng.Uint64())>>rng.IntN(64)).Bits())
		}
	}
	return c
}

func randomRows(rng *rand.Rand, n int) *Rows {
	x := &Rows{Name: "test", N: n}
	for range 1 + rng.IntN(4) {
		x.Cols = append(x.Cols, column(rng, n, rng.IntN(3) > 0))
	}
	return x
}

// compareBy returns the order that is asked for, over values.
func compareBy(x *Rows, keys []Key) func(a, b uint32) int {
	values := make([][]scalar.Value, x.N)
	for i := range values {
		values[i] = x.Tuple(uint32(i))
	}
	keys = slices.Clone(keys)
	for c := range x.Cols {
		keys = append(keys, Key{Col: c})
	}
	return func(a, b uint32) int {
		for _, k := range keys {
			d := scalar.Compare(values[a][k.Col], values[b][k.Col])
			if k.Desc {
				d = -d
			}
			if d != 0 {
				return d
			}
		}
		return 0
	}
}

func stable(x *Rows, keys []Key) []uint32 {
	out := make([]uint32, x.N)
	for i := range out {
		out[i] = uint32(i)
	}
	slices.SortStableFunc(out, compareBy(x, keys))
	return out
}

func randomKeys(rng *rand.Rand, x *Rows) []Key {
	var keys []Key
	for range rng.IntN(3) {
		keys = append(keys, Key{Col: rng.IntN(len(x.Cols)), Desc: rng.IntN(2) == 0})
	}
	return keys
}

func randomColumns(rng *rand.Rand, x *Rows) []int {
	return rng.Perm(len(x.Cols))[:rng.IntN(len(x.Cols)+1)]
}

// sizes are numbers of rows around the thresholds of the algorithms.
func sizes(t *testing.T) []int {
	out := []int{0, 1, 2, 5, 60, smallSort, blockRows + 1, 5000}
	if !testing.Short() {
		out = append(out, candidates+77, parallelSort+5, 2*parallelSort)
	}
	return out
}

// TestSort compares with a stable sort of the values, for every type, several
// columns, both directions and all sizes.
func TestSort(t *testing.T) {
	for seed, n := range sizes(t) {
		for round := range 1 + 6000/(n+20) {
			rng := rand.New(rand.NewPCG(uint64(seed), uint64(round)))
			x := randomRows(rng, n)
			keys := randomKeys(rng, x)
			mem := &counter{}
			s := Sorter{Threads: 1 + rng.IntN(3), Memory: mem}
			sel, err := s.Sort(ctx, x, keys)
			if err != nil {
				t.Fatal(err)
			}
			if want := stable(x, keys); !slices.Equal(sel.Rows, want) {
				t.Fatalf("%d rows, round %d: %s by %v are not in order", n, round, typesOf(x), keys)
			}
			sel.Free()
			mem.check(t)
		}
	}
}

// TestSortLongRuns has runs that agree on the first level and that several
// threads share.
func TestSortLongRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	n := 2*parallelSort + 100
	someThreads := short.Part(t, []int{3, 1}, "numbers of threads")
	for _, distinct := range []int{1, 2, 7, 3000, 0} {
		x := &Rows{N: n}
		for range 2 {
			words := make(Slice, n)
			for i := range words {
				d := i / (parallelSort / 2) // runs that end where shares do
				if distinct > 0 {
					d = rng.IntN(distinct)
				}
				words[i] = math.MinInt64 + int64(d)*(math.MaxInt64/5000)
			}
			words[n-1] = math.MaxInt64
			x.Cols = append(x.Cols, Column{Type: scalar.IntType, Words: words})
		}
		last := make(Slice, n)
		for i := range last {
			last[i] = int64(rng.Uint64())
		}
		x.Cols = append(x.Cols, Column{Type: scalar.IntType, Words: last})
		for _, threads := range someThreads {
			s := Sorter{Threads: threads}
			sel, err := s.Sort(ctx, x, nil)
			if err != nil {
				t.Fatal(err)
			}
			if compare := compareBy(x, nil); !slices.IsSortedFunc(sel.Rows, compare) {
				t.Errorf("%d different words, %d threads: not in order", distinct, threads)
			}
			slices.Sort(sel.Rows)
			if sel.Rows[0] != 0 || sel.Rows[n-1] != uint32(n-1) ||
				len(slices.Compact(sel.Rows)) != n {
				t.Errorf("%d different words, %d threads: not all rows", distinct, threads)
			}
		}
	}
}

func typesOf(x *Rows) []string {
	var out []string
	for _, c := range x.Cols {
		out = append(out, c.Type.String())
	}
	return out
}

// TestTopK compares with what a full sort gives.
func TestTopK(t *testing.T) {
	for seed, n := range sizes(t) {
		for round := range 2 + 6000/(n+20) {
			rng := rand.New(rand.NewPCG(uint64(seed), uint64(round)))
			x := randomRows(rng, n)
			keys, limit := randomKeys(rng, x), int64(rng.IntN(1+min(n, 40)))
			if round%8 == 0 {
				limit = int64(n)
			}
			var group []int
			if round%2 == 0 {
				group = randomColumns(rng, x)
			}
			mem := &counter{}
			s := Sorter{Threads: 1 + rng.IntN(3), Memory: mem}
			sel, err := s.TopK(ctx, x, group, keys, limit)
			if err != nil {
				t.Fatal(err)
			}
			var want []uint32
			for _, rows := range grouped(x, group, keys) {
				want = append(want, rows[:min(int(limit), len(rows))]...)
			}
			if !slices.Equal(sel.Rows, want) {
				t.Fatalf("%d rows, round %d: first %d of %s by %v within %v: got %d, want %d rows or others",
					n, round, limit, typesOf(x), keys, group, len(sel.Rows), len(want))
			}
			sel.Free()
			mem.check(t)
		}
	}
}

// TestFirst takes few of many rows, in threads, with ties at the cut on every
// level of the packed words.
func TestFirst(t *testing.T) {
	const n = 4*candidates + 123
	for round := range 6 {
		rng := rand.New(rand.NewPCG(uint64(round), 3))
		x := &Rows{N: n}
		for range 3 {
			words := make(Slice, n)
			distinct := int64(1 + rng.IntN(1<<rng.IntN(8)))
			for i := range words {
				words[i] = math.MinInt64 + rng.Int64N(distinct)*(math.MaxInt64/distinct)*2
			}
			if round%3 == 0 {
				// The first rows come last, so that every block has some to
				// keep.
				slices.Sort(words)
				slices.Reverse(words)
			}
			x.Cols = append(x.Cols, Column{Type: scalar.IntType, Words: words})
		}
		keys := []Key{{Col: 1, Desc: round%2 == 0}}
		want := stable(x, keys)
		for _, limit := range []int{1, 2, 100, candidates / 4, candidates/4 + 1, n/8 - 1, n / 8,
			n/8 +
				1} {
			for threads := 1; threads <= 3; threads++ {
				mem := &counter{}
				s := Sorter{Threads: threads, Memory: mem}
				sel, err := s.TopK(ctx, x, nil, keys, int64(limit))
				if err != nil || !slices.Equal(sel.Rows, want[:limit]) {
					t.Fatalf("round %d: the first %d with %d threads differ, %v", round, limit,
						threads, err)
				}
				sel.Free()
				mem.check(t)
			}
		}
	}
}

// grouped returns the rows of each group in order.
func grouped(x *Rows, group []int, keys []Key) [][]uint32 {
	var out [][]uint32
	var last []scalar.Value
	for i, row := range stable(x, groupKeys(group, keys)) {
		var key []scalar.Value
		for _, c := range group {
			key = append(key, x.Cols[c].Value(row))
		}
		if i == 0 || !slices.Equal(key, last) {
			out = append(out, nil)
		}
		last = key
		out[len(out)-1] = append(out[len(out)-1], row)
	}
	return out
}

func TestNumber(t *testing.T) {
	for seed, n := range sizes(t) {
		for round := range 1 + 4000/(n+20) {
			rng := rand.New(rand.NewPCG(uint64(seed), uint64(round)))
			x := randomRows(rng, n)
			group, by := randomColumns(rng, x), groupKeys(randomColumns(rng, x), nil)
			for i := range by {
				by[i].Desc = rng.IntN(2) == 0
			}
			want := make([]int64, n)
			for _, rows := range grouped(x, group, by) {
				for i, row := range rows {
					want[row] = int64(i)
				}
			}
			got := make([]int64, n)
			s := Sorter{Threads: 1 + rng.IntN(3)}
			if err := s.Number(ctx, x, group, by, got); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%d rows, round %d: %s by %v within %v are numbered otherwise", n, round,
					typesOf(x),
					by, group)
			}
		}
	}
}

// TestKeys compares both ways to look at keys with the definition.
func TestKeys(t *testing.T) {
	found := 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 9))
		x := randomRows(rng, rng.IntN(4000)/(1+int(seed%100)))
		keys := rng.IntN(len(x.Cols) + 1)
		s := Sorter{Threads: 2}
		first, second, conflict, err := s.KeyConflict(ctx, x, keys)
		if err != nil {
			t.Fatal(err)
		}
		want := []uint32(nil)
		sorted := stable(x, nil)
		for i := 1; i < len(sorted) && want == nil; i++ {
			if slices.Equal(x.Tuple(sorted[i-1])[:keys], x.Tuple(sorted[i])[:keys]) {
				want = sorted[i-1 : i+1]
			}
		}
		if conflict != (want != nil) || conflict && !slices.Equal([]uint32{first, second}, want) {
			t.Fatalf("seed %d: got %d, %d, %v, want %v", seed, first, second, conflict, want)
		}
		mem := &counter{}
		set := NewKeySet(&Sorter{Memory: mem}, keys)
		all, differ := x.N, true
		for set.Rows() < all && differ {
			x.N = min(all, set.Rows()+rng.IntN(1500))
			if differ, err = set.Add(ctx, x); err != nil {
				t.Fatal(err)
			}
		}
		if differ == conflict {
			t.Fatalf("seed %d: %d rows of %s with %d keys: differ is %v", seed, all, typesOf(x),
				keys,
				differ)
		}
		set.Free()
		mem.check(t)
		found += len(want)
	}
	if found == 0 || found == 800 {
		t.Errorf("%d rows in conflict: the test tests nothing", found)
	}
}

// TestKeySetCollisions has as many rows as make the hashes of the table agree
// often in the bits that are left of them.
func TestKeySetCollisions(t *testing.T) {
	n := 1 << 20
	words := make(Slice, n)
	for i := range words {
		words[i] = int64(i) << 7
	}
	x := &Rows{N: n, Cols: []Column{{Type: scalar.IntType, Words: words}}}
	set := NewKeySet(&Sorter{}, 1)
	if differ, err := set.Add(ctx, x); !differ || err != nil {
		t.Errorf("got %v, %v", differ, err)
	}
	words[n-1] = words[4711]
	set = NewKeySet(&Sorter{}, 1)
	if differ, err := set.Add(ctx, x); differ || err != nil {
		t.Errorf("with a repeated key: got %v, %v", differ, err)
	}
}

// counter is an Allocator that knows what it lent, and how much it may.
type counter struct {
	held, bound int
	lent        map[*uint64]bool
}

var errFull = errors.New("full")

func (c *counter) Alloc(what string, n int) ([]uint64, error) {
	if c.bound > 0 && c.held+n > c.bound {
		return nil, fmt.Errorf("%s: %w", what, errFull)
	}
	c.held += n
	words := make([]uint64, n)
	if c.lent == nil {
		c.lent = map[*uint64]bool{}
	}
	c.lent[&words[0]] = true
	return words, nil
}

func (c *counter) Free(words []uint64) {
	if !c.lent[&words[0]] {
		panic("not lent")
	}
	delete(c.lent, &words[0])
	c.held -= len(words)
}

func (c *counter) check(t *testing.T) {
	t.Helper()
	if c.held != 0 || len(c.lent) != 0 {
		t.Fatalf("%d words are not given back", c.held)
	}
}

// TestMemory stops at every bound without a leak.
func TestMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x := &Rows{Name: "the rows", N: 100, Cols: []Column{column(rng, 100, false),
		column(rng, 100, true)}}
	calls := map[string]func(s *Sorter) error{
		"sort": func(s *Sorter) error { sel, err := s.Sort(ctx, x, nil); free(sel); return err },
		"topk": func(s *Sorter) error {
			sel, err := s.TopK(ctx, x, []int{1}, nil,
				3)
			free(sel)
			return err
		},
		"number": func(s *Sorter) error {
			return s.Number(ctx, x, []int{1}, nil, make([]int64, x.N))
		},
		"keys": func(s *Sorter) error { _, _, _, err := s.KeyConflict(ctx, x, 1); return err },
	}
	for name, call := range calls {
		failed := 0
		for bound := 50; ; bound += 10 {
			mem := &counter{bound: bound}
			err := call(&Sorter{Memory: mem})
			mem.check(t)
			if err == nil {
				break
			}
			if !errors.Is(err, errFull) || !strings.Contains(err.Error(), "the rows") {
				t.Fatalf("%s: %v", name, err)
			}
			failed++
		}
		if failed < 5 {
			t.Errorf("%s fitted into next to nothing", name)
		}
	}
}

func free(s *Selection) {
	if s != nil {
		s.Free()
	}
}

// stopping is a column that ends a context when its last row is read.
type stopping struct {
	Slice
	stop func()
}

func (s *stopping) Read(dst []int64, from int) {
	if from+len(dst) == len(s.Slice) {
		s.stop()
	}
	s.Slice.Read(dst, from)
}

func TestCancel(t *testing.T) {
	reason := errors.New("enough")
	for _, threads := range []int{1, 3} {
		n := 3 * parallelSort
		ctx, cancel := context.WithCancelCause(context.Background())
		x := &Rows{N: n, Cols: []Column{{Type: scalar.IntType,
			Words: &stopping{make(Slice, n), func() { cancel(reason) }}}}}
		mem := &counter{}
		s := Sorter{Threads: threads, Memory: mem}
		if sel, err := s.Sort(ctx, x, nil); err != reason || sel != nil {
			t.Errorf("%d threads, sort: %v", threads, err)
		}
		if sel, err := s.TopK(ctx, x, nil, nil, 5); err != reason || sel != nil {
			t.Errorf("%d threads, top k: %v", threads, err)
		}
		if _, err := NewKeySet(&s, 1).Add(ctx, x); err != reason {
			t.Errorf("%d threads, keys: %v", threads, err)
		}
		mem.check(t)
	}
}

func TestTooManyRows(t *testing.T) {
	x := &Rows{Name: "everything", N: 1 << 32}
	var many *RowsError
	if _, err := (&Sorter{}).Sort(ctx, x, nil); !errors.As(err, &many) ||
		many.Name != "everything" {
		t.Errorf("got %v", err)
	}
}

func TestSortWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 100, 1000, parallelSort, 3 * parallelSort} {
		for _, span := range [][2]int{{0, 0}, {0, 5}, {0, 64}, {7, 40}, {20, 28}, {31, 42}} {
			mask := ^uint64(0) >> (64 - span[1]) >> span[0] << span[0]
			words := make([]uint64, n)
			for i := range words {
				words[i] = rng.Uint64() & mask
				if span[0] > 0 {
					words[i] |= uint64(rng.IntN(1 << span[0]))
				}
			}
			want := slices.Clone(words)
			slices.Sort(want)
			s := Sorter{Threads: 3}
			if err := s.SortWords(ctx, "test", words, span[0], span[1]); err != nil {
				t.Fatal(err)
			}
			ordered := slices.IsSortedFunc(words,
				func(a, b uint64) int { return cmp.Compare(a&mask, b&mask) })
			slices.Sort(words)
			if !ordered || !slices.Equal(words, want) {
				t.Errorf("%d words by bits %v: not sorted, or others", n, span)
			}
		}
	}
}

// TestRadix sorts words of any number of bits, below others that are equal.
func TestRadix(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for n := range 65 {
		for _, rows := range []int{0, 1, smallSort - 1, smallSort, 5000} {
			keys := make([]uint64, rows)
			above := uint64(0)
			if n < 64 {
				above = rng.Uint64() >> n << n
			}
			for i := range keys {
				keys[i] = above
				if n > 0 {
					keys[i] |= rng.Uint64() >> (64 - n) >> (rng.IntN(n) * rng.IntN(2))
				}
			}
			want := slices.Sorted(slices.Values(keys))
			if err := Radix(context.Background(), keys, make([]uint64, rows), 0, n); err != nil ||
				!slices.Equal(keys, want) {
				t.Errorf("%d words of %d bits are not in order: %v", rows, n, err)
			}
		}
	}
}
