package infer

import (
	"container/heap"

	"github.com/redfoxdb/redfox/frontend/sema/normal"
)

// agenda has what can go on, because a type became known: arguments of bodies
// that waited for it, and widened columns into which rules put values of it.
// Without it, each step along a chain of widened columns would look at all of
// them.
type agenda struct {
	uses     numbers // of waiting arguments
	complete numbers // columns of whose values all types are known
	partial  numbers // columns of whose values some type is known
	// unknown counts the values of a column whose types are not known.
	unknown map[int]int
}

// numbers is a heap whose least number comes first. An agenda is worked off in
// the order of the text.
type numbers []int

func (h numbers) Len() int           { return len(h) }
func (h numbers) Less(i, j int) bool { return h[i] < h[j] }
func (h numbers) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds a number, for package heap.
func (h *numbers) Push(x any) { *h = append(*h, x.(int)) }

// Pop removes the last number, for package heap.
func (h *numbers) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (h *numbers) add(n int) { heap.Push(h, n) }

// each takes the numbers in ascending order. Those that come up meanwhile and
// are less than the current one stay.
func (h *numbers) each(f func(n int)) {
	var later []int
	last := -1
	for h.Len() > 0 {
		n := heap.Pop(h).(int)
		if n < last {
			later = append(later, n)
			continue
		}
		last = n
		f(n)
	}
	for _, n := range later {
		h.add(n)
	}
}

// dependents has what waits for the type of a class.
type dependents struct {
	uses []int // waiting arguments
	puts []int // columns, one for each value that a rule puts into them
}

func (d *dependents) size() int { return len(d.uses) + len(d.puts) }

// take adds what waits for another class.
func (d *dependents) take(other *dependents) {
	d.uses = append(d.uses, other.uses...)
	d.puts = append(d.puts, other.puts...)
}

// release moves what waits for a class to the agenda.
func (s *solver) release(d *dependents) {
	for _, use := range d.uses {
		s.agenda.uses.add(use)
	}
	for _, column := range d.puts {
		s.typedPut(column)
	}
	*d = dependents{}
}

func (s *solver) typedPut(column int) {
	s.agenda.unknown[column]--
	s.agenda.partial.add(column)
	if s.agenda.unknown[column] == 0 {
		s.agenda.complete.add(column)
	}
}

// awaitUse puts a waiting argument on the agenda once a node has a type.
func (s *solver) awaitUse(node, use int) {
	if c := s.classOf(node); c.known || c.poisoned {
		s.agenda.uses.add(use)
	} else {
		c.dependents.uses = append(c.dependents.uses, use)
	}
}

// awaitPuts puts a widened column on the agenda once its values have types.
func (s *solver) awaitPuts(column int) {
	s.agenda.unknown[column] = 1
	for _, t := range s.puts[column] {
		r, ok := t.(normal.Ref)
		if !ok || normal.LiteralOf(t) != nil {
			continue
		}
		s.agenda.unknown[column]++
		if c := s.classOf(r.Var.Node); c.known || c.poisoned {
			s.typedPut(column)
		} else {
			c.dependents.puts = append(c.dependents.puts, column)
		}
	}
	s.typedPut(column) // literals have types from the start
}
