package gpu

import (
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// TestFirstRowsShareACopy has runs over all rows and over the first ones of the
// same columns. The longest copy that was asked for serves all of them.
func TestFirstRowsShareACopy(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(300))
	e, _ := card{}.open(t)
	first := func(rows int) *store.Database {
		out := store.NewDatabase()
		for _, rel := range db.Relations() {
			some, table := *rel, *rel.Table
			table.Columns, table.Rows = nil, rows
			for _, c := range rel.Table.Columns {
				table.Columns = append(table.Columns, c.Slice(0, rows))
			}
			some.Table = &table
			out.Put(&some)
		}
		return out
	}
	columns := len(columnsOf(db))
	for _, rows := range []int{100, 200, 150, 300, 100} {
		part := first(rows)
		want := enginetest.WantOf(runtime.Request{Plan: plan, Facts: part})
		want.Compare(t, "first rows", e,
			runtime.Request{Plan: plan, Facts: part, NoPackedColumns: true})
		if n := columnsIn(e); n != columns {
			t.Errorf("%d rows: %d copies of %d columns", rows, n, columns)
		}
	}
	answer, err := e.Run(t.Context(),
		&runtime.Request{Plan: plan, Facts: first(250), NoPackedColumns: true})
	if err != nil {
		t.Fatal(err)
	}
	if d := answer.Device; d.Resident == 0 {
		t.Errorf("a run over rows that are there finds none: %+v", d)
	}
	for _, c := range columnsOf(db) {
		e.Drop(c)
	}
	if n := columnsIn(e); n != 0 {
		t.Errorf("%d columns stay", n)
	}
}

// TestWeigh evicts a column that nobody has weighed before one of more weight
// that was used earlier.
func TestWeigh(t *testing.T) {
	_, db := enginetest.Stored(t, enginetest.Closure, apart(500))
	e, _ := card{}.open(t)
	cols := columnsOf(db)[:2]
	for _, c := range cols {
		if err := e.Prefetch(t.Context(), "edge", c, true, nil); err != nil {
			t.Fatal(err)
		}
	}
	e.Weigh(cols[0], 2)
	if !e.resident.Evict(1) || !e.resident.Has(cols[0]) || e.resident.Has(cols[1]) {
		t.Error("the column of more weight has made room")
	}
	e.Weigh(cols[0], 0)
	if !e.resident.Evict(1) || e.resident.Has(cols[0]) {
		t.Error("a column without weight stays")
	}
}
