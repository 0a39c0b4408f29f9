package rlimit

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// AddressSpace returns the limit of the process's address space and how much of
// it is taken; ok is false if there is no limit.
func AddressSpace() (limit, used int64, ok bool) {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &r) != nil || r.Cur >= 1<<62 {
		return 0, 0, false
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0, false
	}
	var pages int64
	if _, err := fmt.Sscan(string(text), &pages); err != nil {
		return 0, 0, false
	}
	return int64(r.Cur), pages * int64(os.Getpagesize()), true
}
