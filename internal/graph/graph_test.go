package graph

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestComponents compares the components of random graphs with reachability.
func TestComponents(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 1 + rng.IntN(12)
		successors := make([][]int, n)
		reach := make([][]bool, n)
		for v := range n {
			reach[v] = make([]bool, n)
			reach[v][v] = true
		}
		for range rng.IntN(2 * n) {
			from, to := rng.IntN(n), rng.IntN(n)
			successors[from] = append(successors[from], to)
			reach[from][to] = true
		}
		for k := range n {
			for i := range n {
				for j := range n {
					reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
				}
			}
		}
		place := make([]int, n)
		nodes := 0
		components := Components(successors)
		for i, c := range components {
			for _, v := range c {
				place[v] = i
				nodes++
			}
		}
		if nodes != n {
			t.Fatalf("%v: %d of %d nodes in %v", successors, nodes, n, components)
		}
		for i := range n {
			for j := range n {
				if together := place[i] == place[j]; together != (reach[i][j] && reach[j][i]) {
					t.Fatalf("%v: %d and %d together is %v", successors, i, j, together)
				}
				if reach[i][j] && place[j] > place[i] {
					t.Fatalf("%v: %d reaches %d and comes before it", successors, i, j)
				}
			}
		}
	}
}

func TestComponentsOfDeepGraph(t *testing.T) {
	successors := make([][]int, 1<<20)
	for v := range len(successors) - 1 {
		successors[v] = []int{v + 1}
	}
	if n := len(Components(successors)); n != len(successors) {
		t.Errorf("%d components of a chain of %d nodes", n, len(successors))
	}
}

func TestSets(t *testing.T) {
	s := NewSets(5)
	s.Union(3, 1)
	s.Union(4, 2)
	s.Union(1, s.Add())
	if s.Find(5) != 3 {
		t.Errorf("%d stands for the set of 5, want 3", s.Find(5))
	}
	if got, want := s.All(), [][]int{{0}, {1, 3, 5}, {2, 4}}; !reflect.DeepEqual(got, want) {
		t.Errorf("sets %v, want %v", got, want)
	}
}
