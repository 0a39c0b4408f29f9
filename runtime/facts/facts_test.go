package facts

import (
	"errors"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// edge is a predicate of two integers.
var edge = store.Schema{Name: "edge", Keys: 2, Args: []store.Field{
	{Name: "x", Type: scalar.IntType}, {Name: "y", Type: scalar.IntType}}}

func rowsOf(t *testing.T, rows ...[]any) *store.Relation {
	t.Helper()
	rel, err := FromRows(edge, rows)
	if err != nil {
		t.Fatal(err)
	}
	return rel
}

func TestRowsThatDoNotFit(t *testing.T) {
	for want, row := range map[string][]any{
		"row 2 of the facts for edge: it has 1 values, edge has 2 arguments": {1},
		"row 2 of the facts for edge: argument 2 (y): a Go bool does not convert to " +
			scalar.IntType.String(): {1, true},
	} {
		_, err := FromRows(edge, [][]any{{1, 2}, row})
		var wrong *RowError
		if !errors.As(err, &wrong) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestAdd unites parts, in which tuples repeat, with what is there.
func TestAdd(t *testing.T) {
	db := store.NewDatabase()
	for _, want := range []int{2, 3} {
		parts := []*store.Relation{rowsOf(t, []any{1, 2}, []any{1, 2}, []any{want, 7})}
		if err := Add(db, edge, parts, true); err != nil {
			t.Fatal(err)
		}
		if n := db.Relation("edge").Rows(); n != want {
			t.Errorf("%d tuples, want %d", n, want)
		}
	}
	if err := Add(db, edge, nil, false); err != nil || db.Relation("edge").Rows() != 3 {
		t.Errorf("no parts: %v", err)
	}
}

// TestNameTables wants names that do not depend on folders and formats, and
// differ.
func TestNameTables(t *testing.T) {
	db := store.NewDatabase()
	for pred, name := range map[string]string{"a": "x/edge.tsv.gz", "b": "y/edge.parquet"} {
		rel := *rowsOf(t, []any{1, 2})
		table := *rel.Table
		rel.Name, table.Name, rel.Table = pred, name, &table
		db.Put(&rel)
	}
	NameTables(db)
	names := map[string]bool{}
	for _, table := range Tables(db) {
		names[table.Name] = true
	}
	if len(names) != 2 || !names["edge"] || !names["edge#2"] {
		t.Errorf("the tables are %v", names)
	}
}

func TestReservation(t *testing.T) {
	take := Reservation(100)
	for _, n := range []int64{60, 40, -50, 50} {
		if err := take("a column", n); err != nil {
			t.Fatal(err)
		}
	}
	var memory *runtime.MemoryError
	if err := take("a column", 1); !errors.As(err, &memory) || memory.Held != 100 {
		t.Errorf("got %v", err)
	}
}
