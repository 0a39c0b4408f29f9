package graphgen

import (
	"fmt"
	"math/rand/v2"

	"github.com/redfoxdb/redfox/internal/parallel"
)

// The kinds of graphs.
const (
	// RMAT is the recursive matrix of Graph500: quadrants with probabilities
	// 0.57, 0.19, 0.19 and 0.05, and nodes renamed at random.
	RMAT = "rmat"
	// Uniform draws both ends of an edge from all nodes.
	Uniform = "uniform"
	// Zipf draws the first end from all nodes. The second one follows Zipf's
	// law with exponent 1.5, over nodes renamed at random: one node is in about
	// two fifths of the edges.
	Zipf = "zipf"
)

// Graph describes a random graph. It has duplicate edges and loops.
type Graph struct {
	Kind  string
	Bits  int // the graph has 2^Bits nodes
	Edges int
	Seed  uint64
}

// The cumulative probabilities of the first three quadrants of RMAT, in units
// of 2 to the power of -16.
const (
	firstQuadrant  = 57 * 65536 / 100
	secondQuadrant = 76 * 65536 / 100
	thirdQuadrant  = 95 * 65536 / 100
)

// block is how many edges have random numbers of their own.
const block = 1 << 16

// Make returns the edges as two columns. It uses threads threads, or all cores
// for 0.
func (g Graph) Make(threads int) (from, to []int32, err error) {
	if g.Bits < 1 || g.Bits > 31 || g.Edges < 0 {
		return nil, nil, fmt.Errorf("no graph has %d edges of nodes of %d bits", g.Edges, g.Bits)
	}
	var end func(r *rand.Rand) func() (x, y uint64)
	switch g.Kind {
	case RMAT:
		end = g.quadrants
	case Uniform:
		end = func(r *rand.Rand) func() (x, y uint64) {
			return func() (x, y uint64) { return g.node(r), g.node(r) }
		}
	case Zipf:
		end = func(r *rand.Rand) func() (x, y uint64) {
			law := rand.NewZipf(r, 1.5, 1, 1<<g.Bits-1)
			return func() (x, y uint64) { return g.node(r), Permute(law.Uint64(), g.Bits) }
		}
	default:
		return nil, nil, fmt.Errorf("no kind of graphs is called %q", g.Kind)
	}
	from, to = make([]int32, g.Edges), make([]int32, g.Edges)
	parallel.Do(parallel.Threads(threads), (g.Edges+block-1)/block, func(i int) {
		draw := end(rand.New(rand.NewPCG(g.Seed, uint64(i))))
		for k := i * block; k < min((i+1)*block, g.Edges); k++ {
			x, y := draw()
			from[k], to[k] = int32(x), int32(y)
		}
	})
	return from, to, nil
}

// node draws a node.
func (g Graph) node(r *rand.Rand) uint64 { return r.Uint64() >> (64 - g.Bits) }

// quadrants draws edges of an RMAT: each bit of both ends by a quadrant.
func (g Graph) quadrants(r *rand.Rand) func() (x, y uint64) {
	return func() (x, y uint64) {
		var word uint64
		for bit := range g.Bits {
			if bit%4 == 0 {
				word = r.Uint64()
			}
			q := word & 0xffff
			word >>= 16
			x, y = x<<1, y<<1
			switch {
			case q < firstQuadrant:
			case q < secondQuadrant:
				y |= 1
			case q < thirdQuadrant:
				x |= 1
			default:
				x, y = x|1, y|1
			}
		}
		return Permute(x, g.Bits), Permute(y, g.Bits)
	}
}

// Permute is a permutation of the numbers with that many bits. It ignores
// higher bits.
func Permute(i uint64, bits int) uint64 {
	mask := uint64(1)<<bits - 1
	for range 2 {
		i = i * 0x9e3779b97f4a7c15 & mask
		i ^= i >> (bits/2 + 1)
	}
	return i * 0xd6e8feb86659fd93 & mask
}
