package graphgen

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
)

// Join is two relations whose rows match when their keys are equal. The key is
// the second number of Left and the first one of Right; the other number of a
// row occurs once. Those of Right are spread over the range of those of Left.
type Join struct{ Left, Right Edges }

// zipfKeys bounds the keys of a skewed join.
const zipfKeys = 1 << 20

// ZipfJoin returns sides of so many rows, whose keys k have probabilities in
// proportion to (1+k) to the power of -s. The exponent must be above 1.
func ZipfJoin(left, right int, s float64, seed uint64) Join {
	r := rand.New(rand.NewPCG(seed, 1))
	law := rand.NewZipf(r, s, 1, zipfKeys-1)
	return newJoin(r, left, right, func(int) int32 { return int32(law.Uint64()) },
		func(int) int32 { return int32(law.Uint64()) })
}

// UniformJoin returns sides in which each of so many keys has as many rows as
// any other one, and whose matches are about as many as is asked for.
func UniformJoin(left, keys int, matches int64, seed uint64) Join {
	r := rand.New(rand.NewPCG(seed, 2))
	each := max(1, int(matches/int64(left)))
	key := func(i int) int32 { return int32(i % keys) }
	return newJoin(r, left, keys*each, key, key)
}

// newJoin makes both sides, in random order, with the keys of their rows.
func newJoin(r *rand.Rand, left, right int, leftKey, rightKey func(i int) int32) Join {
	j := Join{make(Edges, left), make(Edges, right)}
	for i := range j.Left {
		j.Left[i] = Edge{int32(i), leftKey(i)}
	}
	for i := range j.Right {
		j.Right[i] = Edge{rightKey(i), int32(int64(i) * int64(left) / int64(right))}
	}
	for _, side := range []Edges{j.Left, j.Right} {
		r.Shuffle(len(side), func(a, b int) { side[a], side[b] = side[b], side[a] })
	}
	return j
}

// Matches returns the number of pairs of rows with equal keys.
func (j Join) Matches() (n int64) {
	rows := map[int32]int64{}
	for _, e := range j.Right {
		rows[e[0]]++
	}
	for _, e := range j.Left {
		n += rows[e[1]]
	}
	return n
}

// Write writes the files left.tsv and right.tsv.
func (j Join) Write(dir string) error {
	return errors.Join(j.Left.Write(filepath.Join(dir, "left.tsv")),
		j.Right.Write(filepath.Join(dir, "right.tsv")))
}
