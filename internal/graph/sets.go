package graph

// Sets divides the numbers below its length into disjoint sets (union-find:
// Tarjan, JACM 1975).
type Sets []int

// NewSets returns n numbers, each in a set of its own.
func NewSets(n int) Sets {
	s := make(Sets, 0, n)
	for range n {
		s.Add()
	}
	return s
}

// Add returns a new number in a set of its own.
func (s *Sets) Add() int {
	*s = append(*s, len(*s))
	return len(*s) - 1
}

// Find returns the number that stands for the set of i.
func (s Sets) Find(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

// Union unites the sets of i and j. The number that stood for the set of i
// stands for both.
func (s Sets) Union(i, j int) { s[s.Find(j)] = s.Find(i) }

// All returns the members of each set in ascending order, and the sets in the
// order of their least members.
func (s Sets) All() [][]int {
	var out [][]int
	at := make(map[int]int)
	for i := range s {
		root := s.Find(i)
		if _, ok := at[root]; !ok {
			at[root] = len(out)
			out = append(out, nil)
		}
		out[at[root]] = append(out[at[root]], i)
	}
	return out
}
