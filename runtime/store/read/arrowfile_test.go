package read

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
)

// arrowBytes writes rows of JSON as an Arrow file or stream, in records of two.
func arrowBytes(
	t testing.TB, fields []arrow.Field, rows []string, stream bool, opts ...ipc.Option,
) []byte {
	t.Helper()
	schema := arrow.NewSchema(fields, nil)
	var b bytes.Buffer
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	} = ipc.NewWriter(&b, append(opts, ipc.WithSchema(schema), ipc.WithDictionaryDeltas(true))...)
	if !stream {
		b.Reset()
		var err error
		w, err = ipc.NewFileWriter(&b, append(opts, ipc.WithSchema(schema))...)
		if err != nil {
			t.Fatal(err)
		}
	}
	var records []arrow.RecordBatch
	for at := 0; at < len(rows); at += 2 {
		text := "[" + strings.Join(rows[at:min(at+2, len(rows))], ",") + "]"
		rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema,
			strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, rec)
	}
	for _, rec := range records {
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// numbersAndNames has columns of which readers make two predicates: one is a
// dictionary, one a member of a struct.
var numbersAndNames = []arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Int32},
	{Name: "kind", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
		ValueType: arrow.BinaryTypes.String}, Nullable: true},
	{Name: "at", Type: arrow.StructOf(
		arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		arrow.Field{Name: "y", Type: arrow.FixedWidthTypes.Date32, Nullable: true}), Nullable: true},
	{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64), Nullable: true},
	{Name: "none", Type: arrow.Null, Nullable: true},
}

var numbersAndNamesRows = []string{
	`{"id": 1, "kind": "a", "at": {"x": 5, "y": "2024-01-02"}, "list": [1]}`,
	`{"id": 2, "kind": "b", "at": {"x": null, "y": null}, "list": []}`,
	`{"id": 3, "kind": null, "at": null, "list": null}`,
	`{"id": 4, "kind": "a", "at": {"x": 7, "y": "1970-01-01"}, "list": [2, 3]}`,
	`{"id": 5, "kind": "b", "at": {"x": 8, "y": "2024-02-03"}, "list": [2, 3]}`,
}

func TestArrowFiles(t *testing.T) {
	schemas := []store.Schema{storetest.Predicate(t, "t:kind[id:int]=kind:string"),
		storetest.Predicate(t, "t:x[id:int]=x:int"),
		storetest.Predicate(t, "t:none[id:int]=none:string")}
	x := schemas[1]
	for _, stream := range []bool{false, true} {
		for name, opts := range map[string][]ipc.Option{"plain": nil, "LZ4": {ipc.WithLZ4()},
			"Zstandard": {ipc.WithZstd()}} {
			rows := numbersAndNamesRows
			if !stream { // its writer wants one dictionary
				rows = append(rows[:2:2], rows[3:]...)
			}
			data := arrowBytes(t, numbersAndNames, rows, stream, opts...)
			facts := []Fact{{Pred: "t:kind", Path: "t", Format: Arrow, Reader: bytes.NewReader(data)},
				{Pred: "t:none", Path: "t", Format: Arrow, Reader: bytes.NewReader(data)},
				{Pred: "t:x", Path: "t", Format: Arrow, Reader: bytes.NewReader(data),
					Columns: []string{"id", "at.x"}}}
			b, err := Bind(context.Background(), schemas, "", facts, Options{})
			if err != nil {
				t.Fatal(err)
			}
			db, _, err := Load(context.Background(), b, Options{Threads: 2})
			if err != nil {
				t.Fatalf("%s, stream %v: %v", name, stream, err)
			}
			kinds := `1 "a"; 2 "b"; 4 "a"; 5 "b"`
			if got := strings.Join(sortedTuples(db.Relation("t:kind")), "; "); got != kinds {
				t.Errorf("%s, stream %v: kinds %s", name, stream, got)
			}
			if got := strings.Join(sortedTuples(db.Relation(x.Name)), "; "); got != "1 5; 4 7; 5 8" {
				t.Errorf("%s, stream %v: x %s", name, stream, got)
			}
			if n := db.Relation("t:none").Rows(); n != 0 {
				t.Errorf("%s, stream %v: %d values of a column of nulls", name, stream, n)
			}
		}
	}
}

// TestArrowRefused holds the messages about columns and files that are not
// read.
func TestArrowRefused(t *testing.T) {
	data := arrowBytes(t, numbersAndNames, numbersAndNamesRows, true)
	for _, c := range []struct {
		pred, columns, says string
		data                []byte
	}{
		{"p(id:int; kind:string)", "id, kind",
			"row 3: column 2 (kind): the value is missing (NULL)", data},
		{"p(id:int; list:int)", "id, list", "a column of Arrow type list", data},
		{"p(id:int; kind:int)", "id, kind", "the declared type is int", data},
		{"p(id:int[8])", "at.x", "column 3 (at.x): the value is missing", data},
		{"p(id:int)", "id", "truncated", data[:len(data)/2/8*8+3]},
		{"p(id:int)", "id", "bytes follow the end", append(slices.Clone(data), data...)},
		{"p(id:int)", "id", "this is text", []byte("id\n1\n2\n3\n4\n5\n6\n7\n8\n")},
		{"p(id:int)", "id", "this is a Parquet file", []byte("PAR1 and so on, and so on")},
	} {
		s := storetest.Predicate(t, c.pred)
		_, err := tryLoad(s, Fact{Pred: "p", Path: "f.arrow", Format: Arrow,
			Reader: bytes.NewReader(c.data), Columns: strings.Split(c.columns, ", ")}, Options{})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s of %s: %v", c.pred, c.columns, err)
		}
	}
}

func FuzzArrow(f *testing.F) {
	for _, stream := range []bool{false, true} {
		rows := append(numbersAndNamesRows[:2:2], numbersAndNamesRows[3:]...)
		f.Add(arrowBytes(f, numbersAndNames, rows, stream))
		f.Add(arrowBytes(f, numbersAndNames, rows, stream, ipc.WithLZ4()))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, columns := range [][]string{{"id", "kind"}, {"id", "at.y"}} {
			pred := "p[a:int]=b:string"
			if columns[1] == "at.y" {
				pred = "p[a:int]=b:datetime"
			}
			loadBytes(t, storetest.Predicate(t, pred), Fact{Reader: bytes.NewReader(data),
				Format: Arrow, Columns: columns}, Options{Threads: 2})
		}
	})
}
