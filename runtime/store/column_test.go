package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/internal/randvalue"
	"github.com/redfoxdb/redfox/internal/scalar"
)

func TestColumnsHoldTheirValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for round := range 400 {
		typ := randvalue.Types[round%len(randvalue.Types)]
		col, values := randomColumn(rng, typ, rng.IntN(60))
		if round < len(randvalue.Types)*2 {
			col, values = randomColumn(rng, typ, 3*chunkRows/2+rng.IntN(100))
		}
		if col.Len() != len(values) {
			t.Fatalf("%s: %d entries, want %d", typ, col.Len(), len(values))
		}
		words := make([]int64, len(values))
		col.Read(words, 0)
		distinct := map[scalar.Value]bool{}
		ascending := true
		for i, v := range values {
			if got := col.Value(i); got != v {
				t.Fatalf("%s: entry %d is %v, want %v", typ, i, got, v)
			}
			if words[i] != col.Word(i) {
				t.Fatalf("%s: Read gives %d for entry %d, Word %d", typ, words[i], i, col.Word(i))
			}
			distinct[v] = true
			ascending = ascending && (i == 0 || scalar.Compare(values[i-1], v) <= 0)
		}
		if len(values) == 0 {
			continue
		}
		if col.Stats.Ascending != ascending {
			t.Errorf("%s: ascending %v, want %v", typ, col.Stats.Ascending, ascending)
		}
		if lo := slices.MinFunc(values, scalar.Compare); col.ValueOf(col.Stats.Min) != lo {
			t.Errorf("%s: minimum %v, want %v", typ, col.ValueOf(col.Stats.Min), lo)
		}
		if hi := slices.MaxFunc(values, scalar.Compare); col.ValueOf(col.Stats.Max) != hi {
			t.Errorf("%s: maximum %v, want %v", typ, col.ValueOf(col.Stats.Max), hi)
		}
		want := float64(len(distinct))
		if got := float64(col.Stats.Distinct); math.Abs(got-want) > 0.1*want {
			t.Errorf("%s: %v distinct, want %v", typ, got, want)
		}
		rows := make([]uint32, 20)
		for i := range rows {
			rows[i] = uint32(rng.IntN(len(values)))
		}
		for i, v := range []*Column{col.Select(rows)} {
			for j, r := range rows {
				if v.Value(j) != values[r] {
					t.Fatalf("%s: selection %d has %v, want %v", typ, i, v.Value(j), values[r])
				}
			}
		}
	}
}

func TestColumnWidths(t *testing.T) {
	day := int64(scalar.MicrosPerDay)
	for _, c := range []struct {
		typ        scalar.Type
		words      []int64
		width      uint8
		base, step int64
	}{
		{scalar.IntType, []int64{7, 7}, 0, 7, 1},
		{scalar.IntType, []int64{3, 200}, 1, 0, 1},
		{scalar.IntType, []int64{1000, 1200}, 1, 1000, 1},
		{scalar.IntType, []int64{-1, 254}, 1, -1, 1},
		{scalar.IntType, []int64{0, 65535}, 2, 0, 1},
		{scalar.IntType, []int64{0, 65536}, 4, 0, 1},
		{scalar.IntType, []int64{math.MinInt64, math.MaxInt64}, 8, math.MinInt64, 1},
		{scalar.UintType, []int64{-1, -2}, 1, -2, 1},
		{scalar.DatetimeType, []int64{8000 * day, 10000 * day, 9001 * day}, 2, 0, day},
		{scalar.DatetimeType, []int64{1, 1 + 3*day, 1 + day}, 1, 1, day},
		{scalar.DecimalOf(2), []int64{100, 5000, 300}, 1, 0, 100},
		{scalar.DecimalOf(2), []int64{100, 300}, 1, 100, 1},
		{scalar.FloatType, []int64{0, int64(math.Float64bits(1))}, 8, 0, 1},
	} {
		col := ColumnOf(c.typ, c.words, nil)
		if col.Width != c.width || col.Base != c.base || col.Step != c.step {
			t.Errorf("%s %v: width %d, base %d, step %d; want %d, %d, %d", c.typ, c.words,
				col.Width,
				col.Base, col.Step, c.width, c.base, c.step)
		}
	}
}

