package read

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
)

// encodedSchemas are the predicates of the files of writeEncoded.
func encodedSchemas(t testing.TB) []store.Schema {
	return []store.Schema{
		storetest.Predicate(t, "t:i32[id:int]=i32:int[32]"),
		storetest.Predicate(t, "t:i64[id:int]=i64:int"),
		storetest.Predicate(t, "t:day[id:int]=day:datetime"),
		storetest.Predicate(t, "t:price[id:int]=price:decimal[18,2]"),
		storetest.Predicate(t, "t:tax[id:int]=tax:decimal[18,4]"),
		storetest.Predicate(t, "t:f64[id:int]=f64:float"),
		storetest.Predicate(t, "t:f32[id:int]=f32:float"),
		storetest.Predicate(t, "t:rounded[id:int]=rounded:float[32]"),
	}
}

// encodedColumns is how many columns the files of writeEncoded have.
const encodedColumns = 9

// encodings are those of pages without a dictionary, but for PLAIN.
var encodings = []parquet.WriterProperty{
	parquet.WithEncodingFor("i32", parquet.Encodings.DeltaBinaryPacked),
	parquet.WithEncodingFor("i64", parquet.Encodings.DeltaBinaryPacked),
	parquet.WithEncodingFor("price", parquet.Encodings.DeltaBinaryPacked),
	parquet.WithEncodingFor("tax", parquet.Encodings.DeltaBinaryPacked),
	parquet.WithEncodingFor("f64", parquet.Encodings.ByteStreamSplit),
	parquet.WithEncodingFor("f32", parquet.Encodings.ByteStreamSplit),
}

// encodedCodecs are the codecs of pages that may stay encoded.
var encodedCodecs = []compress.Compression{compress.Codecs.Snappy, compress.Codecs.Uncompressed,
	compress.Codecs.Zstd, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Lz4Raw}

// oddFloats are floats that do not stay as they are, or are rarely right.
var oddFloats = []float64{math.Copysign(0, -1), 0, math.NaN(), math.Inf(1), math.Inf(-1), 1e-310,
	1e300, math.Float64frombits(0xfff4_0000_0000_0001)}

