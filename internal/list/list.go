package list

// Map returns f(x) for each x of a list. It is never nil.
func Map[X, Y any](list []X, f func(X) Y) []Y {
	out := make([]Y, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// Filter returns the elements for which keep returns true, in order, or nil.
func Filter[X any](list []X, keep func(X) bool) []X {
	var out []X
	for _, x := range list {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}
