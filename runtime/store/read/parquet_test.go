package read

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

// The files of testdata/parquet hold the same 120 rows, as pyarrow and DuckDB
// write them with different encodings, codecs, page versions and physical
// types. Column f64 is missing in twelve rows.
const parquetColumns = "id:int; i8:int[8]; i16:int[16]; i32:int[32]; i64:int; u8:uint[8]; u16:uint[16]; u32:uint[32]; u64:uint; b:boolean; f32:float[32]; d9:decimal[18,2]; d18:decimal[18,4]; d38:decimal[18,3]; day:datetime; ts:datetime; s:string"

func TestParquetOfOtherWriters(t *testing.T) {
	expected, err := os.ReadFile("testdata/parquet/expected.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var lines, values []string
	for _, line := range strings.Split(strings.TrimSuffix(string(expected), "\n"), "\n") {
		fields := strings.Split(line, "\t")
		if fields[11] != "" {
			values = append(values, fields[0]+"\t"+fields[11])
		}
		lines = append(lines, strings.Join(slices.Delete(fields, 11, 12), "\t"))
	}
	slices.Sort(lines)
	slices.Sort(values)
	files, err := filepath.Glob("testdata/parquet/*.parquet")
	if err != nil || len(files) < 8 {
		t.Fatalf("files %v: %v", files, err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".parquet"), func(t *testing.T) {
			schemas := []store.Schema{storetest.Predicate(t, "all("+parquetColumns+")"),
				storetest.Predicate(t, "all:f64[id:int]=v:float"),
				storetest.Predicate(t, "all:s[id:int]=s:string")}
			for _, threads := range []int{1, 3} {
				opts := Options{Threads: threads}
				b, err := Bind(context.Background(), schemas, "",
					[]Fact{{Pred: "all", Path: path}}, opts)
				if err != nil {
					t.Fatal(err)
				}
				db, _, err := Load(context.Background(), b, opts)
				if err != nil {
					t.Fatal(err)
				}
				if got := tsvLines(t, db.Relation("all")); !slices.Equal(got, lines) {
					t.Errorf("rows differ: %s", firstDifference(got, lines))
				}
				if got := tsvLines(t, db.Relation("all:f64")); !slices.Equal(got, values) {
					t.Errorf("values differ: %s", firstDifference(got, values))
				}
				if db.Relation("all").Table != db.Relation("all:s").Table {
					t.Error("predicates of one file do not share its table")
				}
			}
		})
	}
}

func tsvLines(t *testing.T, r *store.Relation) []string {
	t.Helper()
	var b bytes.Buffer
	if err := write.Rows(&b, write.Of(r), write.TSV, write.Options{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	slices.Sort(lines)
	return lines
}

func firstDifference(got, want []string) string {
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			return strings.Join(append(slices.Clone(got[min(i, len(got)):min(i+1, len(got))]),
				want[i]),
				" WANT ")
		}
	}
	return "more rows than expected"
}

