//go:build !linux

package rlimit

// AddressSpace returns that no limit of the process's address space is known.
func AddressSpace() (limit, used int64, ok bool) { return 0, 0, false }
