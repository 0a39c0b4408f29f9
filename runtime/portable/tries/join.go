package tries

import (
	"slices"

	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// Join is a multijoin over tries.
type Join[K Word] struct {
	Inputs []*Trie[K]
	Vars   []Variable
	// lead is the input whose rows are shared out among the workers; of those
	// that have the first variable the one with the most rows.
	lead int
	Base int64
	// fixed are the places of the last variable whose lists stay the same while
	// the variable before takes its values, moving the others. If all stayed
	// the same, all are moving.
	fixed, moving []Place
	// Pays are the inputs' columns in the output, of one input after the other.
	Pays  []Payload
	Slots int
	// Counted has the walkers push a tuple once, with the number of its copies.
	Counted bool
}

// Variable is a column that several inputs have.
type Variable struct {
	At   []Place
	Slot int // in the output; -1 if it is not needed
}

// Place is a level of an input's trie.
type Place struct{ Input, Level int }

// Payload is a column of one input in the output.
type Payload struct{ Input, Field, Slot int }

// split finds fixed and moving.
func (s *Join[K]) split() {
	last := len(s.Vars) - 1
	s.fixed, s.moving = nil, nil
	for _, p := range s.Vars[last].At {
		if last > 0 && !slices.ContainsFunc(s.Vars[last-1].At,
			func(q Place) bool { return p.Input == q.Input }) {
			s.fixed = append(s.fixed, p)
		} else {
			s.moving = append(s.moving, p)
		}
	}
	if s.moving == nil {
		s.fixed, s.moving = nil, s.fixed
	}
}

// leadWeight is how many rows of an ordinary source a row of the lead counts
// for: each starts a search and not one step.
const leadWeight = 16

// Share shares out the rows of the longest input and returns the number of rows
// that they stand for.
func (s *Join[K]) Share() int {
	s.split()
	rows := 0
	for _, at := range s.Vars[0].At {
		if n := s.Inputs[at.Input].Rows; n > rows {
			s.lead, rows = at.Input, n
		}
	}
	return rows * leadWeight
}

// Walk returns a worker's walk.
func (s *Join[K]) Walk(w *work.Worker) *walker[K] {
	size := w.Run.Sizes.Vector
	j := &walker[K]{src: s, run: w.Run, size: size,
		batch: work.Batch{Cols: work.Vectors(s.Slots, size)}}
	if s.Counted {
		j.batch.Copies = make([]uint64, size)
	}
	j.inputs = make([]walked[K], len(s.Inputs))
	for i, in := range s.Inputs {
		x := &j.inputs[i]
		x.trie = in
		x.from, x.to = make([]uint32, len(in.vals)+1), make([]uint32, len(in.vals)+1)
	}
	lead := 0
	for _, v := range s.Vars {
		j.cursors = append(j.cursors, make([]cursor[K], len(v.At)))
	}
	for _, in := range s.Inputs {
		lead = max(lead, len(in.vals))
	}
	j.first, j.last = make([]uint32, lead+1), make([]uint32, lead+1)
	j.bound = make([]K, len(s.Vars))
	j.fixedAt = make([][2]uint32, len(s.fixed))
	for _, c := range s.Pays {
		if !slices.Contains(j.chosen, c.Input) {
			j.chosen = append(j.chosen, c.Input)
			j.places = append(j.places, make([]uint32, size))
		}
	}
	j.rows = make([]uint32, len(j.chosen))
	return j
}