// TestParquetConversions reads columns as other types than they are written in.
func TestParquetConversions(t *testing.T) {
	for _, c := range []struct {
		pred string
		skip bool
		want string // first tuple, or error
	}{
		{"all(id:int; i8:int)", false, "0 0"},
		{"all(id:decimal[18,3]; u8:uint[64])", false, "0.000 255:uint"},
		{"all(id:float; b:boolean)", false, "0f true"},
		{"all(id:int; d9:decimal[18,4])", false, ""},
		{"all(id:int; d9:decimal[18,1])", false,
			"row 1: column 13 (d9): the value has digits that a decimal[18,1] cannot hold"},
		{"all(id:int; i64:int[32])", false,
			"row 2: column 5 (i64): -9223372036854775808 is not an int[32]"},
		{"all(id:int; u64:int)", false,
			"row 2: column 9 (u64): 18446744073709551615 is not an int"},
		{"all(id:int; i8:uint)", false, "row 10: column 2 (i8): -128 is not a uint"},
		{"all(id:int; i64:decimal[18,2])", false,
			"row 2: column 5 (i64): the value is too large for a decimal[18,2]"},
		{"all(id:int; f64:float)", false, "row 4: column 12 (f64): the value is missing (NULL)"},
		{"all(id:int; s:int)", false,
			"column 18 (s): the file has String, the declared type is int"},
		{"all(id:int; day:string)", false,
			"column 16 (day): the file has Date, the declared type is string"},
		{"all(id:int; f64:decimal[18,2])", false,
			"column 12 (f64): the file has DOUBLE, the declared type is decimal[18,2]"},
		{"all(id:int; nope:int)", false, "there is no column nope for all"},
	} {
		s := storetest.Predicate(t, c.pred)
		b, err := Bind(context.Background(), []store.Schema{s}, "", []Fact{{Pred: "all",
			Path: "testdata/parquet/arrow-plain.parquet"}}, Options{})
		var db *store.Database
		if err == nil {
			db, _, err = Load(context.Background(), b, Options{})
		}
		if err != nil {
			var le *LoadError
			if !errors.As(err, &le) {
				t.Errorf("%s: %T, not a LoadError", c.pred, err)
			}
			if c.want == "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error\n%s\nwant\n%s", c.pred, err, c.want)
			}
			continue
		}
		if got := storetest.Tuples(db.Relation("all"))[0]; c.want != "" && got != c.want {
			t.Errorf("%s: first tuple %s, want %s", c.pred, got, c.want)
		}
	}
}

