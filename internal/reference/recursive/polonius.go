package recursive

import (
	"fmt"
	"math/rand/v2"
)

// Shape of a made-up function whose borrows are checked: branches of
// straight-line code, with a jump back now and then, in each of which some
// references are alive at a time.
const (
	branchPoints  = 1400
	branchOrigins = 120
)

// Polonius makes a function of about the given number of points. A branch has
// about 23,000 facts.
func Polonius(points int, seed uint64) Facts {
	r := rand.New(rand.NewPCG(seed, 4))
	f := Facts{}
	branches := max(1, points/branchPoints)
	for b := range branches {
		g := &borrows{r: r, f: f, branch: b, points: points / branches}
		f.add("cfg_edge", "entry", g.point(0))
		f.add("cfg_edge", g.point(g.points-1), "exit")
		for i := range g.points - 1 {
			f.add("cfg_edge", g.point(i), g.point(i+1))
			if r.IntN(200) == 0 {
				f.add("cfg_edge", g.point(i), g.point(max(0, i-r.IntN(60))))
			}
		}
		for range branchOrigins {
			g.reference()
		}
	}
	return f
}

// borrows makes the references of a branch.
type borrows struct {
	r              *rand.Rand
	f              Facts
	branch, points int
	made           []origin
}

func (g *borrows) point(i int) string { return fmt.Sprintf("b%d[%d]", g.branch, i) }

// origin is the life of a reference: the points from and up to which it is
// read again.
type origin struct {
	name     string
	from, to int
}

// reference makes a reference, what it borrows, and what flows into it. Few
// references live long.
func (g *borrows) reference() {
	from := g.r.IntN(g.points)
	length := max(1, g.points>>g.r.IntN(6))
	o := origin{fmt.Sprintf("'b%d_%d", g.branch, len(g.made)), from,
		min(g.points-1, from+g.r.IntN(length))}
	for i := o.from; i <= o.to; i++ {
		g.f.add("origin_live_on_entry", o.name, g.point(i))
	}
	if g.r.IntN(2) == 0 {
		loan := "loan" + o.name
		g.f.add("loan_issued_at", o.name, loan, g.point(o.from))
		if end := o.from + g.r.IntN(length); end < g.points {
			pred := "loan_killed_at"
			if g.r.IntN(3) == 0 {
				pred = "loan_invalidated_at"
			}
			g.f.add(pred, loan, g.point(end))
		}
	}
	for range 3 {
		if len(g.made) == 0 {
			break
		}
		from := g.made[g.r.IntN(len(g.made))]
		if at := max(from.from, o.from); at <= min(from.to, o.to) {
			g.f.add("subset_base", from.name, o.name, g.point(at))
		}
	}
	g.made = append(g.made, o)
}

// SolvePolonius returns the tuples of the predicates that
// testdata/recursive/polonius.logic derives, as redfox prints them. Subsets and
// loans move from point to point.
func SolvePolonius(f Facts) map[string][]string {
	s := &poloniusSolution{after: map[string][]string{}, live: map[[2]string]bool{},
		killed: map[[2]string]bool{}, subset: map[[3]string]bool{},
		above: map[[2]string][]string{}, below: map[[2]string][]string{},
		holds: map[[3]string]bool{}, loans: map[[2]string][]string{}}
	for _, r := range f["cfg_edge"] {
		s.after[r[0]] = append(s.after[r[0]], r[1])
	}
	for _, r := range f["origin_live_on_entry"] {
		s.live[[2]string{r[0], r[1]}] = true
	}
	for _, r := range f["loan_killed_at"] {
		s.killed[[2]string{r[0], r[1]}] = true
	}
	for _, r := range f["subset_base"] {
		s.addSubset(r[0], r[1], r[2])
	}
	for _, r := range f["loan_issued_at"] {
		s.addLoan(r[0], r[1], r[2])
	}
	for len(s.todo) > 0 {
		next := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		next()
	}
	return s.tuples(f)
}

// poloniusSolution is the state of the worklist. Keys are (origin, point),
// (loan, point), (origin, origin, point) and (origin, loan, point).
type poloniusSolution struct {
	after         map[string][]string // the points behind a point
	live, killed  map[[2]string]bool
	subset, holds map[[3]string]bool
	above, below  map[[2]string][]string // origins with a larger or a smaller set
	loans         map[[2]string][]string // that an origin holds at a point
	todo          []func()
}

// addSubset adds that one origin flows into another at a point.
func (s *poloniusSolution) addSubset(small, large, p string) {
	if s.subset[[3]string{small, large, p}] {
		return
	}
	s.subset[[3]string{small, large, p}] = true
	s.above[[2]string{small, p}] = append(s.above[[2]string{small, p}], large)
	s.below[[2]string{large, p}] = append(s.below[[2]string{large, p}], small)
	s.todo = append(s.todo, func() {
		for _, larger := range s.above[[2]string{large, p}] {
			if small != larger {
				s.addSubset(small, larger, p)
			}
		}
		for _, smaller := range s.below[[2]string{small, p}] {
			if smaller != large {
				s.addSubset(smaller, large, p)
			}
		}
		for _, q := range s.after[p] {
			if s.live[[2]string{small, q}] && s.live[[2]string{large, q}] {
				s.addSubset(small, large, q)
			}
		}
		for _, loan := range s.loans[[2]string{small, p}] {
			s.addLoan(large, loan, p)
		}
	})
}

// addLoan adds that an origin holds a loan at a point.
func (s *poloniusSolution) addLoan(o, loan, p string) {
	if s.holds[[3]string{o, loan, p}] {
		return
	}
	s.holds[[3]string{o, loan, p}] = true
	s.loans[[2]string{o, p}] = append(s.loans[[2]string{o, p}], loan)
	s.todo = append(s.todo, func() {
		for _, large := range s.above[[2]string{o, p}] {
			s.addLoan(large, loan, p)
		}
		if s.killed[[2]string{loan, p}] {
			return
		}
		for _, q := range s.after[p] {
			if s.live[[2]string{o, q}] {
				s.addLoan(o, loan, q)
			}
		}
	})
}

// tuples returns what is derived.
func (s *poloniusSolution) tuples(f Facts) map[string][]string {
	out := map[string][]string{}
	for k := range s.subset {
		out["subset"] = append(out["subset"], k[0]+"\t"+k[1]+"\t"+k[2])
	}
	const held = "origin_contains_loan_on_entry"
	alive := map[[2]string]bool{}
	for k := range s.holds {
		out[held] = append(out[held], k[0]+"\t"+k[1]+"\t"+k[2])
		if s.live[[2]string{k[0], k[2]}] {
			alive[[2]string{k[1], k[2]}] = true
		}
	}
	for k := range alive {
		out["loan_live_at"] = append(out["loan_live_at"], k[0]+"\t"+k[1])
	}
	for _, r := range f["loan_invalidated_at"] {
		if alive[[2]string{r[0], r[1]}] {
			out["errors"] = append(out["errors"], r[0]+"\t"+r[1])
		}
	}
	return out
}
