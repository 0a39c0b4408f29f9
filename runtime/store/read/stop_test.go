package read

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

func TestFromSlices(t *testing.T) {
	now := time.Date(2024, 2, 29, 12, 0, 0, 1000, time.FixedZone("", 3600))
	r, err := FromSlices(storetest.Predicate(t,
		"p(i:int[8]; d:decimal[18,2]; u:uint; f:float[32]; b:boolean; t:datetime; s:string)"),
		[]int{1, -1, 1}, []int32{5, 6, 5}, []uint64{1 << 63, 2, 1 << 63}, []float64{0.1, 2, 0.1},
		[]bool{true, false, true},
		[]time.Time{now, now, now}, []string{"b", "a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`1:int[8] 5.00 9223372036854775808:uint 0.1:float[32] true #2024-02-29T11:00:00.000001Z# "b"`,
		`-1:int[8] 6.00 2:uint 2:float[32] false #2024-02-29T11:00:00.000001Z# "a"`,
	}
	if got := storetest.Tuples(r); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, c := range []struct {
		pred  string
		slice any
		want  string
	}{
		{"p(x:int[8])", []int{1, 128}, "argument 1 (x) of p: row 2: 128 is not an int[8]"},
		{"p(x:uint)", []int{-1}, "argument 1 (x) of p: row 1: -1 is not a uint"},
		{"p(x:decimal[18,18])", []int{10}, "row 1: the value is too large for a decimal[18,18]"},
		{"p(x:string)", []int{10}, "[]int does not fill a string"},
		{"p(x:int)", []string{"1"}, "[]string does not fill an int"},
		{"p(x:string)", []string{"\xff"}, "row 1: byte 1 of the string, 0xff, is not valid UTF-8"},
		{"p(x:int)", 7, "int is no slice"},
		{"p[]=x:int", []int{1, 2}, "row 2: p[] has two values: 2 here and 1 in row 1"},
	} {
		if _, err := FromSlices(storetest.Predicate(t, c.pred), c.slice); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s from %v: %v, want %s", c.pred, c.slice, err, c.want)
		}
	}
}

