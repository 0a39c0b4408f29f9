package layout

import (
	"math"
	"slices"
	"testing"
)

// TestView writes words, and reads them in order and by row, in every width.
func TestView(t *testing.T) {
	for _, c := range []struct {
		col   Column
		words []int64
	}{
		{Column{7, 1, 0}, []int64{7, 7, 7}},
		{Column{-5, 1, 1}, []int64{-5, 250, 0, 3}},
		{Column{1000, 1, 2}, []int64{1000, 66535, 1001}},
		{Column{-1 << 40, 1, 4}, []int64{-1 << 40, -1<<40 + math.MaxUint32, -1<<40 + 5}},
		{Words, []int64{math.MinInt64, math.MaxInt64, 0, -1}},
	} {
		v := &View{Column: c.col, Data: make([]byte, c.col.Width*len(c.words))}
		v.Write(c.words[:2], 0)
		v.Write(c.words[2:], 2)
		got := make([]int64, len(c.words)-1)
		if v.Read(got, 1); !slices.Equal(got, c.words[1:]) {
			t.Errorf("width %d: read %v, want %v", c.col.Width, got, c.words[1:])
		}
		if v.Gather(got[:2], []uint32{2, 0}); got[0] != c.words[2] || got[1] != c.words[0] {
			t.Errorf("width %d: gathered %v of %v", c.col.Width, got[:2], c.words)
		}
	}
	stepped := &View{Column: Column{10, 100, 1}, Data: []byte{0, 3}}
	got := make([]int64, 2)
	if stepped.Read(got, 0); got[1] != 310 {
		t.Errorf("read %v", got)
	}
}
