package gpu

import (
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/runtime"
)

// TestNoKeptIndexes has runs leave no indexes over facts behind, and use none,
// before and after runs that do.
func TestNoKeptIndexes(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(40))
	e, d := card{}.open(t)
	want := enginetest.WantOf(runtime.Request{Plan: plan, Facts: db})
	indexes := func(anew bool) int {
		t.Helper()
		for range 3 {
			want.Compare(t, "by turns", e,
				runtime.Request{Plan: plan, Facts: db, NoKeptIndexes: anew})
		}
		_, n := e.resident.Len()
		return n
	}
	if n := indexes(true); n != 0 {
		t.Errorf("%d indexes are kept", n)
	}
	kept := indexes(false)
	if kept == 0 {
		t.Error("no index is kept")
	}
	launches := func(anew bool) int64 {
		t.Helper()
		answer, err := e.Run(t.Context(), &runtime.Request{Plan: plan, Facts: db, Profile: true,
			NoKeptIndexes: anew})
		if err != nil {
			t.Fatal(err)
		}
		return answer.Device.Launches
	}
	if anew, old := launches(true), launches(false); anew <= old {
		t.Errorf("%d launches with an index to make, %d with one that is there", anew, old)
	}
	if n := indexes(true); n != kept {
		t.Errorf("%d indexes are kept, %d before", n, kept)
	}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
}
