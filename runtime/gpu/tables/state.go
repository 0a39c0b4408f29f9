package tables

import (
	"context"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/replay"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// State is the variables of a run, on the device.
type State struct {
	*woven.Bound
	device.Run
	machine.Variables
	Relations map[*harmony.Relation]*Relation
	Indexes   map[*harmony.Index]*Index
	Groups    map[*harmony.Groups]*Groups

	Resident  *Residency
	Unshared  bool        // indexes over facts are the run's own
	residents []*resident // in use
	retired   []*resident // of residents: indexes that are not needed again
	found     map[formKey]*resident
	Mark      *CopyMark // of the run's prefetches, or nil

	Sizes   *replay.Sizes // of earlier runs
	MinRows int64         // the least capacity of a relation
	// ShortRun is the number of rows of an index that are always one run.
	ShortRun int64
	// Places is how many places the extents of a spaced index without rows may
	// take, and Added how many rows at most are added to extents rather than
	// making them again: one block adds them.
	Places, Added int64
	// Numbers settles all cursors, and waits for the device if necessary.
	Numbers func(ctx context.Context) error
	// Copies copies from the device and waits.
	Copies func(ctx context.Context, list ...device.HostCopy) error
}

// Declare makes the variables, empty and without memory.
func (r *State) Declare(name func(harmony.Managed) string) {
	g := r.Graph
	r.Control.Lane = r.Lane
	r.Control.Words = device.FirstGauge
	r.Control.Limits = nil
	r.Variables = machine.Variables{}
	r.Relations = make(map[*harmony.Relation]*Relation, len(g.Relations))
	r.Indexes = make(map[*harmony.Index]*Index, len(g.Indexes))
	r.Groups = make(map[*harmony.Groups]*Groups, len(g.Groups))
	r.Owned = map[cuda.Pointer]int64{}
	r.found = map[formKey]*resident{}
	for _, decl := range g.Relations {
		rel := &Relation{Versions: machine.Versions{Decl: decl, What: name(decl)}, cursor: cursor{
			run: r, Limit: device.Unlimited, Gauge: -1}}
		loaded := r.Data.Columns(decl)
		for i, c := range decl.Cols {
			col := &Column{Column: r.Layouts.Columns[decl][i], Typ: c.Type}
			if loaded != nil {
				col.Loaded = loaded[i]
			}
			rel.Cols = append(rel.Cols, col)
		}
		if loaded != nil {
			rel.Most = int64(r.Data.Rows(decl))
			rel.Full = rel.Most
		} else {
			rel.Gauge = r.Control.NewGauge()
		}
		if lay := r.Layouts.Sets[decl]; lay != nil {
			rel.set = newTupleSet(r, rel.What, lay)
		}
		rel.earlier = r.earlierSize(decl, rel.tupleBytes())
		r.Relations[decl], r.Variables[decl] = rel, rel
	}
	for _, decl := range g.Indexes {
		x := newIndex(r, decl, r.Layouts.Indexes[decl], r.Relations[decl.Of], name(decl))
		r.Indexes[decl], r.Variables[decl] = x, x
	}
	for _, decl := range g.Groups {
		g := newGroups(r, decl, r.Layouts.Groups[decl], name(decl))
		r.Groups[decl], r.Variables[decl] = g, g
	}
}

// guessShare is the part of the free memory that a table may take because of
// its size over other facts.
const guessShare = 8

// earlierSize returns how large a variable became in earlier runs. A size over
// other facts is bounded, for a variable of so many bytes a row.
func (r *State) earlierSize(decl harmony.Managed, bytes int64) replay.Size {
	size := r.Sizes.Of(decl)
	if size.Rows > 0 && r.Sizes.Guessed() {
		size.Rows = min(size.Rows, r.Memory.Room()/guessShare/max(bytes, 1))
	}
	return size
}

// Settle reads all cursors from the mirror, which is fresh.
func (r *State) Settle() {
	for _, rel := range r.Relations {
		rel.settle()
	}
	for _, g := range r.Groups {
		g.settle()
	}
}

// Fits reports whether the tables have room for the rows that kernels in the
// stream add, given the cursors of gauges after them.
func (r *State) Fits(at func(gauge int) int64) bool {
	fits := true
	r.each(func(_ harmony.Managed, c *cursor) {
		fits = fits && !(c.Dirty && at(c.Gauge) > c.Limit)
	})
	return fits
}

// ReleaseResidents ends the use of columns and indexes that outlive the run. If
// the run is done, their copies are complete.
func (r *State) ReleaseResidents(done bool) {
	for _, x := range r.residents {
		if done {
			x.arrived.Store(true)
		}
		r.Resident.release(x)
	}
	r.residents, r.retired = nil, nil
}

// each visits the cursors of variables that the run fills.
func (r *State) each(visit func(decl harmony.Managed, c *cursor)) {
	for decl, rel := range r.Relations {
		if !rel.IsLoaded() {
			visit(decl, &rel.cursor)
		}
	}
	for decl, g := range r.Groups {
		visit(decl, &g.cursor)
	}
}

// NoteSizes leaves later runs how large the variables of this one became.
func (r *State) NoteSizes() {
	r.each(func(decl harmony.Managed, c *cursor) {
		c.reach()
		r.Sizes.Note(decl, c.reached)
	})
}
