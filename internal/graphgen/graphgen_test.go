package graphgen

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// TestChains holds that equal arguments give equal relations and others do not,
// that the keys of skewed ones follow their law, and that uniform ones have as
// many matches as is asked for.
func TestChains(t *testing.T) {
	const first, keys = 50_000, 100
	for _, rows := range [][]int{{first, 1_000}, {first, 1_000, 5_000}} {
		zipf := ZipfChain(rows, 1.5, 1)
		if !reflect.DeepEqual(zipf, ZipfChain(rows, 1.5, 1)) {
			t.Error("equal arguments give other relations")
		}
		if reflect.DeepEqual(zipf, ZipfChain(rows, 1.5, 2)) {
			t.Error("another seed gives equal relations")
		}
		hub := 0
		for _, e := range zipf[0] {
			if e[1] == 0 {
				hub++
			}
		}
		// 1 of the zeta function of 1.5, which is 2.612
		if hub < first*37/100 || hub > first*40/100 {
			t.Errorf("the first key has %d of %d rows", hub, first)
		}
		uniform := UniformChain(first, len(rows), keys, zipf.Matches(), 1)
		if got, want := uniform.Matches(), zipf.Matches(); got > want || got < want*95/100 {
			t.Errorf("%d matches, not %d", got, want)
		}
		ends := map[int32]int{}
		for _, e := range uniform[0] {
			ends[e[1]]++
		}
		for key, n := range ends {
			if n != first/keys {
				t.Errorf("key %d has %d rows", key, n)
			}
		}
		for _, last := range []Edges{zipf[len(rows)-1], uniform[len(rows)-1]} {
			for _, e := range last {
				if e[1] < 0 || e[1] >= first {
					t.Fatalf("the row %v is out of range", e)
				}
			}
		}
	}
}

func TestMatches(t *testing.T) {
	c := Chain{{{0, 5}, {1, 5}, {2, 6}}, {{5, 0}, {5, 1}, {7, 2}}}
	if got := c.Matches(); got != 4 {
		t.Errorf("%d matches, not 4", got)
	}
	if got := append(c, Edges{{1, 0}, {1, 1}, {0, 2}}).Matches(); got != 6 {
		t.Errorf("%d matches, not 6", got)
	}
}

func TestRoot(t *testing.T) {
	for _, c := range [][3]int64{{0, 1, 0}, {7, 1, 7}, {24, 2, 4}, {25, 2, 5}, {26, 3, 2}} {
		if got := root(c[0], int(c[1])); got != c[2] {
			t.Errorf("the root %d of %d is %d, not %d", c[1], c[0], got, c[2])
		}
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := (Chain{{{1, 2}, {30, 4}}, {{7, 8}}}).Write(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"r1": "1\t2\n30\t4\n", "r2": "7\t8\n"} {
		text, err := os.ReadFile(filepath.Join(dir, name+".tsv"))
		if err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

func TestPermute(t *testing.T) {
	for _, bits := range []int{1, 2, 9, 16} {
		seen := make([]bool, 1<<bits)
		for i := range seen {
			// Higher bits do not count.
			if p := Permute(uint64(i)|1<<40, bits); p >= uint64(len(seen)) || seen[p] {
				t.Fatalf("%d bits: %d becomes %d, as another does", bits, i, p)
			} else {
				seen[p] = true
			}
		}
	}
}

// TestGraphs holds that a graph is the same on any number of threads, that
// another seed gives another one, and that its hubs are as large as its kind
// has them.
func TestGraphs(t *testing.T) {
	const edges, bits = 200_000, 12
	for kind, want := range map[string][2]int{RMAT: {2, 20}, Uniform: {0, 1}, Zipf: {37, 40}} {
		g := Graph{Kind: kind, Bits: bits, Edges: edges, Seed: 1}
		from, to, err := g.Make(1)
		if err != nil {
			t.Fatal(err)
		}
		again, other, err := g.Make(3)
		if err != nil || !slices.Equal(from, again) || !slices.Equal(to, other) {
			t.Errorf("%s: on three threads the edges are others, %v", kind, err)
		}
		g.Seed = 2
		if _, other, err = g.Make(3); err != nil || slices.Equal(to, other) {
			t.Errorf("%s: another seed gives equal edges, %v", kind, err)
		}
		var in [1 << bits]int
		for i, y := range to {
			if from[i] < 0 || from[i] >= 1<<bits {
				t.Fatalf("%s: the node %d is out of range", kind, from[i])
			}
			in[y]++
		}
		if hub := slices.Max(in[:]) * 100 / edges; hub < want[0] || hub > want[1] {
			t.Errorf("%s: a node is in %d %% of the edges", kind, hub)
		}
	}
	for _, g := range []Graph{{Kind: "star", Bits: 4, Edges: 1}, {Kind: RMAT, Bits: 32},
		{Kind: RMAT, Edges: 1}, {Kind: RMAT, Bits: 3, Edges: -1}} {
		if _, _, err := g.Make(1); err == nil {
			t.Errorf("there is a graph %+v", g)
		}
	}
}
