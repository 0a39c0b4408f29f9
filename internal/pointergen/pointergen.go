package pointergen

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Facts are the pairs of each input predicate.
type Facts map[string][]Pair

// Pair is a fact about two variables.
type Pair [2]int

// CSPA returns facts about n variables. Each variable is assigned and
// dereferenced about as often as any other one, but some are read much more
// often. The numbers of tuples derived grow about quadratically.
func CSPA(n int, seed uint64) Facts {
	g := &generator{rand.New(rand.NewPCG(seed, 1)), n}
	return Facts{
		"assign":      g.pairs(n*6/10, g.any, g.often(2)),
		"dereference": g.pairs(n*3/10, g.any, g.often(2)),
	}
}

// Andersen returns facts about n variables: an address for each fifth one, and
// few loads and stores. The number of pairs derived explodes as the assignments
// become more than the variables; they are 21 for 20 variables.
func Andersen(n int, seed uint64) Facts {
	g := &generator{rand.New(rand.NewPCG(seed, 2)), n}
	return Facts{
		"addr":   g.pairs(n/5, g.any, g.any),
		"assign": g.pairs(n*21/20, g.any, g.often(3)),
		"load":   g.pairs(n/80, g.any, g.often(3)),
		"store":  g.pairs(n/80, g.often(3), g.any),
	}
}

type generator struct {
	*rand.Rand
	n int
}

func (g *generator) any() int { return g.IntN(g.n) }

// often returns a choice that prefers low numbers, the more the higher power
// is.
func (g *generator) often(power float64) func() int {
	return func() int { return int(float64(g.n) * math.Pow(g.Float64(), power)) }
}

// pairs returns at most k different pairs, in order.
func (g *generator) pairs(k int, first, second func() int) []Pair {
	out := make([]Pair, k)
	for i := range out {
		out[i] = Pair{first(), second()}
	}
	slices.SortFunc(out, func(a, b Pair) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(out)
}

// Write writes a file NAME.tsv for each predicate.
func (f Facts) Write(dir string) error {
	for name, pairs := range f {
		var text []byte
		for _, p := range pairs {
			text = strconv.AppendInt(text, int64(p[0]), 10)
			text = append(text, '\t')
			text = strconv.AppendInt(text, int64(p[1]), 10)
			text = append(text, '\n')
		}
		if err := os.WriteFile(filepath.Join(dir, name+".tsv"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
