//go:build !linux

package hugepage

// Advise returns the array: other systems choose the size of pages themselves.
func Advise[T any](s []T) []T { return s }
