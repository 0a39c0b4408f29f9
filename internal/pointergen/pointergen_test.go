package pointergen

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestFacts makes facts twice, and holds that they are equal, in range and as
// many as asked for, but for a few repetitions.
func TestFacts(t *testing.T) {
	const n = 2000
	for name, c := range map[string]struct {
		make func(int, uint64) Facts
		want map[string]int
	}{
		"CSPA": {CSPA, map[string]int{"assign": 1200, "dereference": 600}},
		"Andersen": {Andersen,
			map[string]int{"addr": 400, "assign": 2100, "load": 25, "store": 25}},
	} {
		f := c.make(n, 3)
		if !reflect.DeepEqual(f, c.make(n, 3)) {
			t.Errorf("%s: equal arguments give other facts", name)
		}
		if reflect.DeepEqual(f, c.make(n, 4)) {
			t.Errorf("%s: another seed gives equal facts", name)
		}
		for pred, want := range c.want {
			if got := len(f[pred]); got > want || got < want*95/100 {
				t.Errorf("%s: %d pairs of %s, not about %d", name, got, pred, want)
			}
			for _, p := range f[pred] {
				if min(p[0], p[1]) < 0 || max(p[0], p[1]) >= n {
					t.Errorf("%s: %s%v is out of range", name, pred, p)
				}
			}
		}
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := (Facts{"edge": {{1, 2}, {30, 4}}}).Write(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "edge.tsv"))
	if err != nil || string(text) != "1\t2\n30\t4\n" {
		t.Errorf("%q, %v", text, err)
	}
}
