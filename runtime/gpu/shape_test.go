package gpu

import (
	"testing"

	"github.com/redfoxdb/redfox/harmony/abi"
)

// TestBlocksFor wants as many blocks as the device runs, whole teams of those
// that share tiles, and each tile to meet all that do.
func TestBlocksFor(t *testing.T) {
	for _, c := range []struct {
		entry           abi.Entry
		tiles, most     int64
		blocks, sharing int64
	}{
		{abi.Entry{}, 3, 132, 3, 1},
		{abi.Entry{}, 1000, 132, 132, 1},
		{abi.Entry{Expansions: 1}, 1000, 132, 132, 1},
		{abi.Entry{Expansions: 1}, 20, 132, 120, 6},
		{abi.Entry{Expansions: 1}, 1, 132, mostSharing, mostSharing},
		{abi.Entry{Sharing: 5}, 1000, 132, 130, 5},
		{abi.Entry{Sharing: 5}, 2, 132, 10, 5},
		{abi.Entry{Sharing: 8}, 1000, 4, 8, 8},
	} {
		if blocks, sharing := blocksFor(&c.entry, c.tiles, c.most); blocks != c.blocks ||
			sharing != c.sharing {
			t.Errorf("%+v: %d blocks, of which %d share tiles", c, blocks, sharing)
		}
	}
}
