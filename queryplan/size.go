package queryplan

// Size is what a run has counted of a variable.
type Size struct {
	Rows int64
	// Distinct is the number of different values of each column; nil if they
	// were not counted.
	Distinct []int64
}
