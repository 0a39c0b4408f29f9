package main

import (
	"fmt"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/rlimit"
)

// The address space that a run takes beside what --memory bounds: stacks of
// threads and arenas of the C library, and libLLVM with its code if an engine
// needs it.
const (
	threadSpace = 192 << 20
	llvmSpace   = 320 << 20
)

// leastSpace is the least bound that a limit of the address space may leave.
const leastSpace = 16 << 20

// tooLittle is the error of an address space that does not suffice.
func tooLittle(limit, needed int64) error {
	return &driver.EnvironmentError{
		Message: fmt.Sprintf("the address space of the process is limited to %s (ulimit -v), and redfox needs %s before it reads facts", size(limit), size(needed)),
		Help:    fmt.Sprintf("raise the limit to %s or more, or bound the run with --memory in its place", size(needed+8*leastSpace)),
	}
}

// canStart refuses a limit of the address space under which Go may not get the
// threads that it wants, which would end the process at any time.
func canStart() error {
	if limit, used, ok := rlimit.AddressSpace(); ok && limit < used+threadSpace {
		return tooLittle(limit, used+threadSpace)
	}
	return nil
}

// withinLimit returns the bound on a run's memory: that of --memory (0 is
// none), or what the limit of the address space leaves, of which it tells the
// user. Memory counts twice against the limit, because a table that grows is in
// two places for a while.
func (con *console) withinLimit(memory int64, engine string) (int64, error) {
	limit, used, ok := rlimit.AddressSpace()
	if !ok {
		return memory, nil
	}
	others := int64(threadSpace)
	if engine != driver.EngineGo {
		others += llvmSpace
	}
	left := (limit - used - others) / 2
	if left < leastSpace {
		return 0, tooLittle(limit, used+others)
	}
	if memory > 0 && memory <= left {
		return memory, nil
	}
	fmt.Fprintf(con.err,
		"redfox: note: --memory is %s, because the address space of the process is limited to %s (ulimit -v)\n", size(left), size(limit))
	return left, nil
}
