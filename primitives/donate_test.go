package primitives

import (
	"math/rand/v2"
	"testing"
)

// TestDonate wants every round of every tile visited once, whichever block does
// it, and the board to be as it was at first.
func TestDonate(t *testing.T) {
	onEach(t, func(t *testing.T, d *device) {
		rng := rand.New(rand.NewPCG(5, 6))
		const tiles, most = 23, 7
		board := make([]int64, 16*(1+256))
		for range 4 {
			outer, rounds := make([]int64, 2*tiles), int64(0)
			large, waits := rng.IntN(tiles), -1
			if d.workers > 1 {
				waits = large
			}
			for i := range tiles {
				outer[i] = rng.Int64N(4)
				if i == large {
					outer[i] = 40 + rng.Int64N(200)
				}
				outer[tiles+i] = rounds
				rounds += outer[i]
			}
			visits, want := make([]uint32, rounds*most), make([]uint32, rounds*most)
			for i := range tiles {
				for k := range outer[i] {
					for j := range 1 + k%most {
						want[(outer[tiles+i]+k)*most+j] = 1
					}
				}
			}
			d.run(t, "donate_work", board, outer, tiles, most, visits, waits)
			equal(t, "visits", visits, want)
			if board[0] != 0 || board[1] != 0 {
				t.Fatalf("the board has %x and %d filled slots", board[0], board[1])
			}
		}
		if d.workers > 1 && board[2] == 0 {
			t.Error("no block has given work away")
		}
	})
}
