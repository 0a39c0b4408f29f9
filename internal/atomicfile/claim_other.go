//go:build !linux

package atomicfile

import "os"

// canSweep says that nobody can tell whether a process that has made a file is
// gone.
const canSweep = false

// claim is none.
type claim struct{}

func claimOf(*os.File) (claim, error) { return claim{}, nil }

func (*claim) release() {}

func removeStale(folder, string, string) {}

// kernelMark names no kernel.
func kernelMark() string { return "0" }
