package tables

import (
	"math/rand/v2"
	"testing"
)

func TestMixerIsABijection(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for b := range uint(65) {
		m := newMixer(b)
		for range 200 {
			k := rnd.Uint64() & m.mask
			if h := m.hash(k); h&^m.mask != 0 || m.key(h) != k {
				t.Fatalf("%d bits: key %x has hash %x, which has key %x", b, k, h, m.key(h))
			}
		}
	}
}
