//go:build !linux

package main

// addressSpace returns that there is no limit of the process's address space that it knows
// of.
func addressSpace() (limit, used int64, ok bool) { return 0, 0, false }
