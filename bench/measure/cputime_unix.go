//go:build unix

package measure

import (
	"syscall"
	"time"
)

// ProcessorTime returns the processor time of the process, all threads
// together.
func ProcessorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
