package joins

// Classes divides the numbers below its length into classes (union-find).
type Classes []int

// NewClasses returns n numbers, each in a class of its own.
func NewClasses(n int) Classes {
	u := make(Classes, n)
	for i := range u {
		u[i] = i
	}
	return u
}

// add returns a new number in a class of its own.
func (u *Classes) add() int {
	*u = append(*u, len(*u))
	return len(*u) - 1
}

// Find returns the number that stands for the class of i.
func (u Classes) Find(i int) int {
	for u[i] != i {
		u[i] = u[u[i]]
		i = u[i]
	}
	return i
}

// Union makes one class of those of i and j. The number that stood for the
// class of i stands for both.
func (u Classes) Union(i, j int) { u[u.Find(j)] = u.Find(i) }