func TestConcat(t *testing.T) {
	s := storetest.Predicate(t, "p[x:int]=s:string")
	a, err := FromSlices(s, []int{1, 2}, []string{"b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := FromSlices(s, []int{2, 3}, []string{"c", "a"})
	if err != nil {
		t.Fatal(err)
	}
	both, err := Concat(s, a, b)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := storetest.Tuples(both),
		[]string{`1 "b"`, `2 "c"`, `3 "a"`}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	c, err := FromSlices(s, []int{1}, []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Concat(s, a, c); err == nil ||
		err.Error() != `row 3: p[1] has two values: "a" here and "b" in row 1` {
		t.Errorf("got error %v", err)
	}
	if none, err := Concat(s); err != nil || none.Rows() != 0 {
		t.Errorf("the union of nothing is %v, %v", none, err)
	}
}

func TestArrowRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 100 {
		s, r := randomRelation(t, rng, rng.IntN(50))
		rec, err := write.ToArrow(write.Of(r))
		if err != nil {
			t.Fatal(err)
		}
		back, err := FromArrow(s, rec)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sortedTuples(back), sortedTuples(r); !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
		rows := int64(0)
		err = write.EachArrow(write.Of(r), func(part arrow.RecordBatch) error {
			rows += part.NumRows()
			return nil
		})
		if err != nil || rows != rec.NumRows() {
			t.Errorf("%d rows in parts, want %d: %v", rows, rec.NumRows(), err)
		}
		rec.Release()
	}
}

func TestFromArrowTypes(t *testing.T) {
	build := func(typ arrow.DataType, json string) arrow.RecordBatch {
		t.Helper()
		arr, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(json))
		if err != nil {
			t.Fatal(err)
		}
		return array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "x", Type: typ,
			Nullable: true}},
			nil), []arrow.Array{arr}, int64(arr.Len()))
	}
	for _, c := range []struct {
		typ  arrow.DataType
		json string
		pred string
		want string
	}{
		{arrow.PrimitiveTypes.Int8, `[-1, 2]`, "p(x:int)", "-1 2"},
		{arrow.PrimitiveTypes.Uint64, `[18446744073709551615]`, "p(x:uint)",
			"18446744073709551615:uint"},
		{arrow.PrimitiveTypes.Uint64, `[18446744073709551615]`, "p(x:int)",
			"p: row 1: column 1 (x): 18446744073709551615 is not an int"},
		{arrow.PrimitiveTypes.Float32, `[0.5]`, "p(x:float)", "0.5f"},
		{arrow.FixedWidthTypes.Float16, `[0.5]`, "p(x:float)", "0.5f"},
		{arrow.FixedWidthTypes.Date32, `["2024-02-29"]`, "p(x:datetime)", "#2024-02-29#"},
		{arrow.FixedWidthTypes.Date64, `["2024-02-29"]`, "p(x:datetime)", "#2024-02-29#"},
		{arrow.FixedWidthTypes.Timestamp_s, `["2024-02-29 00:00:01Z"]`, "p(x:datetime)",
			"#2024-02-29T00:00:01Z#"},
		{arrow.FixedWidthTypes.Timestamp_ns, `["2024-02-29 00:00:01.000001Z"]`, "p(x:datetime)",
			"#2024-02-29T00:00:01.000001Z#"},
		{&arrow.Decimal32Type{Precision: 5, Scale: 1}, `["1.5"]`, "p(x:decimal[18,2])", "1.50"},
		{&arrow.Decimal64Type{Precision: 9, Scale: 3}, `["1.500"]`, "p(x:decimal[18,2])", "1.50"},
		{&arrow.Decimal128Type{Precision: 38, Scale: 3}, `["1.505"]`, "p(x:decimal[18,2])",
			"p: row 1: column 1 (x): the value has digits that a decimal[18,2] cannot hold"},
		{&arrow.Decimal256Type{Precision: 60, Scale: 0}, `["123456789012345678901234567890"]`,
			"p(x:decimal[18,0])",
			"p: row 1: column 1 (x): the value is too large for a decimal[18,0]"},
		{arrow.BinaryTypes.LargeString, `["a", "b"]`, "p(x:string)", `"a" "b"`},
		{arrow.BinaryTypes.StringView, `["a"]`, "p(x:string)", `"a"`},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
			ValueType: arrow.BinaryTypes.String},
			`["b", "a", "b"]`, "p(x:string)", `"b" "a"`},
		{arrow.PrimitiveTypes.Int64, `[1, null]`, "p(x:int)",
			"p: row 2: column 1 (x): the value is missing (null)"},
		{arrow.PrimitiveTypes.Int64, `[null, 7]`, "p[]=x:int", "7"},
		{arrow.BinaryTypes.String, `[null, "x"]`, "p[]=x:string", `"x"`},
		{arrow.FixedWidthTypes.Boolean, `[true]`, "p(x:int)",
			"p: column 1 (x): the Arrow column is bool, the declared type is int"},
		{arrow.PrimitiveTypes.Int64, `[1]`, "p(x:string)",
			"p: column 1 (x): the Arrow column is int64, the declared type is string"},
		{arrow.ListOf(arrow.PrimitiveTypes.Int64), `[[1]]`, "p(x:int)",
			"p: column 1 (x): the Arrow column is list<item: int64, nullable>, the declared type is int"},
		{arrow.PrimitiveTypes.Int64, `[1]`, "p(x:int; y:int)",
			"p: the Arrow record has 1 column, expected 2"},
	} {
		r, err := FromArrow(storetest.Predicate(t, c.pred), build(c.typ, c.json))
		got := fmt.Sprint(err)
		if err == nil {
			got = strings.Join(storetest.Tuples(r), " ")
		}
		if got != c.want {
			t.Errorf("%s as %s: %s, want %s", c.typ, c.pred, got, c.want)
		}
	}
}

