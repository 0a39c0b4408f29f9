package main

import (
	"os"
	"syscall"
	"time"
)

// peakMemory returns the bytes of the largest resident set of a process that
// has ended.
func peakMemory(ended *os.ProcessState) (float64, error) {
	return float64(ended.SysUsage().(*syscall.Rusage).Maxrss) * 1024, nil
}

// processorTime returns the seconds of processor time of the processes that a
// function starts and waits for, in user and system mode.
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
