package parquet

import (
	"testing"

	"github.com/cespare/xxhash/v2"
)

// TestXXH64 compares the hash of filters with published hashes.
func TestXXH64(t *testing.T) {
	for text, want := range map[string]uint64{"": 0xef46db3751d8e999, "a": 0xd24ec4f1a98c6e5b,
		"abc": 0x44bc2cf5ad770999, "Nobody inspects the spammish repetition": 0xfbcea83c8a378bf1} {
		if got := xxhash.Sum64([]byte(text)); got != want {
			t.Errorf("%q: %x, not %x", text, got, want)
		}
	}
}
