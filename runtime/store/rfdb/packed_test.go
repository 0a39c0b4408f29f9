package rfdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/blocks"
)

// packable returns a relation with a column of each form, in several blocks,
// and a column of many strings.
func packable(rows int) *store.Relation {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([][]int64, 7)
	var names []string
	codes := store.NewDict([]string{"AIR", "MAIL", "RAIL", "SHIP", "TRUCK"})
	for i := range rows {
		row := []int64{int64(i) * 3, r.Int64N(5), int64(i / 30 * 17 % 3000), 7_000 + r.Int64N(101),
			r.Int64N(4) + int64(i%97/96*100_000), []int64{1, 1 << 20, 1 << 40}[r.IntN(3)],
			int64(math.Float64bits(float64(r.IntN(100_000)) / 100))}
		for c := range words {
			words[c] = append(words[c], row[c])
		}
		names = append(names, fmt.Sprintf("Customer#%09d, %d", i, r.IntN(10)))
	}
	int := scalar.IntType
	return relation("long", 1, store.ColumnOf(int, words[0], nil),
		store.ColumnOf(scalar.StringType, words[1], codes), store.ColumnOf(int, words[2], nil),
		store.ColumnOf(int, words[3], nil), store.ColumnOf(int, words[4], nil),
		store.ColumnOf(int, words[5], nil), store.StringColumn(names),
		store.ColumnOf(scalar.FloatType, words[6], nil))
}

// holds compares a database with the one relation that it is to hold.
func holds(t *testing.T, f *File, rel *store.Relation) {
	t.Helper()
	want := state{rels: []*store.Relation{rel}}.String()
	if got, err := contents(f); err != nil || got != want {
		t.Errorf("the contents are others: %v", err)
	}
}

func TestPacked(t *testing.T) {
	rel := packable(3 * blocks.Rows)
	d := newImage(nil)
	if err := writeNew(d, "test", Writing{}, 1, []*store.Relation{rel}, nil); err != nil {
		t.Fatal(err)
	}
	f, err := open("test", d)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"delta"}, {"packed"}, {"runs"}, {"packed"}, {"packed"},
		{"dictionary"}, {"delta"}, {"decimal"}}
	for i, c := range f.Info().Relations[0].Columns {
		if !slices.Equal(c.Forms, want[i]) || c.Stored*10 > c.Bytes*9 {
			t.Errorf("column %d is %v of %d bytes, %d unpacked", i, c.Forms, c.Stored, c.Bytes)
		}
	}
	holds(t, f, rel)
	c := f.Info().Relations[0].Columns[6]
	if c.Strings != 3*blocks.Rows || c.StoredText*3 > c.Text {
		t.Errorf("%d strings have %d bytes, %d unpacked", c.Strings, c.StoredText, c.Text)
	}
	for i := range rel.Cols {
		if a, b := f.Stubs()[0].Column(i), rel.Column(i); a.Layout() != b.Layout() ||
			!bytes.Equal(a.Entries(), b.Entries()) {
			t.Errorf("column %d is stored as %+v, was %+v", i, a.Layout(), b.Layout())
		}
	}
	e := f.dir.Tables[0].Columns[3]
	list, err := e.blocksOf(f.bytes(&e.Packed.Headers))
	if err != nil {
		t.Fatal(err)
	}
	at := e.Packed.At + int64(list[2].at)
	d.data[at+9] ^= 4
	if f, err = open("test", d); err != nil {
		t.Fatal(err)
	}
	var damage *DamageError
	_, err = f.Relations(context.Background(), []string{"long"}, Reading{Threads: 2})
	if !errors.As(err, &damage) || damage.Offset != at || damage.Part != "column c3 of long" {
		t.Errorf("the error is %v", err)
	}
	if found, err := f.Check(context.Background(), 2); err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
}

// TestRaw packs nothing.
func TestRaw(t *testing.T) {
	rel := packable(5000)
	d := newImage(nil)
	if err := writeNew(d, "test", Writing{Raw: true}, 1, []*store.Relation{rel}, nil); err != nil {
		t.Fatal(err)
	}
	f, err := open("test", d)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range f.Info().Relations[0].Columns {
		if c.Forms != nil || c.Stored != c.Bytes || c.StoredText != c.Text {
			t.Errorf("column %d is %v of %d bytes, %d unpacked", i, c.Forms, c.Stored, c.Bytes)
		}
	}
	holds(t, f, rel)
}

// TestPackedGrowth appends rows to packed columns: the packed ones stay where
// they are, until a quarter of the rows is behind them.
func TestPackedGrowth(t *testing.T) {
	const rows = blocks.Rows + 100
	columns := packable(rows).Columns()
	rel := relation("long", 1, columns[:len(columns)-1]...) // floats do not grow
	d := newImage(nil)
	if err := writeNew(d, "test", Writing{}, 1, []*store.Relation{rel}, nil); err != nil {
		t.Fatal(err)
	}
	w, err := openWriter("test", "test", d)
	if err != nil {
		t.Fatal(err)
	}
	first := *w.listed.Tables[0].Columns[3].Packed
	added, repacked := 0, false
	for n := 40; added < rows; n *= 3 {
		columns := slices.Clone(rel.Columns())
		for i, c := range columns {
			words := make([]int64, n)
			for j := range words {
				words[j] = c.Word((added + j) % rows)
			}
			grown, ok := c.Grow(words)
			if !ok {
				t.Fatal("the words do not fit")
			}
			columns[i] = grown
		}
		added += n
		rel = relation("long", 7, columns...)
		before := len(d.data)
		if err := w.Commit([]*store.Relation{rel}, nil); err != nil {
			t.Fatal(err)
		}
		e := w.listed.Tables[0].Columns[3]
		if e.packedRows() == rows {
			if e.Packed.At != first.At {
				t.Errorf("after %d rows more, the packed ones are at byte %d", added, e.Packed.At)
			}
			if size := len(d.data) - before; size > 24*n+20*pageSize {
				t.Errorf("adding %d rows takes %d bytes", n, size)
			}
		} else {
			repacked = e.packedRows() == rows+added
		}
		f, err := open("test", d)
		if err != nil {
			t.Fatal(err)
		}
		holds(t, f, rel)
	}
	if !repacked {
		t.Error("the columns were not packed again")
	}
}

