package main

import (
	"os"
	"syscall"
	"time"
)

// peakMemory returns the largest resident set, in bytes, of a process that has
// ended.
func peakMemory(ended *os.ProcessState) (float64, error) {
	return float64(ended.SysUsage().(*syscall.Rusage).Maxrss) * 1024, nil
}

// processorTime returns the processor time, in seconds of user and system mode,
// of the processes that f starts and waits for.
func processorTime(f func() error) (float64, error) {
	before, err := childTime()
	if err == nil {
		err = f()
	}
	if err != nil {
		return 0, err
	}
	after, err := childTime()
	return (after - before).Seconds(), err
}

// childTime returns the processor time of the children that have ended.
func childTime() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}
