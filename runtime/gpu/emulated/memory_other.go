//go:build !unix

package emulated

// mapMemory returns memory that does not move.
func mapMemory(bytes int) ([]byte, error) { return make([]byte, bytes), nil }

func unmapMemory([]byte) {}
