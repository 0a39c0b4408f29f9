package tables

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// Spaced is the form of an index to which loops on the device add rows. In a
// multi index each key has an extent of rows, with room behind them
// (primitives/src/extents.h). The host launches all blocks for a build and
// keeps runs instead, so an index has both forms if both lead rounds. To other
// kinds of index, the device adds rows as the host does.
type Spaced struct {
	// AtHand means that functions get this form of the index.
	AtHand bool
	Gauge  int   // the gauge of the places that extents take
	Limit  int64 // the limit of that gauge
	// Until is the end of the indexed rows, which begin with row 0, or -1 if
	// there is no index. EndGauge is the gauge for the value that a loop
	// leaves.
	Until    int64
	EndGauge int

	// of holds the tables, whose Begins are extents. It is the index itself if
	// that is not a multi index.
	of         *Index
	generation int
	counting   bool // Begins are not extents yet
}

const (
	// spacedGrowth is the number of places for each row when the index is
	// built.
	spacedGrowth = 4
	// leastExtent is the smallest size of an extent, in places.
	leastExtent = 4
	// extentBytes is the size of an extent's description, in bytes.
	extentBytes = 16
)

// Space gives the index a spaced form.
func (x *Index) Space() {
	if x.Spaced != nil {
		return
	}
	x.Spaced = &Spaced{Until: -1, of: x,
		Gauge: x.run.Control.NewGauge(), EndGauge: x.run.Control.NewGauge()}
	if x.Decl.Kind == harmony.Multi {
		x.Spaced.of = newRun(x.run, x.Decl, x.Lay, x.Rel, x.What)
	}
}

// TakesRows reports whether the form of the keys allows a spaced index.
func (x *Index) TakesRows() bool { return x.Lay.Form == abi.Hash || x.Lay.Form == abi.Direct }

// Unready returns how many rows have to be added before a loop can start with
// an index over a version. able is false if kernels cannot probe the spaced
// form. If the loop adds rows (added), it also adds a few missing ones itself.
func (x *Index) Unready(of harmony.Version, added bool) (rows int64, able bool, err error) {
	s := x.Spaced
	from, until, err := x.Rel.Version(x.run.Ctx, of)
	if err != nil || from != 0 || !added && x.Until != until {
		return 0, false, err // without builds, kernels may probe outdated rows
	}
	most := int64(0)
	if added {
		most = x.run.Added
	}
	has := s.Until
	if s.inPlace() {
		if has = -1; x.BuiltFrom(0, x.Rel.Generation) && x.holds(x.Rel.Capacity) {
			has = x.Until
		}
	} else if s.generation != x.Rel.Generation {
		has = -1
	}
	if has >= 0 && has <= until && until-has <= most {
		s.Until = has
		return 0, true, nil
	}
	return max(until, 1), true, nil
}

// inPlace reports whether the index is extended in place.
func (s *Spaced) inPlace() bool { return s.of.Decl.Kind != harmony.Multi }

// holds reports whether the table of an index that is extended in place has
// room for that many rows.
func (x *Index) holds(rows int64) bool {
	return x.Form == abi.Direct || x.Form == abi.Hash && machine.RoomOf(x.Mask) >= rows
}

// BeginRounds adds the rows of a version of the relation. exec runs the passes
// of a build. It returns false if the index would be too large.
func (x *Index) BeginRounds(
	of harmony.Version, exec func(passes []machine.Pass) error,
) (able bool, err error) {
	_, until, err := x.Rel.Version(x.run.Ctx, of)
	if err != nil {
		return false, err
	}
	if x.Spaced.inPlace() {
		return true, x.Spaced.buildInPlace(until, exec)
	}
	if err := x.Spaced.release(); err != nil {
		return false, err
	}
	return x.Spaced.build(until, x.Rel.Generation, exec)
}

// buildInPlace builds an index with room for all rows that the relation has
// room for.
func (s *Spaced) buildInPlace(until int64, exec func(passes []machine.Pass) error) error {
	x := s.of
	x.keys = x.Rel.Capacity
	defer func() { x.keys = 0 }()
	x.Begin(0, until, x.Rel.Generation, nil)
	passes, err := x.Passes()
	if err == nil {
		err = exec(passes)
	}
	s.Until = until
	return err
}

// build builds the index over the first rows of the relation. Like the build of
// an index that does not grow, it counts the rows first.
func (s *Spaced) build(
	until int64, generation int, exec func(passes []machine.Pass) error,
) (able bool, err error) {
	x := s.of
	x.Begin(0, until, generation, nil)
	s.Limit = spacedGrowth*until + x.run.Places
	if s.Limit > machine.MaxRows {
		return false, nil
	}
	x.keys = until + (s.Limit-until)/leastExtent
	if err := x.run.Alloc(&x.Rows, x.What, 4*s.Limit); err != nil {
		return false, err
	}
	passes, err := x.Passes()
	if err != nil {
		return false, err
	}
	s.AtHand, s.counting = true, true
	err = exec(passes)
	s.AtHand, s.counting = false, false
	if err != nil {
		return false, err
	}
	var extents device.Buffer
	numbers := x.Numbers()
	if err := x.run.Alloc(&extents, x.What, extentBytes*numbers); err != nil {
		return false, err
	}
	if err := x.run.Extents(x.Begins, numbers, extents); err != nil {
		return false, err
	}
	if err := x.run.Drop(&x.Begins); err != nil {
		return false, err
	}
	x.Begins, s.Until, s.generation = extents, until, generation
	return true, x.run.Control.Set(x.run.Ctx, s.Gauge, until, s.Limit)
}

// LoopWords returns the words of the index in the record of a loop. relation is
// the number of its relation there.
func (s *Spaced) LoopWords(relation int64) [abi.LoopRelation]int64 {
	var w [abi.LoopRelation]int64
	at := func(gauge int) int64 { return int64(s.of.run.Control.At(gauge)) }
	w[abi.LoopGauge] = at(s.Gauge)
	if !s.inPlace() { // in place, the relation is full before the index
		w[abi.LoopLimit], w[abi.LoopFilled] = s.Limit, 1
	}
	w[abi.LoopOld], w[abi.LoopOldGauge], w[abi.LoopOf] = s.Until, at(s.EndGauge), relation
	return w
}

// EndRounds updates the index after a loop, which has added rows up to until.
// If full, some did not fit, and the index is dropped.
func (s *Spaced) EndRounds(until int64, full bool) {
	if s.inPlace() {
		s.of.Until = until
	}
	if s.Until = until; full {
		s.Until = -1
	}
}

// word is Word for functions that get the spaced form.
func (s *Spaced) word(p abi.Param) (int64, error) {
	switch {
	case s.counting:
	case p.Kind == abi.IndexSpaced:
		return 1, nil
	case p.Kind == abi.IndexTaken:
		return int64(s.of.run.Control.At(s.Gauge)), nil
	}
	return s.of.Index.Word(p)
}

// release frees the index, unless it is also the host's.
func (s *Spaced) release() error {
	if s == nil {
		return nil
	}
	if s.Until = -1; s.inPlace() {
		return nil
	}
	return s.of.Release()
}

// LoopVersion encodes, for the record of a loop, which rows a build of a
// version adds to a spaced index.
func LoopVersion(of harmony.Version) int64 {
	if of == harmony.Old {
		return abi.LoopIndexBefore
	}
	return abi.LoopIndexMerged
}
