package read

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/redfoxdb/redfox/internal/randvalue"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

// randomRelation returns a set of tuples of random types; with columns beyond
// 64 bits, many rows, or none.
func randomRelation(t testing.TB, rng *rand.Rand, rows int) (store.Schema, *store.Relation) {
	s := store.Schema{Name: "p"}
	var cols []*store.Column
	for i := range rng.IntN(5) {
		if rng.IntN(6) == 0 {
			high, low := randomWide(rng, uint8(rng.IntN(scalar.MaxWideScale+1)), rows)
			for _, c := range []*store.Column{high, low} {
				s.Args = append(s.Args, store.Field{Name: fmt.Sprintf("x%d", i), Type: c.Type})
				cols = append(cols, c)
			}
			continue
		}
		typ := randvalue.Types[rng.IntN(len(randvalue.Types))]
		s.Args = append(s.Args, store.Field{Name: fmt.Sprintf("x%d", i), Type: typ})
		col, _ := drawnColumn(rng, typ, rows)
		cols = append(cols, col)
	}
	s.Keys = len(s.Args)
	if len(cols) == 0 {
		rows = rng.IntN(2)
	}
	r, err := newRelation(s, cols, rows, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, r
}

// randomWide returns the columns of wide decimals of up to 38 digits, many of
// them of few.
func randomWide(rng *rand.Rand, scale uint8, rows int) (high, low *store.Column) {
	t := scalar.WideDecimalOf(scale)
	words := [2][]int64{make([]int64, rows), make([]int64, rows)}
	digits := 1 + rng.IntN(scalar.MaxWideScale)
	for i := range rows {
		n, _ := scalar.Int128{Hi: int64(rng.Uint64()),
			Lo: rng.Uint64()}.Quo(scalar.Pow10(scalar.MaxWideScale + 1 - max(1,
			digits-rng.IntN(3))))
		h, l := scalar.OfInt128(t, n).Words()
		words[0][i], words[1][i] = h.Int(), l.Int()
	}
	return store.ColumnOf(t.WordOf(scalar.High), words[0], nil),
		store.ColumnOf(t.WordOf(scalar.Low), words[1], nil)
}

// sortedTuples renders a relation as a set.
func sortedTuples(r *store.Relation) []string {
	out := storetest.Tuples(r)
	slices.Sort(out)
	return out
}

func TestWrittenFilesReadBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	dir := t.TempDir()
	for round := range short.Count(t, 80, "relations") {
		rows := rng.IntN(30)
		if round%40 == 0 {
			rows = 5000
		}
		s, r := randomRelation(t, rng, rows)
		for _, name := range []string{"p.tsv", "p.csv", "p.parquet", "p.tsv.gz", "p.csv.zst",
			"p.json", "p.jsonl.gz", "p.arrow", "p.arrows"} {
			if len(s.Args) == 0 && formatOf(name) == JSON {
				continue // {} names no column
			}
			path := filepath.Join(dir, name)
			format := write.FormatOf(name)
			o := write.Options{Header: rng.IntN(2) == 0}
			if format == write.CSV {
				o.Delimiter = []byte{0, '|', ';', '\t'}[rng.IntN(4)]
			}
			if len(s.Args) == 0 {
				o.Header = false
			}
			if err := write.File(path, func(w io.Writer) error {
				return write.Rows(w, write.Of(r), format,
					o)
			}); err != nil {
				t.Fatal(err)
			}
			first, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			opts := Options{blockSize: []int{0, 1, 7, 64}[rng.IntN(4)], Threads: 1 + rng.IntN(3)}
			if rng.IntN(2) == 0 {
				opts = spilling(opts, dir)
			}
			back := loadReader(t, s, Fact{Path: path, Header: &o.Header, Delimiter: o.Delimiter},
				opts)
			got, want := sortedTuples(back), sortedTuples(r)
			if !slices.Equal(got, want) {
				t.Fatalf("round %d, %s (%v, %v): read back\n%q\nwant\n%q\nfile\n%q", round, name,
					s.Args, o,
					got, want, first)
			}
			var again bytes.Buffer
			if err := write.Rows(&again, write.Of(back), format, o); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(name, "z") && !strings.HasSuffix(name, "st") &&
				!bytes.Equal(first, again.Bytes()) {
				t.Fatalf("round %d, %s: written again, the file differs:\n%q\n%q", round, name,
					first,
					again.Bytes())
			}
		}
	}
}

func TestJSONIsJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 200 {
		s, r := randomRelation(t, rng, rng.IntN(20))
		var b bytes.Buffer
		if err := write.Rows(&b, write.Of(r), write.JSON, write.Options{}); err != nil {
			t.Fatal(err)
		}
		dec := json.NewDecoder(&b)
		dec.UseNumber()
		var rows []map[string]any
		if err := dec.Decode(&rows); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range rows {
			var cells []string
			args, _ := arguments(&s)
			for _, a := range args {
				text := fmt.Sprint(row[a.Name])
				v, err := scalar.ParseText(a.Type, text)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				cells = append(cells, scalar.Literal(v))
			}
			got = append(got, strings.Join(cells, " "))
		}
		slices.Sort(got)
		if want := sortedTuples(r); !slices.Equal(got, want) {
			t.Fatalf("JSON holds %q, want %q", got, want)
		}
	}
}

// TestToArrowInParts compares records that goroutines fill in parts with the
// rows as they are written, whatever their order and however many are wanted.
func TestToArrowInParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 8))
	const part = 1 << 13 // what a goroutine converts
	for round := range int(short.Count(t, 30, "relations")) {
		rows := []int{part - 1, part, part + 1, 2*part + 77, 3 * store.BlockRows}[round%5]
		s, r := randomRelation(t, rng, rows)
		out := write.Of(r)
		out.Threads = 1 + round%3
		if len(out.Columns) > 0 {
			out.Order = []store.Order{{Col: rng.IntN(len(out.Columns)), Desc: round%2 == 0}}
		}
		if round%4 == 1 {
			out.Limit = int64(rng.IntN(rows))
		}
		var want [][]int64
		err := out.Each(func(block [][]int64, n int) error {
			for i := range n {
				var tuple []int64
				for c := range block {
					tuple = append(tuple, block[c][i])
				}
				want = append(want, tuple)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		rec, err := write.ToArrow(out)
		if err != nil {
			t.Fatal(err)
		}
		if rec.NumRows() != int64(len(want)) {
			t.Fatalf("%d rows, want %d", rec.NumRows(), len(want))
		}
		var parts []arrow.RecordBatch
		from := int64(0)
		err = write.EachArrow(out, func(part arrow.RecordBatch) error {
			same := rec.NewSlice(from, from+part.NumRows())
			defer same.Release()
			for c := range part.Columns() {
				if got, want := part.Column(c).String(), same.Column(c).String(); got != want {
					t.Errorf("round %d, rows from %d on of column %d are %.200s in a part and %.200s", round, from,
						c, got, want)
				}
			}
			from += part.NumRows()
			parts = append(parts, part)
			return nil
		})
		if err != nil || len(parts) > 0 && from != rec.NumRows() {
			t.Errorf("%d rows in parts: %v", from, err)
		}
		arrays := twice(&s, rec.Columns())
		for c := range out.Columns {
			col, row, reason := arrowColumn(s.Args[c].Type, arrays[c])
			if reason != "" {
				t.Fatalf("row %d: %s", row, reason)
			}
			for i, tuple := range want {
				if got, want := col.Value(i), out.Columns[c].ValueOf(tuple[c]); got != want {
					t.Fatalf("round %d: row %d of column %d is %v, want %v", round, i, c, got, want)
				}
			}
		}
		rec.Release()
	}
}

// drawnColumn returns a column and its values.
func drawnColumn(rng *rand.Rand, t scalar.Type, n int) (*store.Column, []scalar.Value) {
	b := store.NewBuilder(t, nil)
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
