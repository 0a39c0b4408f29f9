//go:build !linux

package atomicfile

import "os"

// canSweep is false: this system cannot tell whether the process that made a
// file has ended.
const canSweep = false

// claim is empty where files cannot be claimed.
type claim struct{}

func claimOf(*os.File) (claim, error) { return claim{}, nil }

func (*claim) release() {}

func removeStale(folder, string, string) {}

// kernelMark names no kernel.
func kernelMark() string { return "0" }
