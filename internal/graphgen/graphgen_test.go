package graphgen

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestJoins holds that equal arguments give equal sides and others do not, that
// the keys of a skewed join follow its law, and that a uniform one has as many
// matches as is asked for.
func TestJoins(t *testing.T) {
	const left, right, keys = 50_000, 1_000, 100
	zipf := ZipfJoin(left, right, 1.5, 1)
	if !reflect.DeepEqual(zipf, ZipfJoin(left, right, 1.5, 1)) {
		t.Error("equal arguments give other sides")
	}
	if reflect.DeepEqual(zipf, ZipfJoin(left, right, 1.5, 2)) {
		t.Error("another seed gives equal sides")
	}
	hub := 0
	for _, e := range zipf.Left {
		if e[1] == 0 {
			hub++
		}
	}
	// 1 of the zeta function of 1.5, which is 2.612
	if hub < left*37/100 || hub > left*40/100 {
		t.Errorf("the first key has %d of %d rows", hub, left)
	}
	uniform := UniformJoin(left, keys, zipf.Matches(), 1)
	if got, want := uniform.Matches(), zipf.Matches(); got > want || got < want*98/100 {
		t.Errorf("%d matches, not %d", got, want)
	}
	rows := map[int32]int{}
	for _, e := range uniform.Left {
		rows[e[1]]++
	}
	for key, n := range rows {
		if n != left/keys {
			t.Errorf("key %d has %d rows", key, n)
		}
	}
	for _, side := range []Edges{zipf.Right, uniform.Right} {
		for _, e := range side {
			if e[1] < 0 || e[1] >= left {
				t.Fatalf("the row %v is out of range", e)
			}
		}
	}
}

func TestMatches(t *testing.T) {
	j := Join{Edges{{0, 5}, {1, 5}, {2, 6}}, Edges{{5, 0}, {5, 1}, {7, 2}}}
	if got := j.Matches(); got != 4 {
		t.Errorf("%d matches, not 4", got)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := (Join{Edges{{1, 2}, {30, 4}}, Edges{{7, 8}}}).Write(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"left": "1\t2\n30\t4\n", "right": "7\t8\n"} {
		text, err := os.ReadFile(filepath.Join(dir, name+".tsv"))
		if err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
