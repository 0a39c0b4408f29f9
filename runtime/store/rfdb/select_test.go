package rfdb

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/blocks"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
)

// alwaysSelect makes selecting pay whatever it leaves out.
func alwaysSelect(t *testing.T) {
	most, least := mostSelected, leastSelected
	mostSelected, leastSelected = 1, 0
	t.Cleanup(func() { mostSelected, leastSelected = most, least })
}

// randomTest returns a test of a column, that some of its words pass.
func randomTest(r *rand.Rand, c *store.Column) *Test {
	a, b := c.Word(r.IntN(c.Len())), c.Word(r.IntN(c.Len()))
	between := func(v scalar.Value) bool { return int64(v.Bits()) >= min(a, b) }
	switch {
	case c.Type.Kind == scalar.String:
		text := c.Dict.String(uint32(a))
		if r.IntN(2) == 0 {
			return &Test{Equal: []scalar.Value{scalar.OfString("none"), scalar.OfString(text)},
				Passes: func(v scalar.Value) bool { return v.Str() == text }}
		}
		return &Test{Passes: func(v scalar.Value) bool { return v.Str() >= text }}
	case r.IntN(3) == 0:
		return &Test{Passes: between}
	}
	least, most := min(a, b), max(a, b)
	switch r.IntN(6) {
	case 0:
		most = c.Stats.Max + 5
	case 1:
		least = c.Stats.Min - 5
	case 2:
		least, most = c.Stats.Max+1, c.Stats.Max+9
	}
	return &Test{Range: true, Least: least, Most: most,
		Passes: func(v scalar.Value) bool {
			return int64(v.Bits()) >= least && int64(v.Bits()) <= most
		}}
}

// TestSelect selects rows by tests of one column and of several, and compares
// with the rows of all that pass.
func TestSelect(t *testing.T) {
	alwaysSelect(t)
	r := rand.New(rand.NewPCG(1, 2))
	rel := packable(2*blocks.Rows + 99)
	// Two columns stay as they are: one of bytes, and one of random words.
	narrow := make([]int64, rel.Rows())
	for i := range narrow {
		narrow[i] = r.Int64N(256)
	}
	wide := make([]int64, rel.Rows())
	for i := range wide {
		wide[i] = int64(r.Uint64())
	}
	rel = relation("long", 1, append(rel.Columns(), store.ColumnOf(scalar.IntType, narrow, nil),
		store.ColumnOf(scalar.IntType, wide, nil))...)
	d := newImage(nil)
	if err := writeNew(d, "test", Writing{}, 1, []*store.Relation{rel}, nil); err != nil {
		t.Fatal(err)
	}
	selected, left := 0, 0
	for n := range 120 {
		f, err := open("test", d)
		if err != nil {
			t.Fatal(err)
		}
		tests := make([]*Test, len(rel.Cols))
		for range 1 + r.IntN(3) {
			arg := r.IntN(len(tests))
			tests[arg] = randomTest(r, rel.Column(arg))
			tests[arg].Alone = r.IntN(3) == 0
		}
		unread := r.IntN(2) == 0
		how := Reading{Threads: 1 + n%2, Selection: &Selection{},
			Unread: func(_ string, arg int) bool { return unread && arg == 0 && tests[0] == nil },
			Tests:  func(_ string, arg int) *Test { return tests[arg] }}
		rels, err := f.Relations(context.Background(), []string{"long"}, how)
		if err != nil {
			t.Fatal(err)
		}
		if how.Selection.Selected {
			selected++
			left += how.Selection.Left
			compareSelected(t, rel, rels[0], tests, how.Selection)
		} else if got := rels[0].Rows(); got != rel.Rows() {
			t.Errorf("%d rows are there without a selection", got)
		}
	}
	if selected < 60 || left == 0 {
		t.Errorf("rows were selected %d times, and %d blocks left out", selected, left)
	}
}

func compareSelected(t *testing.T, all, got *store.Relation, tests []*Test, s *Selection) {
	t.Helper()
	// A test that costs more than it saves is not applied: the rows that are
	// there have all that pass among them, in their order.
	passes := func(r *store.Relation, row int) bool {
		for arg, test := range tests {
			if test != nil && !test.Passes(r.Column(arg).Value(row)) {
				return false
			}
		}
		return true
	}
	shown := func(r *store.Relation) string {
		var rows []uint32
		for row := range r.Rows() {
			if passes(r, row) {
				rows = append(rows, uint32(row))
			}
		}
		var columns []*store.Column
		for arg := range r.Cols {
			c := r.Column(arg)
			if got.Column(arg).Absent || tests[arg] != nil && tests[arg].Alone {
				c = store.ConstantColumn(scalar.IntType, nil, 1, r.Rows())
			}
			columns = append(columns, c.Select(rows))
		}
		return strings.Join(storetest.Tuples(relation("r", 1, columns...)), ";")
	}
	if a, b := shown(all), shown(got); a != b {
		t.Errorf("with %d of %d rows, those that pass are others", got.Rows(), all.Rows())
	}
	if s.Kept != int64(got.Rows()) || got.Rows() > all.Rows() {
		t.Errorf("%d rows are kept, and %d reported", got.Rows(), s.Kept)
	}
}

// TestSelectDamaged has a block that is damaged: it is found where it is
// unpacked.
func TestSelectDamaged(t *testing.T) {
	alwaysSelect(t)
	d := newImage(nil)
	rel := packable(2 * blocks.Rows)
	if err := writeNew(d, "test", Writing{}, 1, []*store.Relation{rel}, nil); err != nil {
		t.Fatal(err)
	}
	f, err := open("test", d)
	if err != nil {
		t.Fatal(err)
	}
	e := f.dir.Tables[0].Columns[3]
	d.data[e.Packed.At+e.Packed.Size-9] ^= 1 // in the second block
	first := rel.Column(0).Word(blocks.Rows - 1)
	for least, damaged := range map[int64]bool{0: false, first: true} {
		if f, err = open("test", d); err != nil {
			t.Fatal(err)
		}
		how := Reading{Selection: &Selection{}, Tests: func(_ string, arg int) *Test {
			if arg > 0 {
				return nil
			}
			return &Test{Range: true, Least: least, Most: least + 5}
		}}
		_, err := f.Relations(context.Background(), []string{"long"}, how)
		var damage *DamageError
		if damaged != errors.As(err, &damage) || !how.Selection.Selected == (err == nil) {
			t.Errorf("from %d on, the error is %v", least, err)
		}
	}
}