func TestParquetSkipsMalformedRows(t *testing.T) {
	s := storetest.Predicate(t, "all(id:int; f64:float)")
	opts := Options{OnError: Skip}
	b, err := Bind(context.Background(), []store.Schema{s}, "", []Fact{{Pred: "all",
		Path: "testdata/parquet/arrow-plain.parquet"}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	db, report, err := Load(context.Background(), b, opts)
	if err != nil {
		t.Fatal(err)
	}
	f := report.Files[0]
	if db.Relation("all").Rows() != 108 || f.Skipped != 12 || len(f.Examples) != maxExamples ||
		f.Examples[1].Row != 14 {
		t.Errorf("%d rows, report %+v", db.Relation("all").Rows(), f)
	}
}

func TestParquetKeyError(t *testing.T) {
	s := storetest.Predicate(t, "p[b:boolean]=id:int")
	_, err := tryLoad(s, Fact{Pred: "p", Path: "testdata/parquet/arrow-plain.parquet"}, Options{})
	var key *KeyError
	if !errors.As(err, &key) || !strings.Contains(err.Error(), "p[true] has two values: ") ||
		!strings.Contains(err.Error(), "and 0 in row 1") {
		t.Errorf("got %v", err)
	}
}

func tryLoad(s store.Schema, f Fact, opts Options) (*store.Relation, error) {
	b, err := Bind(context.Background(), []store.Schema{s}, "", []Fact{f}, opts)
	if err != nil {
		return nil, err
	}
	db, _, err := Load(context.Background(), b, opts)
	if err != nil {
		return nil, err
	}
	return db.Relation(s.Name), nil
}

// TestParquetNested refuses lists and reads the fields of a struct.
func TestParquetNested(t *testing.T) {
	required := parquet.Repetitions.Required
	list := schema.NewInt64Node("list", parquet.Repetitions.Repeated, -1)
	inner := schema.MustGroup(schema.NewGroupNode("s", parquet.Repetitions.Optional,
		schema.FieldList{schema.NewInt64Node("x", required, -1)}, -1))
	root := schema.MustGroup(schema.NewGroupNode("schema", required, schema.FieldList{list, inner},
		-1))
	var b bytes.Buffer
	w := file.NewParquetWriter(&b, root)
	g, err := w.AppendRowGroupChecked()
	if err != nil {
		t.Fatal(err)
	}
	c, err := g.NextColumn()
	if err != nil {
		t.Fatal(err)
	}
	c.(*file.Int64ColumnChunkWriter).WriteBatch([]int64{1, 2}, []int16{1, 1}, []int16{0, 0})
	c.Close()
	c, err = g.NextColumn()
	if err != nil {
		t.Fatal(err)
	}
	c.(*file.Int64ColumnChunkWriter).WriteBatch([]int64{7}, []int16{0, 1}, nil)
	c.Close()
	g.Close()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	open := func(columns ...string) Fact {
		return Fact{Pred: "p", Path: "nested.parquet", Reader: bytes.NewReader(b.Bytes()),
			Columns: columns}
	}
	if _, err := tryLoad(storetest.Predicate(t, "p(x:int)"), open("list"), Options{}); err == nil ||
		!strings.Contains(err.Error(), "lists") {
		t.Errorf("a list was read: %v", err)
	}
	r, err := tryLoad(storetest.Predicate(t, "p[]=x:int"), open("s.x"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := storetest.Tuples(r); len(got) != 1 || got[0] != "7" {
		t.Errorf("read %v, want 7 only", got)
	}
}

func TestWideDecimalsInParquet(t *testing.T) {
	s := storetest.Predicate(t, "p(x:decimal[18,2])")
	want := []scalar.Value{scalar.OfDecimal(2, -9223372036854775808), scalar.OfDecimal(2, -1),
		scalar.OfDecimal(2, 0), scalar.OfDecimal(2, 9223372036854775807)}
	r, err := FromSlices(s, want)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := write.Rows(&b, write.Of(r), write.Parquet, write.Options{}); err != nil {
		t.Fatal(err)
	}
	back := loadReader(t, s, Fact{Reader: &b, Format: Parquet}, Options{})
	for i, v := range want {
		if back.Column(0).Value(i) != v {
			t.Errorf("row %d is %v, want %v", i, back.Column(0).Value(i), v)
		}
	}
}

// TestDecimalsOf38Digits reads decimals of any scale and physical type into a
// wide column, and refuses those that it cannot hold, whole, with the user's
// words.
func TestDecimalsOf38Digits(t *testing.T) {
	for _, c := range []struct {
		from, to, text, want string
	}{
		{"decimal[18,2]", "decimal[38,4]", "-1.25", "-1.2500:decimal[38,4]"},
		{"decimal[38,4]", "decimal[38,2]", "12345678901234567890123.2500",
			"12345678901234567890123.25:decimal[38,2]"},
		{"decimal[38,4]", "decimal[38,2]", "0.0001",
			"the value has digits that a decimal[38,2] cannot hold"},
		{"decimal[38,0]", "decimal[38,2]", "1234567890123456789012345678901234567",
			"the value is too large for a decimal[38,2]"},
		{"decimal[38,2]", "decimal[18,2]", "12345678901234567890.00",
			"the value is too large for a decimal[18,2]"},
		{"decimal[38,2]", "decimal[18,2]", "-7.00", "-7.00"},
		{"int", "decimal[38,2]", "-9223372036854775808", "-9223372036854775808.00:decimal[38,2]"},
		{"uint", "decimal[38,2]", "18446744073709551615", "18446744073709551615.00:decimal[38,2]"},
		{"string", "decimal[38,2]", "1",
			"column 1 (x): the file has String, the declared type is decimal[38,2]"},
	} {
		from, to := storetest.Predicate(t, "p(x:"+c.from+")"), storetest.Predicate(t,
			"p(x:"+c.to+")")
		r := loadReader(t, from, Fact{Reader: strings.NewReader(c.text + "\n"), Format: TSV},
			Options{})
		var b bytes.Buffer
		if err := write.Rows(&b, write.Of(r), write.Parquet, write.Options{}); err != nil {
			t.Fatal(err)
		}
		rec, err := write.ToArrow(write.Of(r))
		if err != nil {
			t.Fatal(err)
		}
		back, err := tryLoad(to, Fact{Pred: "p", Path: "p.parquet", Reader: &b, Format: Parquet},
			Options{})
		record, errArrow := FromArrow(to, rec)
		rec.Release()
		for i, got := range []*store.Relation{back, record} {
			if err := []error{err, errArrow}[i]; err != nil {
				if !strings.HasPrefix(err.Error(), "p") {
					t.Errorf("%v: %v does not begin with the file or the predicate", c, err)
				}
				if want := strings.ReplaceAll(c.want, "the file has String",
					[]string{"the file has String",
						"the Arrow column is utf8"}[i]); !strings.Contains(err.Error(),
					want) {
					t.Errorf("%v: %v", c, err)
				}
			} else if text := storetest.Tuples(got); len(text) != 1 || text[0] != c.want {
				t.Errorf("%v: read %v", c, text)
			}
		}
	}
}

// TestParquetMissingValues reads a column in which the first or all values are
// missing, with another column of its file. Each word of the shared table has a
// value, also for rows without one: samples look at all of them.
func TestParquetMissingValues(t *testing.T) {
	optional := func(logical schema.LogicalType, physical parquet.Type) schema.Node {
		const name = "v"
		repetition := parquet.Repetitions.Optional
		return schema.Must(schema.NewPrimitiveNodeLogical(name, repetition, logical, physical, -1,
			-1))
	}
	for typ, node := range map[string]schema.Node{
		"string":        optional(schema.StringLogicalType{}, parquet.Types.ByteArray),
		"int":           optional(schema.NoLogicalType{}, parquet.Types.Int64),
		"float":         optional(schema.NoLogicalType{}, parquet.Types.Double),
		"boolean":       optional(schema.NoLogicalType{}, parquet.Types.Boolean),
		"decimal[38,2]": optional(schema.NewDecimalLogicalType(18, 2), parquet.Types.Int64),
		"datetime":      optional(schema.DateLogicalType{}, parquet.Types.Int32),
	} {
		for _, present := range []int{0, 1, 3} { // row groups with values, the last ones
			for _, threads := range []int{1, 3} {
				schemas := []store.Schema{storetest.Predicate(t, "t:k(k:int)"),
					storetest.Predicate(t, "t:v[k:int]=v:"+typ)}
				file := bytes.NewReader(missingValues(t, node, present))
				b, err := Bind(context.Background(), schemas, "",
					[]Fact{{Pred: "t", Path: "t.parquet", Reader: file}},
					Options{})
				if err != nil {
					t.Fatal(err)
				}
				db, _, err := Load(context.Background(), b, Options{Threads: threads})
				if err != nil {
					t.Fatalf("%s: %v", typ, err)
				}
				keys, values := db.Relation("t:k").Rows(), db.Relation("t:v").Rows()
				if keys != 4*missingRows || values != present*missingRows {
					t.Errorf("%s: %d keys and %d values, want %d and %d",
						typ, keys, values, 4*missingRows, present*missingRows)
				}
				for _, r := range db.Relations() {
					for _, c := range r.Table.Columns {
						for i := range c.Len() {
							c.Value(i)
						}
					}
				}
			}
		}
	}
}

const missingRows = 50

// missingValues returns a file of four row groups with a key k and a column, of
// which only the last row groups have values.
func missingValues(t *testing.T, column schema.Node, present int) []byte {
	t.Helper()
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required,
		schema.FieldList{schema.NewInt64Node("k", parquet.Repetitions.Required, -1), column}, -1))
	var b bytes.Buffer
	w := file.NewParquetWriter(&b, root)
	for group := range 4 {
		keys, levels := make([]int64, missingRows), make([]int16, missingRows)
		for i := range keys {
			keys[i] = int64(group*missingRows + i)
			if group >= 4-present {
				levels[i] = 1
			}
		}
		g, err := w.AppendRowGroupChecked()
		if err != nil {
			t.Fatal(err)
		}
		c, err := g.NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		c.(*file.Int64ColumnChunkWriter).WriteBatch(keys, nil, nil)
		c.Close()
		if c, err = g.NextColumn(); err != nil {
			t.Fatal(err)
		}
		switch c := c.(type) {
		case *file.ByteArrayColumnChunkWriter:
			texts := make([]parquet.ByteArray, missingRows)
			for i := range texts {
				texts[i] = []byte{byte('a' + i%7)}
			}
			c.WriteBatch(texts, levels, nil)
		case *file.Int64ColumnChunkWriter:
			c.WriteBatch(keys, levels, nil)
		case *file.Int32ColumnChunkWriter:
			c.WriteBatch(make([]int32, missingRows), levels, nil)
		case *file.Float64ColumnChunkWriter:
			c.WriteBatch(make([]float64, missingRows), levels, nil)
		case *file.BooleanColumnChunkWriter:
			c.WriteBatch(make([]bool, missingRows), levels, nil)
		}
		c.Close()
		g.Close()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
