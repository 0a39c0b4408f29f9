package read

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
)

// bloomFiles returns files with Bloom filters, one of DuckDB and one of
// arrow-go: three row groups of 2,048 rows, of which group g has the values
// below 120 that are g modulo 3, as name, num, price and day.
func bloomFiles(t *testing.T) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "arrow.parquet")
	if err := os.WriteFile(path, writeBloomFilters(t), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"testdata/bloom/duckdb.parquet", path}
}

// writeBloomFilters writes columns id, name and num.
func writeBloomFilters(t *testing.T) []byte {
	t.Helper()
	text := schema.StringLogicalType{}
	name, err := schema.NewPrimitiveNodeLogical("name", parquet.Repetitions.Required, text,
		parquet.Types.ByteArray, -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required,
		schema.FieldList{schema.NewInt64Node("id", parquet.Repetitions.Required, -1), name,
			schema.NewInt64Node("num", parquet.Repetitions.Required, -1)}, -1))
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root, file.WithWriterProps(parquet.NewWriterProperties(
		parquet.WithBloomFilterEnabled(true), parquet.WithBloomFilterNDV(64),
		parquet.WithStats(true))))
	for g := range int64(3) {
		var ids, nums []int64
		var names []parquet.ByteArray
		for i := range int64(2048) {
			n := g + 3*(i*7919%40)
			ids, nums = append(ids, g*2048+i), append(nums, n)
			text := "name " + strconv.FormatInt(n, 10)
			names = append(names, parquet.ByteArray(text))
		}
		group, err := w.AppendRowGroupChecked()
		if err != nil {
			t.Fatal(err)
		}
		for _, values := range []any{ids, names, nums} {
			column, err := group.NextColumn()
			if err != nil {
				t.Fatal(err)
			}
			switch values := values.(type) {
			case []int64:
				_, err = column.(*file.Int64ColumnChunkWriter).WriteBatch(values, nil, nil)
			case []parquet.ByteArray:
				_, err = column.(*file.ByteArrayColumnChunkWriter).WriteBatch(values, nil, nil)
			}
			if err == nil {
				err = column.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := group.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestBloomFilters selects rows by constants, and wants the row groups left out
// that have none of them.
func TestBloomFilters(t *testing.T) {
	for at, path := range bloomFiles(t) {
		texts := []string{"t:name[id:int]=name:string", "t:num[id:int]=num:int"}
		if at == 0 {
			texts = append(texts, "t:price[id:int]=price:decimal", "t:day[id:int]=day:datetime")
		}
		var schemas []store.Schema
		for _, text := range texts {
			schemas = append(schemas, storetest.Predicate(t, text))
		}
		opts := memoryProofs(map[string][]byte{})
		whole, _, err := selectedRows(t, path, schemas, opts, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range schemas {
			column := whole.Relation(s.Name).Column(1)
			// Group g has the value of row 2048g. Two values are of one group.
			for rows, left := range map[[2]int]int{{0, 0}: 2, {2048, 2048}: 2, {4096, 4097}: 2,
				{1, 5000}: 1} {
				equal := []scalar.Value{column.Value(rows[0]), column.Value(rows[1])}
				checkBloomFilter(t, path, schemas, opts, whole, s.Name, equal, left)
			}
		}
		none := map[string][]scalar.Value{"t:name": {scalar.OfString("name 1 ")},
			"t:num": {scalar.OfInt(scalar.IntType, 500), scalar.OfInt(scalar.IntType, 501)}}
		for name, equal := range none {
			checkBloomFilter(t, path, schemas, opts, whole, name, equal, 3)
		}
	}
}

func checkBloomFilter(t *testing.T, path string, schemas []store.Schema, opts Options,
	whole *store.Database, name string, equal []scalar.Value, left int) {
	t.Helper()
	holds := func(v scalar.Value) bool {
		return scalar.Compare(v, equal[0]) == 0 || scalar.Compare(v, equal[len(equal)-1]) == 0
	}
	tests := map[string]*Test{name: {Equal: equal, Holds: holds}}
	db, report, err := selectedRows(t, path, schemas, opts, tests)
	if err != nil {
		t.Fatal(err)
	}
	if f := report.Files[0]; !f.Selected || f.GroupsLeft != left {
		t.Errorf("%s by %s of %v: %d of %d row groups are left out, not %d", path, name, equal,
			f.GroupsLeft, f.Groups, left)
	}
	compareSelected(t, path+" by "+name, whole, db, name, holds, false)
}
