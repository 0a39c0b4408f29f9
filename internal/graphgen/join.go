package graphgen

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
)

// Chain is relations that are joined one after another: a row matches those
// rows of the next relation that begin with the number that it ends with. The
// first number of the first relation and the last number of the last one occur
// once, and the latter are spread over the range of the former.
type Chain []Edges

const (
	// zipfKeys bounds the keys of skewed relations.
	zipfKeys = 1 << 20
	// middleKeys is how many keys the relations behind the second one have for
	// which there are rows before them. All are equally frequent there, so that
	// a row with a hub is rare and its matches are many.
	middleKeys = 1000
)

// ZipfChain returns relations of about the given number of rows, whose keys k
// have probabilities in proportion to (1+k) to the power of -s in the relation
// that they begin, and in the first one. The exponent must be above 1.
func ZipfChain(rows []int, s float64, seed uint64) Chain {
	r := rand.New(rand.NewPCG(seed, 1))
	law := rand.NewZipf(r, s, 1, zipfKeys-1)
	skewed := func(int) int32 { return int32(law.Uint64()) }
	return newChain(r, rows, skewed, skewed, func(int) int32 { return r.Int32N(middleKeys) })
}

// UniformChain returns as many relations, each of whose keys begins as many
// rows as any other one. Of the first relation's rows, each has as many matches
// with all others, and all together about as many as is asked for.
func UniformChain(first, relations, keys int, matches int64, seed uint64) Chain {
	r := rand.New(rand.NewPCG(seed, 2))
	rows := []int{first}
	for left := relations - 1; left > 0; left-- {
		each := root(matches/int64(first), left)
		matches /= max(1, each)
		rows = append(rows, keys*int(max(1, each)))
	}
	key := func(i int) int32 { return int32(i % keys) }
	return newChain(r, rows, key, key, func(i int) int32 { return int32(i / keys % keys) })
}

// root returns the largest number whose power is at most n.
func root(n int64, power int) (x int64) {
	for {
		product := int64(1)
		for range power {
			product *= x + 1
		}
		if product > n {
			return x
		}
		x++
	}
}

// newChain makes the relations, in random order. The keys of row i are those
// that end the first relation, that begin others, and that end others.
func newChain(r *rand.Rand, rows []int, ends, begins, middle func(i int) int32) Chain {
	c := make(Chain, len(rows))
	for at, n := range rows {
		list := make(Edges, n)
		for i := range list {
			switch {
			case at == 0:
				list[i] = Edge{int32(i), ends(i)}
			case at == len(rows)-1:
				list[i] = Edge{begins(i), int32(int64(i) * int64(rows[0]) / int64(n))}
			default:
				list[i] = Edge{begins(i), middle(i)}
			}
		}
		if at > 0 {
			slices.SortFunc(list, func(a, b Edge) int { return slices.Compare(a[:], b[:]) })
			list = slices.Compact(list)
		}
		r.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
		c[at] = list
	}
	return c
}

// Matches returns the number of rows of the join of all.
func (c Chain) Matches() (n int64) {
	behind := map[int32]int64{}
	for at, list := range slices.Backward(c) {
		now := map[int32]int64{}
		for _, e := range list {
			if at == len(c)-1 {
				now[e[0]]++
			} else {
				now[e[0]] += behind[e[1]]
			}
		}
		behind = now
	}
	for _, matches := range behind {
		n += matches
	}
	return n
}

// Write writes the files r1.tsv, r2.tsv and so on.
func (c Chain) Write(dir string) (err error) {
	for i, list := range c {
		err = errors.Join(err, list.Write(filepath.Join(dir, fmt.Sprintf("r%d.tsv", i+1))))
	}
	return err
}
