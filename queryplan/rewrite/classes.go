package rewrite

// unionFind divides the numbers from 0 to its length into classes.
type unionFind []int

func newUnionFind(n int) unionFind {
	u := make(unionFind, n)
	for i := range u {
		u[i] = i
	}
	return u
}

// add returns a new number in a class of its own.
func (u *unionFind) add() int {
	*u = append(*u, len(*u))
	return len(*u) - 1
}

// find returns the number that stands for the class of i.
func (u unionFind) find(i int) int {
	for u[i] != i {
		u[i] = u[u[i]]
		i = u[i]
	}
	return i
}

// union makes one class of those of i and j. The number that stood for the class
// of i stands for both.
func (u unionFind) union(i, j int) { u[u.find(j)] = u.find(i) }