// TestLoadStops cancels a load and runs it out of memory.
func TestLoadStops(t *testing.T) {
	s := storetest.Predicate(t, "edge(x:int; y:string)")
	var b bytes.Buffer
	for i := range 200_000 {
		fmt.Fprintf(&b, "%d\tname %d\n", i, i)
	}
	path := WriteFile(t, t.TempDir(), "edge.tsv", b.String())
	binding, err := Bind(context.Background(), []store.Schema{s}, "",
		[]Fact{{Pred: "edge", Path: path}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	opts := Options{Threads: 2, blockSize: 1000}
	opts.Reserve = func(string, int64) error { cancel(reason); return nil }
	if _, _, err := Load(ctx, binding, opts); !errors.Is(err, reason) {
		t.Errorf("a cancelled load gives %v", err)
	}

	full := errors.New("no more memory")
	var held, most int64
	opts.Reserve = func(_ string, n int64) error {
		if held+n > 500_000 {
			return full
		}
		held += n
		most = max(most, held)
		return nil
	}
	if _, _, err := Load(context.Background(), binding, opts); !errors.Is(err, full) {
		t.Errorf("a load beyond its memory gives %v", err)
	}
	if held != 0 || most == 0 {
		t.Errorf("%d bytes are held after a failed load, %d at most", held, most)
	}

	var calls atomic.Int64
	var last Progress
	opts = Options{Progress: func(p Progress) { calls.Add(1); last = p }}
	db, _, err := Load(context.Background(), binding, opts)
	if err != nil {
		t.Fatal(err)
	}
	if calls.Load() == 0 || !last.Done || last.Rows != 200_000 || last.Bytes != int64(b.Len()) ||
		last.Size != last.Bytes || last.Rate() <= 0 {
		t.Errorf("last progress is %+v", last)
	}
	if r := db.Relation("edge"); r.Rows() != 200_000 ||
		r.Column(1).Value(199_999) != scalar.OfString("name 199999") {
		t.Error("rows are wrong")
	}
}

// TestStopWhileSorting cancels a load after its last row was read.
func TestStopWhileSorting(t *testing.T) {
	reason := errors.New("enough")
	s := storetest.Predicate(t, "edge(x:int; y:string)")
	var b bytes.Buffer
	for i := range 5000 {
		fmt.Fprintf(&b, "%d\tname %d\n", i*7919%5000, i)
	}
	path := WriteFile(t, t.TempDir(), "edge.tsv", b.String())
	binding, err := Bind(context.Background(), []store.Schema{s}, "",
		[]Fact{{Pred: "edge", Path: path}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	opts := Options{Threads: 1, Reserve: func(_ string, n int64) error {
		if n > 0 {
			calls++
		}
		return nil
	}}
	if _, _, err := Load(context.Background(), binding, opts); err != nil {
		t.Fatal(err)
	}
	for at := 1; at <= calls; at++ {
		ctx, cancel := context.WithCancelCause(context.Background())
		n := 0
		opts.Reserve = func(_ string, bytes int64) error {
			if bytes < 0 {
				return nil
			}
			if n++; n == at {
				cancel(reason)
			}
			return nil
		}
		if _, _, err := Load(ctx, binding, opts); err != reason {
			t.Errorf("cancelled at reservation %d of %d: %v", at, calls, err)
		}
	}
}

// TestCancelABlockedReader cancels a load whose reader yields nothing.
func TestCancelABlockedReader(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	s := storetest.Predicate(t, "p(x:int)")
	b, err := Bind(context.Background(), []store.Schema{s}, "",
		[]Fact{{Pred: "p", Path: "pipe", Reader: r}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	go io.WriteString(w, "1\n2\n3\n4\n")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, _, err := Load(ctx, b, Options{blockSize: 2}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// TestReaders loads from readers of every kind.
func TestReaders(t *testing.T) {
	s := storetest.Predicate(t, "edge(a:int; b:int)")
	r, err := FromSlices(s, []int{1, 2}, []int{2, 3})
	if err != nil {
		t.Fatal(err)
	}
	for out, f := range readAs {
		var b bytes.Buffer
		if err := write.Rows(&b, write.Of(r), out, write.Options{Header: true}); err != nil {
			t.Fatal(err)
		}
		header := true
		for _, reader := range []io.Reader{bytes.NewReader(b.Bytes()),
			struct{ io.Reader }{bytes.NewReader(b.Bytes())}} {
			back := loadReader(t, s, Fact{Reader: reader, Format: f, Header: &header}, Options{})
			if !slices.Equal(storetest.Tuples(back), storetest.Tuples(r)) {
				t.Errorf("%s from %T: %v", f, reader, storetest.Tuples(back))
			}
		}
	}
}
