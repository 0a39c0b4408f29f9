package read

import (
	"bytes"
	"database/sql/driver"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/redfoxdb/redfox/internal/sqlite"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
)

// withoutValue has the same three rows in each format. The second has no v.
func withoutValue(t *testing.T) map[Format][]byte {
	t.Helper()
	out := map[Format][]byte{
		CSV:  []byte("id,v\n1,10\n2,\n3,30\n"),
		TSV:  []byte("id\tv\n1\t10\n2\t\n3\t30\n"),
		JSON: []byte(`[{"id":1,"v":10},{"id":2,"v":null},{"id":3,"v":30}]`),
		Arrow: arrowBytes(t, []arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64},
			{Name: "v", Type: arrow.PrimitiveTypes.Int64, Nullable: true}},
			[]string{`{"id":1,"v":10}`, `{"id":2,"v":null}`, `{"id":3,"v":30}`}, false),
	}
	path := filepath.Join(t.TempDir(), "t.sqlite")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	add, end, err := db.Table("p", []sqlite.Column{{Name: "id"}, {Name: "v"}})
	for _, row := range [][]driver.Value{{int64(1), int64(10)}, {int64(2), nil},
		{int64(3), int64(30)}} {
		if err == nil {
			err = add(row)
		}
	}
	if err := errors.Join(err, end(), db.Close(true)); err != nil {
		t.Fatal(err)
	}
	if out[SQLite], err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required,
		schema.FieldList{schema.NewInt64Node("id", parquet.Repetitions.Required, -1),
			schema.NewInt64Node("v", parquet.Repetitions.Optional, -1)}, -1))
	var b bytes.Buffer
	w := file.NewParquetWriter(&b, root)
	group, err := w.AppendRowGroupChecked()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ values, levels []int64 }{{[]int64{1, 2, 3}, nil},
		{[]int64{10, 30}, []int64{1, 0, 1}}} {
		column, err := group.NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		var levels []int16
		for _, l := range c.levels {
			levels = append(levels, int16(l))
		}
		_, err = column.(*file.Int64ColumnChunkWriter).WriteBatch(c.values, levels, nil)
		if err := errors.Join(err, column.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(group.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	out[Parquet] = b.Bytes()
	return out
}

// TestMissingValues holds that a missing value means the same in each format:
// no value of a function, and the error of a relation, whose help has the
// declaration that takes the file.
func TestMissingValues(t *testing.T) {
	header := true
	for format, data := range withoutValue(t) {
		f := func() Fact {
			f := Fact{Pred: "p", Path: "f", Format: format, Reader: bytes.NewReader(data)}
			if format == CSV || format == TSV {
				f.Header = &header
			}
			return f
		}
		r, err := tryLoad(storetest.Predicate(t, "p[id:int]=v:int"), f(), Options{})
		if err != nil {
			t.Errorf("%v: %v", format, err)
		} else if got := strings.Join(sortedTuples(r), "; "); got != "1 10; 3 30" {
			t.Errorf("%v: %s", format, got)
		}
		_, err = tryLoad(storetest.Predicate(t, "p(id:int; v:int)"), f(), Options{})
		var wrong *LoadError
		const help = "p[id] = v -> int(id), int(v)."
		if !errors.As(err, &wrong) || !strings.Contains(wrong.Help, help) {
			t.Errorf("%v: %v, %+v", format, err, wrong)
		}
		r, err = tryLoad(storetest.Predicate(t, "p(id:int; v:int)"), f(), Options{OnError: Skip})
		if err != nil || r.Rows() != 2 {
			t.Errorf("%v: skipping: %v", format, err)
		}
	}
}