// TestPackedChange changes a row of a packed column: all of it is written.
func TestPackedChange(t *testing.T) {
	rel := packable(blocks.Rows + 100)
	d := newImage(nil)
	if err := writeNew(d, "test", Writing{}, 1, []*store.Relation{rel}, nil); err != nil {
		t.Fatal(err)
	}
	w, err := openWriter("test", "test", d)
	if err != nil {
		t.Fatal(err)
	}
	words := make([]int64, rel.Rows())
	rel.Column(3).Read(words, 0)
	words[blocks.Rows+7] = 7_001 + (words[blocks.Rows+7]+1)%99
	columns := slices.Clone(rel.Columns())
	columns[3] = store.ColumnOf(scalar.IntType, words, nil)
	rel = relation("long", 1, columns...)
	if err := w.Commit([]*store.Relation{rel}, nil); err != nil {
		t.Fatal(err)
	}
	f, err := open("test", d)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, f, rel)
}

// TestPackedBounds packs columns at the ends of their types, and floats.
func TestPackedBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	words := func(of ...int64) []int64 {
		out := make([]int64, 5000)
		for i := range out {
			out[i] = of[r.IntN(len(of))]
		}
		return out
	}
	double := func(f float64) int64 { return int64(math.Float64bits(f)) }
	rel := relation("ends", 5,
		store.ColumnOf(scalar.IntType, words(math.MinInt64, 0, math.MaxInt64), nil),
		store.ColumnOf(scalar.IntType, words(math.MaxInt64-3, math.MaxInt64), nil),
		store.ColumnOf(scalar.FloatType, words(double(-1.5), double(0), double(2)), nil),
		store.ColumnOf(scalar.UintType, words(-1, 5), nil),
		store.ColumnOf(scalar.DatetimeType, words(-86_400_000_000, 0, 864_000_000_000), nil))
	d := newImage(nil)
	if err := writeNew(d, "test", Writing{}, 1, []*store.Relation{rel}, nil); err != nil {
		t.Fatal(err)
	}
	f, err := open("test", d)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range f.Info().Relations[0].Columns {
		if c.Forms == nil && c.Width > 1 {
			t.Errorf("column %d of %d bytes is not packed", i, c.Width)
		}
	}
	holds(t, f, rel)
}

// TestPackedMutated changes bytes of packed blocks and their headers, and gives
// them checksums that hold: entries are within the bounds of their column, or
// there is an error.
func TestPackedMutated(t *testing.T) {
	d := newImage(nil)
	rel := packable(blocks.Rows + 100)
	if err := writeNew(d, "test", Writing{}, 1, []*store.Relation{rel}, nil); err != nil {
		t.Fatal(err)
	}
	f, err := open("test", d)
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Clone(d.data[f.root.at : f.root.at+f.root.size])
	r := rand.New(rand.NewPCG(5, 6))
	count := 400
	if short.EveryMutation() {
		count = 10_000
	}
	refused, read := 0, 0
	for range count {
		e := f.dir.Tables[0].Columns[r.IntN(len(rel.Cols))]
		changed := newImage(d.data)
		headers := changed.data[e.Packed.Headers.At:][:e.Packed.Headers.Size]
		data := changed.data[e.Packed.At:][:e.Packed.Size]
		for range 1 + r.IntN(3) {
			if len(data) > 0 && r.IntN(2) == 0 {
				data[r.IntN(len(data))] = byte(r.Uint32())
			} else {
				headers[r.IntN(len(headers))] = byte(r.Uint32())
			}
		}
		resum(headers, data)
		unpin()
		d := f.dir.Dicts[1]
		if s := []section{d.Text, d.Ends, d.Packed.Symbols}[r.IntN(3)]; r.IntN(3) == 0 {
			changed.data[s.At+r.Int64N(s.Size)] = byte(r.Uint32())
		}
		f, err := open("test", resigned(changed, f, withSums(t, changed, text)))
		if err == nil {
			_, err = f.Relations(context.Background(), []string{"long"}, Reading{Threads: 1})
		}
		switch {
		case err == nil:
			read++
			for _, c := range f.Stubs()[0].Columns() {
				if !c.Holds(0, c.Len()) {
					t.Fatalf("values are outside of %+v", c.Stats)
				}
				if c.Dict != nil {
					c.Dict.Lookup("Customer#000000077, 4")
					c.Dict.Ascends() // which looks at all strings
				}
			}
		case isKnown(err):
			refused++
		default:
			t.Fatal(err)
		}
	}
	if refused == 0 || read == 0 {
		t.Errorf("%d were refused and %d were read", refused, read)
	}
}

// resum gives the headers the checksums of their blocks, as far as these are
// within the data.
func resum(headers, data []byte) {
	for len(headers) > 0 {
		h := blocks.ReadHeader(headers)
		if int(h.Size) > len(data) {
			return
		}
		h.Sum = checksum(data[:h.Size])
		copy(headers, h.Append(nil))
		headers, data = headers[blocks.HeaderBytes:], data[h.Size:]
	}
}
