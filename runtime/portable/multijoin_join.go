package portable

import "slices"

// multiWalk is a multijoin over tries.
type multiWalk[K trieWord] struct {
	inputs []*trie[K]
	vars   []joinVariable
	// lead is the input whose rows are shared out among the workers; of those that
	// have the first variable the one with the most rows.
	lead int
	base int64
	// fixed is the place of the last variable, of two, whose list stays the same
	// while the variable before takes its values; -1 if neither does.
	fixed int
	// pays are the inputs' columns in the output, of one input after the other.
	pays  []payloadColumn
	slots int
}

// joinVariable is a column that several inputs have.
type joinVariable struct {
	at   []place
	slot int // in the output; -1 if it is not needed
}

// place is a level of an input's trie.
type place struct{ input, level int }

type payloadColumn struct{ input, field, slot int }

// findFixed returns what fixed is to be.
func (s *multiWalk[K]) findFixed() int {
	last := len(s.vars) - 1
	if last == 0 || len(s.vars[last].at) > 2 {
		return -1
	}
	return slices.IndexFunc(s.vars[last].at, func(p place) bool {
		return !slices.ContainsFunc(s.vars[last-1].at, func(q place) bool { return p.input == q.input })
	})
}

// leadWeight is how many rows of an ordinary source a row of the lead counts
// for: each starts a search and not one step.
const leadWeight = 16

// share shares out the rows of the longest input and returns the number of rows
// that they stand for.
func (s *multiWalk[K]) share() int {
	s.fixed = s.findFixed()
	rows := 0
	for _, at := range s.vars[0].at {
		if n := s.inputs[at.input].rows; n > rows {
			s.lead, rows = at.input, n
		}
	}
	return rows * leadWeight
}

// walk returns a worker's walk.
func (s *multiWalk[K]) walk(w *worker) *multiScanner[K] {
	size := w.run.opts.vector
	j := &multiScanner[K]{src: s, run: w.run, size: size, batch: batch{cols: vectors(s.slots, size)}}
	j.inputs = make([]walked[K], len(s.inputs))
	for i, in := range s.inputs {
		x := &j.inputs[i]
		x.trie = in
		x.from, x.to = make([]uint32, len(in.vals)+1), make([]uint32, len(in.vals)+1)
	}
	lead := 0
	for _, v := range s.vars {
		j.cursors = append(j.cursors, make([]cursor[K], len(v.at)))
	}
	for _, in := range s.inputs {
		lead = max(lead, len(in.vals))
	}
	j.first, j.last = make([]uint32, lead+1), make([]uint32, lead+1)
	j.bound = make([]K, len(s.vars))
	for _, c := range s.pays {
		if !slices.Contains(j.chosen, c.input) {
			j.chosen = append(j.chosen, c.input)
			j.places = append(j.places, make([]uint32, size))
		}
	}
	j.rows = make([]uint32, len(j.chosen))
	return j
}
