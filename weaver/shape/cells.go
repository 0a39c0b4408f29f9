package shape

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

const (
	// enoughThreads keep a multiprocessor's memory busy with sequential loads,
	// and enoughProbing with random accesses.
	enoughThreads, enoughProbing = 512, 1536
	// mostPrivate is the most groups for which threads may have cells of their
	// own.
	mostPrivate = 64
)

// Field is the part of a cell of 64 bits that an accumulator has.
type Field struct {
	Cell int
	Part int // as primitives/src/private.h numbers them
}

// The parts of a cell.
const (
	WholeCell = iota
	LowHalf
	HighHalf
)

// Cells are the cells that each thread has of each group
// (primitives/src/private.h). To add a row takes no atomics, which otherwise
// are one for each accumulator and digit.
type Cells struct {
	Accs    []Field // of each accumulator but counts; those of one operand share a field
	Rows    Field   // the number of a group's rows, if Counted
	Counted bool
	Witness Field // not 0 once a group has had a row
	Cells   int
	Groups  int
}

// Bytes is the size of all cells of a thread. Rows that are not live have a
// place behind those of the groups.
func (c *Cells) Bytes() int { return 8 * c.Cells * (c.Groups + 1) }

// chooseCells decides whether each thread has cells of its own; nil if not. Few
// rows come through a queue: for them, the memory does more as a cache.
func (f *Function) chooseCells(s *harmony.Group) *Cells {
	if len(f.Kernel.Sinks) != 1 || f.Queue != nil {
		return nil
	}
	enough := enoughThreads
	if f.probes() {
		enough = enoughProbing
	}
	c := f.layCells(s)
	if c == nil {
		return nil
	}
	block := c.Bytes() * f.Threads
	if f.options.Target.MostShared()/(block+scratchReserve+blockShared)*f.Threads < enough ||
		block > f.dynamicRoom() {
		return nil
	}
	return c
}

// probes reports whether rows are looked up.
func (f *Function) probes() bool {
	return slices.ContainsFunc(f.Kernel.Stages, func(s harmony.Stage) bool {
		_, ok := s.(*harmony.Probe)
		return ok
	})
}

// layCells lays out the cells; nil if there may be too many groups or a sum may
// not fit its cell.
//
// The threads of a block take turns with the rows, so each adds up the rows of
// the source divided by the number of threads, unless an expansion makes rows.
func (f *Function) layCells(s *harmony.Group) *Cells {
	if f.expands() {
		return nil
	}
	size, known := f.Fixed(abi.GroupSize, s.To.Name, 0)
	most, ok := f.numbers(GroupKey, s.To.Name, len(s.Key))
	if !ok || most == 0 || !known || size <= 0 || size > mostPrivate {
		return nil
	}
	c := &Cells{Accs: make([]Field, len(s.To.Accs)), Groups: int(size)}
	var narrow []*Field
	var positive *Field
	for i, a := range s.To.Accs {
		if a.Shares > 0 {
			continue
		}
		c.Counted = c.Counted || Counts(a)
		switch {
		case a.Fn == queryplan.Count:
			continue
		case a.In.Kind == scalar.Float:
			return nil
		case a.Fn.IsTotal():
			if !f.sumFits(s.Vals[i], rowsAtMost/f.Threads) {
				return nil
			}
			if SameSum(s, i) < i {
				continue
			}
			lo, hi, _ := f.boundsOf(s.Vals[i])
			if lo >= 0 && hi < int64(f.Threads) {
				// Rows times that is less than 2^32.
				narrow = append(narrow, &c.Accs[i])
				continue
			}
			if positive == nil && lo > 0 {
				positive = &c.Accs[i]
			}
		}
		c.Accs[i].Cell = c.Cells
		c.Cells++
	}
	if positive == nil || c.Counted {
		c.Counted, positive = true, &c.Rows
		narrow = append(narrow, &c.Rows)
	}
	for i, field := range narrow {
		field.Cell, field.Part = c.Cells+i/2, LowHalf+i%2
	}
	c.Cells += (len(narrow) + 1) / 2
	c.Witness = *positive
	for i := range c.Accs {
		if s.To.Accs[i].Fn.IsTotal() {
			c.Accs[i] = c.Accs[SameSum(s, i)]
		}
	}
	return c
}