func TestDistinctEstimate(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{5000, 100_000, 1_000_000} {
		words := make([]int64, n)
		seen := map[int64]bool{}
		for i := range words {
			words[i] = rng.Int64N(int64(n)) * 1_000_003
			seen[words[i]] = true
		}
		got, want := float64(ColumnOf(scalar.IntType, words, nil).Stats.Distinct),
			float64(len(seen))
		if math.Abs(got-want)/want > 0.06 {
			t.Errorf("%d rows: %v distinct estimated, there are %v", n, got, want)
		}
	}
}

// naiveOrder sorts rows by comparing values.
func naiveOrder(cols []*Column, rows int, by []Order) []uint32 {
	order := slices.Clone(by)
	for c := range cols {
		if !slices.ContainsFunc(order, func(o Order) bool { return o.Col == c }) {
			order = append(order, Order{Col: c})
		}
	}
	out := make([]uint32, rows)
	for i := range out {
		out[i] = uint32(i)
	}
	slices.SortStableFunc(out, func(a, b uint32) int {
		for _, o := range order {
			c := scalar.Compare(cols[o.Col].Value(int(a)), cols[o.Col].Value(int(b)))
			if o.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	return out
}

func TestSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for round := range 300 {
		rows := rng.IntN(800)
		if round%50 == 0 {
			rows = 3*BlockRows + rng.IntN(100)
		}
		cols := make([]*Column, 1+rng.IntN(4))
		var by []Order
		for c := range cols {
			cols[c], _ = randomColumn(rng, randvalue.Types[rng.IntN(len(randvalue.Types))], rows)
			if cols[c].Dict != nil && rng.IntN(2) == 0 {
				// Codes out of order, as programs make them.
				words := make([]int64, rows)
				cols[c].Read(words, 0)
				d := NewDict(nil)
				for i := range words {
					words[i] = int64(d.Intern(cols[c].Dict.String(uint32(words[i]))))
				}
				cols[c] = ColumnOf(scalar.StringType, words, d)
			}
			if rng.IntN(3) == 0 {
				by = append(by, Order{Col: c, Desc: rng.IntN(2) == 0})
			}
		}
		want := naiveOrder(cols, rows, by)
		s := newRowSorter(Sorting{Threads: 1 + rng.IntN(3)}, cols, by)
		got, err := s.rows(context.Background(), rows)
		if err != nil || !slices.Equal(got.Rows, want) {
			t.Fatalf("round %d: the rows differ by %v, %v", round, by, err)
		}
		limit := rows
		if round%2 == 0 {
			limit = rng.IntN(rows + 1)
		}
		at := 0
		err = s.each(context.Background(), rows, limit, func(block [][]int64) error {
			for i := range block[0] {
				for c, col := range cols {
					if w := col.Word(int(want[at])); block[c][i] != w {
						return fmt.Errorf("row %d, column %d (%s): %d, want %d", at, c, col.Type,
							block[c][i], w)
					}
				}
				at++
			}
			return nil
		})
		if err != nil || at != limit {
			t.Fatalf("round %d: each by %v: %d of %d rows, %v", round, by, at, limit, err)
		}
	}
}

func TestMergeDicts(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		dicts := make([]*Dict, 1+rng.IntN(4))
		all := map[string]bool{}
		word := func() string {
			long := strings.Repeat("the same beginning ", rng.IntN(3))
			return long + fmt.Sprint(rng.IntN(300)) + strings.Repeat("\x00", rng.IntN(2))
		}
		for i := range dicts {
			sorted := map[string]bool{}
			for range rng.IntN(200) {
				sorted[word()] = true
			}
			dicts[i] = NewDict(slices.Sorted(func(yield func(string) bool) {
				for s := range sorted {
					if !yield(s) {
						return
					}
				}
			}))
			for range rng.IntN(300) * rng.IntN(2) {
				dicts[i].Intern(word())
			}
			for c := range dicts[i].Len() {
				all[dicts[i].String(uint32(c))] = true
			}
		}
		var extra []string
		for range rng.IntN(3) {
			extra = append(extra, word())
			all[extra[len(extra)-1]] = true
		}
		merged, remaps := MergeDicts(dicts, extra)
		if merged.Len() != len(all) || merged.Sorted() != len(all) {
			t.Fatalf("%d strings, %d sorted; want %d", merged.Len(), merged.Sorted(), len(all))
		}
		for c := 1; c < merged.Len(); c++ {
			if merged.String(uint32(c-1)) >= merged.String(uint32(c)) {
				t.Fatalf("%q does not come before %q", merged.String(uint32(c-1)),
					merged.String(uint32(c)))
			}
		}
		for i, d := range dicts {
			for c := range d.Len() {
				code := uint32(c)
				if remaps[i] != nil {
					code = remaps[i][c]
				}
				if merged.String(code) != d.String(uint32(c)) {
					t.Fatalf("%q became %q", d.String(uint32(c)), merged.String(code))
				}
			}
		}
		for _, s := range extra {
			if _, ok := merged.Lookup(s); !ok {
				t.Fatalf("%q is missing", s)
			}
		}
	}
}

func TestMergeEqualDicts(t *testing.T) {
	a, b := NewDict([]string{"x", "y"}), NewDict([]string{"x", "y"})
	if merged, remaps := MergeDicts([]*Dict{a, b}, []string{"y"}); merged != a ||
		remaps[0] != nil ||
		remaps[1] != nil {
		t.Error("equal dictionaries were merged anew")
	}
	if merged, _ := MergeDicts([]*Dict{a, NewDict([]string{"xy"})}, nil); merged == a {
		t.Error("dictionaries of the same bytes were taken for equal")
	}
}

func TestDictConcurrently(t *testing.T) {
	d := NewDict([]string{"b", "d"})
	var wg sync.WaitGroup
	codes := make([][]uint32, 4)
	for g := range codes {
		wg.Go(func() {
			for i := range 3000 {
				code := d.Intern(fmt.Sprint(i % 2000))
				if d.String(code) != fmt.Sprint(i%2000) {
					t.Errorf("code %d is %q, want %d", code, d.String(code), i%2000)
				}
				codes[g] = append(codes[g], code)
			}
		})
	}
	wg.Wait()
	for g := range codes {
		if !slices.Equal(codes[g], codes[0]) {
			t.Error("goroutines got different codes for the same strings")
		}
	}
	if d.Len() != 2002 || d.Sorted() != 2 {
		t.Errorf("%d strings, %d sorted; want 2002, 2", d.Len(), d.Sorted())
	}
	for _, pair := range [][2]string{{"b", "d"}, {"0", "1"}, {"b", "0"}} {
		x, _ := d.Lookup(pair[0])
		y, _ := d.Lookup(pair[1])
		if got, want := d.Compare(x, y), cmp.Compare(pair[0], pair[1]); (got < 0) != (want < 0) ||
			(got > 0) != (want > 0) {
			t.Errorf("%v compare as %d, want %d", pair, got, want)
		}
	}
}

// TestWithDict recodes columns of all widths in dictionaries that begin, go on
// and end otherwise, and in one whose order is another.
func TestWithDict(t *testing.T) {
	for _, n := range []int{1, 2, 200, 300, 70_000} {
		strs := make([]string, n)
		for i := range strs {
			strs[i] = fmt.Sprintf("m%06d", i)
		}
		c := StringColumn(append(slices.Clone(strs), strs[n/2:]...))
		grown := NewDict([]string{"z"})
		for _, s := range strs {
			grown.Intern(s)
		}
		for _, other := range []*Dict{NewDict([]string{"a", "m000001x", "z"}), NewDict(nil),
			grown} {
			dicts := []*Dict{c.Dict, other}
			merged, remaps := MergeDicts(dicts, []string{"b"})
			for _, turn := range []*Column{c, c.Select([]uint32{uint32(n / 2), uint32(n - 1)}),
				c.Select(nil), wideCodes(c)} {
				got := turn.WithDict(merged, remaps[0], 2)
				var want, have []string
				for i := range turn.Len() {
					want, have = append(want, turn.Value(i).Str()), append(have, got.Value(i).Str())
				}
				if !slices.Equal(want, have) {
					t.Fatalf("%d strings: other ones after recoding", n)
				}
				words := make([]int64, got.Len())
				got.Read(words, 0)
				if rebuilt := NewBuilder(c.Type, merged); len(words) > 0 {
					rebuilt.AppendWords(words)
					fresh := rebuilt.Finish()
					fresh.Stats.Distinct = got.Stats.Distinct // an estimate
					if fresh.Stats != got.Stats || fresh.Width != got.Width {
						t.Errorf("%d strings: %+v, width %d, want %+v, %d", n, got.Stats, got.Width,
							fresh.Stats,
							fresh.Width)
					}
				}
			}
		}
	}
	// A dictionary whose order is not that of the strings.
	grown := NewDict([]string{"b"})
	grown.Intern("a")
	b := NewBuilder(scalar.StringType, grown)
	b.AppendWords([]int64{0, 1, 0})
	merged, remaps := MergeDicts([]*Dict{grown}, nil)
	got := b.Finish().WithDict(merged, remaps[0], 2)
	if got.Value(0).Str() != "b" || got.Value(1).Str() != "a" || got.Stats.Min != 0 ||
		got.Stats.Ascending {
		t.Errorf("got %v, %v, %+v", got.Value(0), got.Value(1), got.Stats)
	}
}

// wideCodes returns a column of strings with codes of 8 bytes, as a GPU derives
// them.
func wideCodes(c *Column) *Column {
	words := make([]int64, c.Len())
	c.Read(words, 0)
	var data []byte
	for _, w := range words {
		data = binary.NativeEndian.AppendUint64(data, uint64(w))
	}
	wide := NewBounded(c.Type, c.Dict, c.Len(), 0, 1, 8, data)
	wide.Stats.Ascending, wide.Stats.Distinct = c.Stats.Ascending, c.Stats.Distinct
	return wide
}

// TestSlice wants a slice to hold the entries of its rows within the bounds of
// the column, and to claim no key that the column lacks.
func TestSlice(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for round := range 200 {
		typ := randvalue.Types[round%len(randvalue.Types)]
		col, values := randomColumn(rng, typ, 1+rng.IntN(60))
		from := rng.IntN(len(values))
		until := from + rng.IntN(len(values)-from) + 1
		s := col.Slice(from, until)
		for i, v := range values[from:until] {
			if got := s.Value(i); got != v {
				t.Fatalf("%s: entry %d is %v, want %v", typ, i, got, v)
			}
		}
		if s.Len() != until-from || s.Width != col.Width || s.Base != col.Base {
			t.Errorf("%s: %d entries of %d bytes from %d", typ, s.Len(), s.Width, s.Base)
		}
		if from == 0 && s.Head() != col || from > 0 && s.Head() != s || col.Head() != col {
			t.Errorf("%s: the column of rows %d to %d is another one", typ, from, until)
		}
	}
	// Rows 0 to 2 of 0, 0, 1, 2 are three entries between 0 and 2.
	repeats := ColumnOf(scalar.IntType, []int64{0, 0, 1, 2}, nil)
	if s := repeats.Slice(0, 3); s.Stats.Distinct == 3 {
		t.Errorf("%+v says that 0, 0, 1 differ", s.Stats)
	}
	if s := ColumnOf(scalar.IntType, []int64{5, 6, 7}, nil).Slice(1, 3); s.Stats.Distinct != 2 {
		t.Errorf("%+v does not say that 6, 7 differ", s.Stats)
	}
}

// each calls yield with blocks of the rows in order, at most limit of them.
func (s *rowSorter) each(
	ctx context.Context, rows, limit int, yield func(block [][]int64) error,
) error {
	a, err := Arrange(ctx, s.Sorting, s.cols, s.by, rows, limit)
	if err != nil {
		return err
	}
	defer a.Free()
	return a.Each(ctx, len(s.cols), yield)
}

// randomColumn returns a column and its values.
func randomColumn(rng *rand.Rand, t scalar.Type, n int) (*Column, []scalar.Value) {
	b := NewBuilder(t, nil)
	values := make([]scalar.Value, n)
	pool := make([]scalar.Value, 1+rng.IntN(n+1))
	for i := range pool {
		pool[i] = randvalue.Of(rng, t)
	}
	for i := range values {
		values[i] = pool[rng.IntN(len(pool))]
		b.AppendValue(values[i])
	}
	return b.Finish(), values
}
