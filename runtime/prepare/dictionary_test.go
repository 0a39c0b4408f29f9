package prepare

import (
	"testing"

	"github.com/redfoxdb/redfox/runtime/store"
)

// TestExtended recodes a column for constants that its dictionary lacks, once
// for all programs that have the same ones.
func TestExtended(t *testing.T) {
	c := store.StringColumn([]string{"d", "b", "d"})
	recoded := func(constants ...string) *store.Column {
		out, copied := extended(c.Dict, constants).Recode(c, 2)
		if len(constants) > 0 && constants[0] == "d" == copied {
			t.Errorf("%q: copied is %v", constants, copied)
		}
		for i := range c.Len() {
			if got, want := out.Value(i).Str(), c.Value(i).Str(); got != want {
				t.Errorf("%q: row %d is %q, want %q", constants, i, got, want)
			}
		}
		return out
	}
	first := recoded("c")
	if lo, hi := extended(c.Dict, []string{"c"}).Place("c"); lo != 1 || hi != 2 {
		t.Errorf("the constant has the codes from %d to %d", lo, hi)
	}
	if again := recoded("c"); again != first {
		t.Error("what one program had recoded another one recodes")
	}
	if other := recoded("c", "e"); other == first {
		t.Error("two dictionaries have one column")
	}
	recoded("d")
	recoded()
}
