//go:build !linux

package main

import (
	"errors"
	"os"
)

// peakMemory fails, because the unit of the largest resident set is known only
// for Linux.
func peakMemory(*os.ProcessState) (float64, error) {
	return 0, errors.New("the peak of resident memory is measured on Linux only")
}

// processorTime fails, for the same reason.
func processorTime(func() error) (float64, error) {
	return 0, errors.New("the processor time of processes is measured on Linux only")
}
