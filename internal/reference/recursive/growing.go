package recursive

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// The facts of Growing for a size: the places of a chain for each walker, the
// different starts, and the places for each exit.
const (
	growingPlaces = 3
	growingStarts = 50
	growingExits  = 50
)

// Growing returns facts for growing.logic: as many walkers as watchers. They
// start near the beginning of a chain of places and go to its end.
func Growing(size int, seed uint64) Facts {
	random := rand.New(rand.NewPCG(seed, 0))
	f := Facts{}
	f.add("last", strconv.Itoa(size))
	f.add("seed", "0", "0")
	f.add("again", "-1")
	for b := range size {
		f.add("start", strconv.Itoa(b), strconv.Itoa(random.IntN(growingStarts)))
	}
	for c := range growingPlaces * size {
		f.add("next", strconv.Itoa(c), strconv.Itoa(c+1))
		if c%growingExits == growingExits-1 {
			f.add("exit", strconv.Itoa(c), strconv.Itoa(c/(2*growingExits)))
		}
	}
	return f
}

// SolveGrowing returns the relations of growing.logic over facts of Growing.
// Each watcher comes to know all walkers, each walker comes to all places
// behind its start, and all exits are behind all starts or at one.
func SolveGrowing(f Facts) map[string][]string {
	out := map[string][]string{}
	size := len(f["start"])
	for _, s := range f["start"] {
		b, c := s[0], number(s[1])
		for ; c <= len(f["next"]); c++ {
			out["at"] = append(out["at"], fmt.Sprintf("%s\t%d", b, c))
		}
	}
	hits := map[string]int{}
	for a := range size {
		for b := range size {
			out["comes"] = append(out["comes"], fmt.Sprintf("%d\t%d", a, b))
		}
		for _, e := range f["exit"] {
			out["found"] = append(out["found"], fmt.Sprintf("%d\t%s\t%s", a, e[0], e[1]))
			hits[e[1]]++
		}
	}
	for d, n := range hits {
		out["hits"] = append(out["hits"], fmt.Sprintf("%s\t%d", d, n))
	}
	return out
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}