// writeEncoded returns a file with rows of random values, of a number of
// different ones.
func writeEncoded(t testing.TB, rng *rand.Rand, rows, groupRows, distinct int,
	repetition parquet.Repetition, props ...parquet.WriterProperty) []byte {
	t.Helper()
	leaf := func(name string, logical schema.LogicalType, physical parquet.Type) schema.Node {
		return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, repetition, logical,
			physical, -1, -1))
	}
	nodes := schema.FieldList{
		schema.NewInt64Node("id", parquet.Repetitions.Required, -1),
		leaf("i32", schema.NewIntLogicalType(32, true), parquet.Types.Int32),
		leaf("i64", schema.NewIntLogicalType(64, true), parquet.Types.Int64),
		leaf("day", schema.DateLogicalType{}, parquet.Types.Int32),
		leaf("price", schema.NewDecimalLogicalType(15, 2), parquet.Types.Int64),
		leaf("tax", schema.NewDecimalLogicalType(9, 3), parquet.Types.Int32),
		leaf("f64", nil, parquet.Types.Double),
		leaf("f32", nil, parquet.Types.Float),
		leaf("rounded", nil, parquet.Types.Double),
	}
	var out bytes.Buffer
	w := file.NewParquetWriter(&out,
		schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)),
		file.WithWriterProps(parquet.NewWriterProperties(props...)))
	scale := []int64{1 << 20, 1 << 40, 40_000, 1 << 30, 200}
	least := []int64{-5000, 3, -20_000, 100, 1}
	var values [5][]int64
	for i := range values {
		some := make([]int64, distinct)
		for k := range some {
			some[k] = least[i] + rng.Int64N(scale[i])
		}
		for range rows {
			values[i] = append(values[i], some[rng.IntN(distinct)])
		}
	}
	var floats [3][]float64
	for i := range floats {
		for range rows {
			f := float64(rng.IntN(distinct)) / 8
			if rng.IntN(20) == 0 {
				f = oddFloats[rng.IntN(len(oddFloats))]
			}
			floats[i] = append(floats[i], f)
		}
	}
	for from := 0; from < rows; from += groupRows {
		until := min(from+groupRows, rows)
		group := appendGroup(t, w)
		levels := slices.Repeat([]int16{int16(repetition)}, until-from)
		for i := range nodes {
			column, err := group.NextColumn()
			if err != nil {
				t.Fatal(err)
			}
			switch to := column.(type) {
			case *file.Int32ColumnChunkWriter:
				var words []int32
				for _, v := range values[i-1][from:until] {
					words = append(words, int32(v))
				}
				_, err = to.WriteBatch(words, levels, nil)
			case *file.Int64ColumnChunkWriter:
				var words []int64
				for row := from; row < until; row++ {
					if i == 0 {
						words = append(words, int64(row))
					} else {
						words = append(words, values[i-1][row])
					}
				}
				_, err = to.WriteBatch(words, levels, nil)
			case *file.Float64ColumnChunkWriter:
				_, err = to.WriteBatch(floats[i-6][from:until], levels, nil)
			case *file.Float32ColumnChunkWriter:
				var singles []float32
				for _, f := range floats[i-6][from:until] {
					singles = append(singles, float32(f))
				}
				_, err = to.WriteBatch(singles, levels, nil)
			}
			if err = errors.Join(err, column.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// loadEncoded loads a file whose key is taken for proven.
func loadEncoded(t testing.TB, path string, schemas []store.Schema, keep bool) (
	*store.Database, *Report, error) {
	t.Helper()
	opts := memoryProofs(map[string][]byte{})
	opts.Proofs.Get = provenKey
	b, err := Bind(context.Background(), schemas, "", []Fact{{Pred: "t", Path: path}}, opts)
	if err != nil {
		return nil, nil, err
	}
	if keep {
		b.KeepEncoded(1)
	}
	return Load(context.Background(), b, opts)
}

func provenKey(string) ([]byte, bool) {
	return encodeProof([]store.ColumnStats{{Min: 0, Max: 1 << 40, Distinct: 1}}), true
}

// TestNothingStaysEncoded loads a file in which a column could stay encoded,
// but ascends. The collector, which closes the files of encoded columns, must
// leave it alone until it is read.
func TestNothingStaysEncoded(t *testing.T) {
	var texts []string
	for i := range 4000 {
		texts = append(texts, fmt.Sprint("text ", i))
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	data := writeTexts(t, texts, 1000, parquet.WithDictionaryDefault(false))
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	opts := memoryProofs(map[string][]byte{})
	opts.Proofs.Get = provenKey
	opts.Threads = 1
	opts.Column = func(string, int, *store.Column) {
		goruntime.GC()
		time.Sleep(10 * time.Millisecond) // cleanups run beside
	}
	b, err := Bind(context.Background(), []store.Schema{storetest.Predicate(t, "t[s:string]=id:int")},
		"", []Fact{{Pred: "t", Path: path}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	b.KeepEncoded(1)
	db, report, err := Load(context.Background(), b, opts)
	if err != nil || db.Relation("t").Rows() != len(texts) || len(report.Files[0].Encoded) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

// checkEncoded compares what a device decodes of the columns of a database with
// what the host does, and returns how many columns both decoded.
func checkEncoded(t *testing.T, what string, db *store.Database) (both int) {
	t.Helper()
	for _, r := range db.Relations() {
		for i, c := range r.Columns() {
			if c.Encoded == nil || c.IsDecoded() {
				continue
			}
			device, deviceErr := decodeAsDevice(c)
			err := c.Decode(context.Background(), 2, nil, r.Name)
			if deviceErr != nil {
				continue // the host decides
			}
			if err != nil {
				t.Errorf("%s: a device decodes %s, the host says %v", what, r.Names()[i], err)
				continue
			}
			for row, entry := range device {
				if w := c.Word(row); w != c.Base+c.Step*int64(entry) {
					t.Fatalf("%s: row %d of %s is %d, a device has entry %d", what, row, r.Names()[i],
						w, entry)
				}
			}
			both++
		}
	}
	return both
}

// TestEncoded loads files of many shapes with columns that stay encoded, and
// without.
func TestEncoded(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 6))
	dir := t.TempDir()
	schemas := encodedSchemas(t)
	for i := range int(short.Count(t, 64, "files")) {
		rows := 2000 + rng.IntN(3000)
		groupRows := []int{700, 2500}[i/16%2]
		distinct := []int{2, 40, 900, 100_000}[rng.IntN(4)]
		repetition := []parquet.Repetition{parquet.Repetitions.Required,
			parquet.Repetitions.Optional}[i%2]
		props := []parquet.WriterProperty{
			parquet.WithCompression(encodedCodecs[i/2%len(encodedCodecs)]),
			parquet.WithDataPageVersion([]parquet.DataPageVersion{parquet.DataPageV1,
				parquet.DataPageV2}[i/4%2]),
			parquet.WithDictionaryDefault(i/8%2 == 0),
			parquet.WithDictionaryPageSizeLimit(2 << 10), parquet.WithBatchSize(64),
			parquet.WithDataPageSize([]int64{300, 1 << 20}[rng.IntN(2)]),
			parquet.WithPageIndexEnabled(rng.IntN(2) == 0),
		}
		if rng.IntN(2) == 0 {
			props = append(props, encodings...)
		}
		what := fmt.Sprintf("file %d", i)
		data := writeEncoded(t, rng, rows, groupRows, distinct, repetition, props...)
		path := WriteFile(t, dir, "t.parquet", string(data))
		want, _, err := loadEncoded(t, path, schemas, false)
		if err != nil {
			t.Fatal(err)
		}
		db, report, err := loadEncoded(t, path, schemas, true)
		if err != nil {
			t.Fatal(err)
		}
		f := &report.Files[0]
		if n := len(f.Encoded); n != encodedColumns || f.Undecoded() != n {
			t.Fatalf("%s: columns %v stay encoded", what, report.Files[0].Encoded)
		}
		first := db.Relation("t:i32").Table.Sample()
		if n := report.Files[0].Undecoded(); n != encodedColumns {
			t.Errorf("%s: the sample decodes %d columns", what, encodedColumns-n)
		}
		if n := checkEncoded(t, what, db); n != encodedColumns {
			t.Errorf("%s: a device decodes %d columns of %d", what, n, encodedColumns)
		}
		for _, s := range schemas {
			if !slices.Equal(sortedTuples(db.Relation(s.Name)),
				sortedTuples(want.Relation(s.Name))) {
				t.Errorf("%s: %s has other tuples", what, s.Name)
			}
		}
		for at, c := range db.Relation("t:i32").Table.Columns {
			if c.Absent {
				continue
			}
			got, other := first.Columns[at], c.Sample(first.Rows)
			if fmt.Sprint(got) != fmt.Sprint(other) {
				t.Errorf("%s: the sample of column %d is %v, and %v of all words", what, at, got,
					other)
			}
		}
	}
}

// TestEncodedOfOtherWriters loads files of other writers.
func TestEncodedOfOtherWriters(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.parquet")
	if err != nil {
		t.Fatal(err)
	}
	both, ofDuckDB := 0, 0
	for _, path := range files {
		before := both
		for _, predicate := range []string{"t:i32[id:int]=i32:int[32]", "t:i64[id:int]=i64:int",
			"t:d18[id:int]=d18:decimal[18,4]", "t:n[id:int]=n:int", "t:day[id:int]=day:datetime",
			"t:f64[id:int]=f64:float", "t:f32[id:int]=f32:float", "t:s[id:int]=s:string"} {
			schemas := []store.Schema{storetest.Predicate(t, predicate)}
			db, _, err := loadEncoded(t, path, schemas, true)
			if err != nil {
				continue // it has no such column
			}
			both += checkEncoded(t, path, db)
		}
		if strings.Contains(path, "testdata/encoded/duckdb") {
			ofDuckDB++
			if n := both - before; n != 14 { // each of 7 columns with id
				t.Errorf("%s: %d columns stay encoded", path, n)
			}
		}
	}
	if ofDuckDB != 2 {
		t.Errorf("there are %d files of DuckDB", ofDuckDB)
	}
}

// TestEncodedDamage changes bytes of files. What a device decodes without an
// error is what the host decodes.
func TestEncodedDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	dir := t.TempDir()
	schemas := [][]store.Schema{encodedSchemas(t),
		{storetest.Predicate(t, "t[id:int]=s:string")}}
	var wholes [][]byte // those of strings after the others
	const numbers = 24  // files
	for i := range numbers {
		repetition := []parquet.Repetition{parquet.Repetitions.Required,
			parquet.Repetitions.Optional}[i%2]
		props := []parquet.WriterProperty{
			parquet.WithCompression(encodedCodecs[i/2%len(encodedCodecs)]),
			parquet.WithDataPageVersion([]parquet.DataPageVersion{parquet.DataPageV1,
				parquet.DataPageV2}[i/4%2]), parquet.WithBatchSize(64),
			parquet.WithDataPageSize(200),
			parquet.WithDictionaryPageSizeLimit(100), parquet.WithPageIndexEnabled(false)}
		if i >= numbers/2 {
			props = append(append(props, encodings...), parquet.WithDictionaryDefault(false))
		}
		wholes = append(wholes, writeEncoded(t, rng, 300, 200, 30, repetition, props...))
	}
	for i := range 2 {
		wholes = append(wholes, writeTexts(t, slices.Repeat([]string{"b", "a", "text"}, 100), 150,
			parquet.WithBatchSize(64), parquet.WithDataPageSize(200),
			parquet.WithDataPageVersion([]parquet.DataPageVersion{parquet.DataPageV1,
				parquet.DataPageV2}[i])))
	}
	both := [2]int{}
	for i := range int(short.Count(t, 3000, "damaged files")) {
		data := slices.Clone(wholes[i%len(wholes)])
		switch {
		case i%3 == 0:
			data = mutate(rng, data)
		default: // within the pages
			end := len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
			for range 1 + rng.IntN(3) {
				data[4+rng.IntN(end-4)] = byte(rng.Uint32())
			}
		}
		path := WriteFile(t, dir, "t.parquet", string(data))
		of := i % len(wholes) / numbers
		db, _, err := loadEncoded(t, path, schemas[of], true)
		if err == nil {
			both[of] += checkEncoded(t, fmt.Sprintf("file %d", i), db)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if both[0] == 0 || both[1] == 0 {
		t.Errorf("of damaged files, %v columns were decoded", both)
	}
}

// TestEncodedWrongStatistics has statistics that one row contradicts, which no
// sample has: the row has no value, or one beyond the bounds. A device and the
// host notice, and the whole file is to be read again.
func TestEncodedWrongStatistics(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	const rows = 40_000
	odd := 0 // a row in a page without a row of the sample
	for _, row := range sampledWithNext(rows) {
		if int(row)-odd > 400 {
			odd = int(row) - 200
			break
		}
		odd = int(row)
	}
	for i := range 16 {
		isMissing := i%2 == 0
		props := []parquet.WriterProperty{
			parquet.WithCompression([]compress.Compression{compress.Codecs.Snappy,
				compress.Codecs.Uncompressed}[i/2%2]),
			parquet.WithDataPageVersion([]parquet.DataPageVersion{parquet.DataPageV1,
				parquet.DataPageV2}[i/4%2]),
			parquet.WithDictionaryDefault(i/8 == 0), parquet.WithBatchSize(64),
			parquet.WithDataPageSize(300)}
		var out bytes.Buffer
		w := file.NewParquetWriter(&out, schema.MustGroup(schema.NewGroupNode("schema",
			parquet.Repetitions.Required, schema.FieldList{
				schema.NewInt64Node("id", parquet.Repetitions.Required, -1),
				schema.NewInt64Node("n", parquet.Repetitions.Optional, -1)}, -1)),
			file.WithWriterProps(parquet.NewWriterProperties(props...)))
		group := appendGroup(t, w)
		var ids, values []int64
		var levels []int16
		for row := range rows {
			ids, levels = append(ids, int64(row)), append(levels, 1)
			switch {
			case row != odd:
				values = append(values, 100+rng.Int64N(100))
			case isMissing:
				levels[row] = 0
			default:
				values = append(values, 1<<40)
			}
		}
		for _, write := range []func(w *file.Int64ColumnChunkWriter) (int64, error){
			func(w *file.Int64ColumnChunkWriter) (int64, error) {
				return w.WriteBatch(ids, nil, nil)
			},
			func(w *file.Int64ColumnChunkWriter) (int64, error) {
				return w.WriteBatch(values, levels, nil)
			}} {
			column, err := group.NextColumn()
			if err == nil {
				_, err = write(column.(*file.Int64ColumnChunkWriter))
			}
			if err = errors.Join(err, column.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		path := WriteFile(t, t.TempDir(), "t.parquet", out.String())
		opts := memoryProofs(map[string][]byte{})
		opts.Proofs.Get = func(string) ([]byte, bool) {
			return encodeProof([]store.ColumnStats{{Min: 0, Max: rows - 1, Distinct: rows}}), true
		}
		s := storetest.Predicate(t, "t[id:int]=n:int")
		b, err := Bind(context.Background(), []store.Schema{s}, "", []Fact{{Pred: "t", Path: path}},
			opts)
		if err != nil {
			t.Fatal(err)
		}
		b.KeepEncoded(1)
		stats := b.Sources[0].footer.Groups[0].Chunks[1].Meta.Statistics
		if isMissing {
			stats.Nulls = new(int64)
		} else {
			stats.Max = binary.LittleEndian.AppendUint64(nil, 199)
		}
		db, _, err := Load(context.Background(), b, opts)
		if err != nil {
			t.Fatal(err)
		}
		c := db.Relation("t").Column(1)
		if c.Encoded == nil || c.IsDecoded() {
			t.Fatalf("file %d: the column does not stay encoded", i)
		}
		if _, err := decodeAsDevice(c); err == nil {
			t.Errorf("file %d: a device notices nothing", i)
		}
		if err := c.Decode(context.Background(), 2, nil, "t"); !IsUnread(err) {
			t.Errorf("file %d: the host says %v", i, err)
		}
		// Without the statistics, all rows are there that have a value.
		db, _, err = Load(context.Background(), b.Left(), opts)
		want := rows
		if isMissing {
			want--
		}
		if err != nil || db.Relation("t").Rows() != want {
			t.Errorf("file %d: %d rows, %v", i, db.Relation("t").Rows(), err)
		}
	}
}

// writeTexts returns a file of numbered strings in row groups.
func writeTexts(t *testing.T, texts []string, groupRows int,
	props ...parquet.WriterProperty) []byte {
	t.Helper()
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, schema.MustGroup(schema.NewGroupNode("schema",
		parquet.Repetitions.Required, schema.FieldList{
			schema.NewInt64Node("id", parquet.Repetitions.Required, -1),
			schema.MustPrimitive(schema.NewPrimitiveNodeLogical("s", parquet.Repetitions.Optional,
				schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1))}, -1)),
		file.WithWriterProps(parquet.NewWriterProperties(props...)))
	for from := 0; from < len(texts); from += groupRows {
		group := appendGroup(t, w)
		var ids []int64
		var values []parquet.ByteArray
		for row := from; row < min(from+groupRows, len(texts)); row++ {
			ids, values = append(ids, int64(row)), append(values, parquet.ByteArray(texts[row]))
		}
		column, err := group.NextColumn()
		if err == nil {
			_, err = column.(*file.Int64ColumnChunkWriter).WriteBatch(ids, nil, nil)
		}
		if err = errors.Join(err, column.Close()); err != nil {
			t.Fatal(err)
		}
		if column, err = group.NextColumn(); err == nil {
			_, err = column.(*file.ByteArrayColumnChunkWriter).WriteBatch(values,
				slices.Repeat([]int16{1}, len(values)), nil)
		}
		if err = errors.Join(err, column.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestEncodedStrings loads strings that stay encoded, and puts them into other
// dictionaries.
func TestEncodedStrings(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	dir := t.TempDir()
	schemas := []store.Schema{storetest.Predicate(t, "t[id:int]=s:string")}
	for i := range 16 {
		distinct := []int{2, 7, 40, 300}[rng.IntN(4)]
		texts := make([]string, 4000) // whole row groups: writers use dictionaries
		for row := range texts {
			n := rng.IntN(distinct)
			if row < 1000 {
				n %= 2 // chunks have other dictionaries
			}
			texts[row] = fmt.Sprintf("%x text", n*37)
		}
		data := writeTexts(t, texts, 800, parquet.WithBatchSize(50), parquet.WithDataPageSize(400),
			parquet.WithCompression(encodedCodecs[i%len(encodedCodecs)]),
			parquet.WithDataPageVersion([]parquet.DataPageVersion{parquet.DataPageV1,
				parquet.DataPageV2}[i/2%2]))
		path := WriteFile(t, dir, "t.parquet", string(data))
		db, report, err := loadEncoded(t, path, schemas, true)
		if err != nil {
			t.Fatal(err)
		}
		c := db.Relation("t").Column(1)
		if c.IsDecoded() || report.Files[0].Undecoded() != 2 {
			t.Fatalf("file %d: strings do not stay encoded", i)
		}
		// A dictionary with more strings, one in another order, and the same.
		more, remaps := store.MergeDicts([]*store.Dict{c.Dict}, []string{"3 text", "zz", ""})
		permuted := rng.Perm(c.Dict.Len())
		var order []uint32
		for _, at := range permuted {
			order = append(order, uint32(at+2))
		}
		for k, other := range []*store.Column{c, c.WithDict(more, remaps[0], 2),
			c.WithDict(nil, order, 2), c.WithDict(c.Dict, nil, 2)} {
			device, err := decodeAsDevice(other)
			if err != nil {
				t.Fatal(err)
			}
			if other.IsDecoded() {
				t.Errorf("file %d, %d: it is decoded", i, k)
			}
			for row, text := range texts {
				w := other.Base + int64(device[row])
				if got := other.Word(row); got != w {
					t.Fatalf("file %d, %d: row %d is %d, a device has %d", i, k, row, got, w)
				}
				if other.Dict == nil {
					at, _ := c.Dict.Lookup(text)
					if w != int64(order[at]) {
						t.Fatalf("file %d: row %d has code %d", i, row, w)
					}
				} else if got := other.Value(row).Str(); got != text {
					t.Fatalf("file %d, %d: row %d is %q, not %q", i, k, row, got, text)
				}
			}
			if least, most := other.Stats.Min, other.Stats.Max; least != other.Base ||
				uint64(most-least) < other.Encoded.Values().Span {
				t.Errorf("file %d, %d: bounds %d and %d", i, k, least, most)
			}
		}
	}
}

// TestDecodedStrings has strings that do not stay encoded: too many different
// ones, some that are no texts, one only, and pages without a dictionary.
func TestDecodedStrings(t *testing.T) {
	long := make([]string, 20_000)
	for i := range long {
		long[i] = fmt.Sprintf("text %d", i)
	}
	few := slices.Repeat([]string{"b", "a"}, 700)
	for name, c := range map[string]struct {
		texts []string
		props []parquet.WriterProperty
	}{
		"many":  {long, nil},
		"bad":   {append(slices.Clone(few), "b\xff"), nil},
		"one":   {slices.Repeat([]string{"a"}, 1000), nil},
		"plain": {few, []parquet.WriterProperty{parquet.WithDictionaryDefault(false)}},
		"both": {slices.Concat(few, long[:600]), []parquet.WriterProperty{
			parquet.WithDictionaryPageSizeLimit(100), parquet.WithBatchSize(50)}},
	} {
		path := WriteFile(t, t.TempDir(), "t.parquet",
			string(writeTexts(t, c.texts, len(c.texts), c.props...)))
		schemas := []store.Schema{storetest.Predicate(t, "t[id:int]=s:string")}
		_, report, err := loadEncoded(t, path, schemas, true)
		if slices.Contains(report.Files[0].Encoded, "s") || (err == nil) != (name != "bad") {
			t.Errorf("%s: %v, %v", name, report.Files[0].Encoded, err)
		}
	}
}

// TestEncodedPartners joins a file with a longer one, and selects rows of it.
// The selection counts where the host decodes the longer file.
func TestEncodedPartners(t *testing.T) {
	const few, many = 2000, 10_000
	for name, c := range map[string]struct {
		codec    compress.Compression // of the longer file
		selected bool
	}{
		"the GPU decodes both":     {compress.Codecs.Snappy, false},
		"the host decodes the one": {compress.Codecs.Gzip, true},
	} {
		dir := t.TempDir()
		write := func(file string, rows int, codec compress.Compression) Fact {
			ids, values := make([]int64, rows), make([]int64, rows)
			for i := range ids {
				ids[i], values[i] = int64(i), int64(i%few)
			}
			return Fact{Pred: file, Path: WriteFile(t, dir, file+".parquet",
				string(writePairs(t, ids, values, parquet.WithCompression(codec))))}
		}
		facts := []Fact{write("short", few, compress.Codecs.Snappy), write("long", many, c.codec)}
		opts := memoryProofs(map[string][]byte{})
		opts.Proofs.Get = provenKey
		b, err := Bind(context.Background(), []store.Schema{
			storetest.Predicate(t, "short[id:int]=v:int"),
			storetest.Predicate(t, "long[id:int]=v:int")}, "", facts, opts)
		if err != nil {
			t.Fatal(err)
		}
		b.Ask(func(pred string, arg int) *Test {
			if pred == "short" && arg == 1 {
				return &Test{Range: true, Least: 0, Most: 99}
			}
			return nil
		})
		b.Join(func(pred string, arg int) []Partner {
			switch (Partner{pred, arg}) {
			case Partner{"short", 0}:
				return []Partner{{"long", 1}}
			case Partner{"long", 1}:
				return []Partner{{"short", 0}}
			}
			return nil
		})
		b.KeepEncoded(1)
		db, report, err := Load(context.Background(), b, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Files {
			if f.Selected != c.selected || (len(f.Encoded) == 0) != c.selected {
				t.Errorf("%s: %s is selected: %v, encoded: %v", name, f.File, f.Selected, f.Encoded)
			}
		}
		want := [2]int{few, many}
		if c.selected {
			want = [2]int{100, 100 * many / few}
		}
		if got := [2]int{db.Relation("short").Rows(), db.Relation("long").Rows()}; got != want {
			t.Errorf("%s: %d rows, want %d", name, got, want)
		}
	}
}

// TestEncodedBeforeProof loads files whose keys no process has proven. A key in
// order stays encoded, once row groups have shown that it is one.
func TestEncodedBeforeProof(t *testing.T) {
	const rows = 3000
	for name, c := range map[string]struct {
		id      func(row int64) int64
		encoded []string
		fails   bool
	}{
		"in order": {func(row int64) int64 { return 3 * row }, []string{"id", "v"}, false},
		"mixed":    {func(row int64) int64 { return 7 * row % rows }, []string{"v"}, false},
		"repeated": {func(row int64) int64 { return row / 2 }, nil, true},
	} {
		ids, values := make([]int64, rows), make([]int64, rows)
		for i := range ids {
			ids[i], values[i] = c.id(int64(i)), int64(i%70)
		}
		dir := t.TempDir()
		path := WriteFile(t, dir, "t.parquet", string(writePairs(t, ids, values)))
		proofs := map[string][]byte{}
		opts := memoryProofs(proofs)
		schemas := []store.Schema{storetest.Predicate(t, "t[id:int]=v:int")}
		b, err := Bind(context.Background(), schemas, "", []Fact{{Pred: "t", Path: path}}, opts)
		if err != nil {
			t.Fatal(err)
		}
		b.KeepEncoded(1)
		db, report, err := Load(context.Background(), b, opts)
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		if got := report.Files[0].Encoded; !slices.Equal(got, c.encoded) || len(proofs) != 1 {
			t.Errorf("%s: %v stay encoded, with %d proofs", name, got, len(proofs))
		}
		for row := range rows {
			r := db.Relation("t")
			if got := [2]int64{r.Column(0).Word(row), r.Column(1).Word(row)}; got !=
				[2]int64{ids[row], values[row]} {
				t.Fatalf("%s: row %d is %v", name, row, got)
			}
		}
	}
}

// writePairs returns a file of the columns id and v.
func writePairs(t *testing.T, ids, values []int64, props ...parquet.WriterProperty) []byte {
	t.Helper()
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, schema.MustGroup(schema.NewGroupNode("schema",
		parquet.Repetitions.Required, schema.FieldList{
			schema.NewInt64Node("id", parquet.Repetitions.Required, -1),
			schema.NewInt64Node("v", parquet.Repetitions.Required, -1)}, -1)),
		file.WithWriterProps(parquet.NewWriterProperties(props...)))
	group := appendGroup(t, w)
	for _, words := range [][]int64{ids, values} {
		column, err := group.NextColumn()
		if err == nil {
			_, err = column.(*file.Int64ColumnChunkWriter).WriteBatch(words, nil, nil)
		}
		if err = errors.Join(err, column.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// appendGroup begins a row group.
func appendGroup(t testing.TB, w *file.Writer) file.SerialRowGroupWriter {
	t.Helper()
	group, err := w.AppendRowGroupChecked()
	if err != nil {
		t.Fatal(err)
	}
	return group
}
