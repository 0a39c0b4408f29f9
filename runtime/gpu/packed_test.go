package gpu

import (
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/runtime"
)

// TestPackedAndStored has runs by turns over packed columns and over columns as
// the host has them, up to graphs of both.
func TestPackedAndStored(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(300))
	e, d := card{}.open(t)
	want := enginetest.WantOf(runtime.Request{Plan: plan, Facts: db})
	for range 4 {
		for _, stored := range []bool{false, true} {
			want.Compare(t, "by turns", e,
				runtime.Request{Plan: plan, Facts: db, NoPackedColumns: stored})
		}
	}
	answer, err := e.Run(t.Context(), &runtime.Request{Plan: plan, Facts: db, Profile: true})
	if err != nil {
		t.Fatal(err)
	}
	columns := int64(len(columnsOf(db)))
	if p := answer.Device.Packed; p.Columns != columns || p.Bytes >= p.Whole {
		t.Errorf("%+v is packed of %d columns", p, columns)
	}
	answer, err = e.Run(t.Context(),
		&runtime.Request{Plan: plan, Facts: db, Profile: true, NoPackedColumns: true})
	if err != nil {
		t.Fatal(err)
	}
	if p := answer.Device.Packed; p.Columns != 0 {
		t.Errorf("%+v is packed of no column", p)
	}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
}
