package main

import (
	"os"
	"syscall"
)

// peakMemory returns the bytes of the largest resident set of a process that
// has ended.
func peakMemory(ended *os.ProcessState) (float64, error) {
	return float64(ended.SysUsage().(*syscall.Rusage).Maxrss) * 1024, nil
}
