package tables

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// Spaced is an index to which loops of the device add rows. A multi index has
// an extent of rows for each key, with room behind them
// (primitives/src/extents.h). The host, which launches all blocks for a build,
// keeps runs instead: there are both if both lead rounds. The device adds to
// other indexes as the host does.
type Spaced struct {
	// AtHand says that functions get this index.
	AtHand bool
	Gauge  int   // of the places that extents take
	Limit  int64 // of them
	// Until is where the rows end that the index has, which begin with the
	// first one; EndGauge is for what a loop has left. Until is -1 if there is
	// no index.
	Until    int64
	EndGauge int

	// of has the tables, whose Begins are extents. It is the index itself if
	// that is no multi index.
	of         *Index
	generation int
	counting   bool // Begins are not extents yet
}

const (
	// spacedGrowth is how many places there are for each row of an index that
	// is built.
	spacedGrowth = 4
	// leastExtent is how many places an extent takes at least.
	leastExtent = 4
	// extentBytes is the size of an extent.
	extentBytes = 16
)

// Space gives the index a form that loops of the device add rows to.
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

// TakesRows reports whether keys have a form that loops of the device add rows
// to.
func (x *Index) TakesRows() bool { return x.Lay.Form == abi.Hash || x.Lay.Form == abi.Direct }

// Unready returns how many rows have to be entered before a loop can begin with
// an index of a version, and false if kernels cannot probe the spaced index. If
// the loop adds rows, it adds a few that are missing, too.
func (x *Index) Unready(of harmony.Version, added bool) (rows int64, able bool, err error) {
	s := x.Spaced
	from, until, err := x.Rel.Version(x.run.Ctx, of)
	if err != nil || from != 0 || !added && x.Until != until {
		return 0, false, err // without builds kernels may probe rows of an earlier state
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
// room for rows.
func (x *Index) holds(rows int64) bool {
	return x.Form == abi.Direct || x.Form == abi.Hash && machine.RoomOf(x.Mask) >= rows
}

// BeginRounds enters the rows of a version of the relation. Exec runs passes of
// a build. It returns false if the index would be too large.
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

// buildInPlace makes an index with room for all rows that the relation has room
// for.
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

// build makes the index of the first rows of the relation. They are counted
// first, as those of an index that does not grow.
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

// LoopWords returns the words of the index in the record of a loop, where its
// relation has a number.
func (s *Spaced) LoopWords(relation int64) [abi.LoopRelation]int64 {
	var w [abi.LoopRelation]int64
	at := func(gauge int) int64 { return int64(s.of.run.Control.At(gauge)) }
	w[abi.LoopGauge] = at(s.Gauge)
	if !s.inPlace() { // else the relation is full first
		w[abi.LoopLimit], w[abi.LoopFilled] = s.Limit, 1
	}
	w[abi.LoopOld], w[abi.LoopOldGauge], w[abi.LoopOf] = s.Until, at(s.EndGauge), relation
	return w
}

// EndRounds takes over what a loop has left: the rows that it has added, or
// nothing if there was no room for some.
func (s *Spaced) EndRounds(until int64, full bool) {
	if s.inPlace() {
		s.of.Until = until
	}
	if s.Until = until; full {
		s.Until = -1
	}
}

// word is Word for functions that get the spaced index.
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

// release frees the index, if it is not the one that the host has.
func (s *Spaced) release() error {
	if s == nil {
		return nil
	}
	if s.Until = -1; s.inPlace() {
		return nil
	}
	return s.of.Release()
}

// LoopVersion returns the rows that a build of a version adds to a spaced
// index, as the record of a loop has them.
func LoopVersion(of harmony.Version) int64 {
	if of == harmony.Old {
		return abi.LoopIndexBefore
	}
	return abi.LoopIndexMerged
}
