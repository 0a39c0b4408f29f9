package shape

import "github.com/redfoxdb/redfox/harmony/abi"

const (
	// DonationLevels is the most expansions of a kernel, the outermost ones, of
	// which a block can give away rounds (primitives/src/donate.h).
	DonationLevels = 6
	// DonationBytes is what a block keeps of that in shared memory.
	DonationBytes = 8 * (6 + 3*DonationLevels)
)

// Donates reports whether blocks that are through take over work of others: of
// kernels whose rows may have very different numbers of matches.
func (f *Function) Donates() bool {
	return f.options.Donate && f.Role == abi.Kernel && f.Queue == nil && f.expands()
}
