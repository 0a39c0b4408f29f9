//go:build !linux

package store

// adviseHuge does nothing: other systems choose the size of pages themselves.
func adviseHuge[T unsigned]([]T) {}
