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

// State holds the variables of a run on the device.
type State struct {
	*woven.Bound
	device.Run
	machine.Variables
	Relations map[*harmony.Relation]*Relation
	Indexes   map[*harmony.Index]*Index
	Groups    map[*harmony.Groups]*Groups

	Resident  *Residency
	Unshared  bool        // the run does not share indexes over facts
	residents []*resident // the residents in use
	retired   []*resident // indexes among residents that are no longer needed
	found     map[formKey]*resident
	Mark      *CopyMark // the mark of the run's prefetches, or nil

	Sizes   *replay.Sizes // the sizes in earlier runs
	MinRows int64         // the smallest capacity of a relation, in rows
	// ShortRun is the number of rows up to which a growing index is one run.
	ShortRun int64
	// Places bounds the size of the extents of a spaced index without rows.
	// Added bounds the rows that one block adds to existing extents; for more,
	// the extents are rebuilt.
	Places, Added int64
	// Numbers settles all cursors. It waits for the device if necessary.
	Numbers func(ctx context.Context) error
	// Copies copies from the device and waits for the copies.
	Copies func(ctx context.Context, list ...device.HostCopy) error
}

// Declare declares the variables, empty and without memory.
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

// guessShare is the part of the free memory (one in so many) that a table may
// take because of its size over other facts.
const guessShare = 8

// earlierSize returns how large a variable became in earlier runs. A size that
// is a guess from other facts is bounded; bytes is the size of a row.
func (r *State) earlierSize(decl harmony.Managed, bytes int64) replay.Size {
	size := r.Sizes.Of(decl)
	if size.Rows > 0 && r.Sizes.Guessed() {
		size.Rows = min(size.Rows, r.Memory.Room()/guessShare/max(bytes, 1))
	}
	return size
}

// Settle reads all cursors from the mirror, which must be fresh.
func (r *State) Settle() {
	for _, rel := range r.Relations {
		rel.settle()
	}
	for _, g := range r.Groups {
		g.settle()
	}
}

// Fits reports whether the tables have room for the rows that kernels in the
// stream add. at returns the cursor of a gauge after those kernels.
func (r *State) Fits(at func(gauge int) int64) bool {
	fits := true
	r.each(func(_ harmony.Managed, c *cursor) {
		fits = fits && !(c.Dirty && at(c.Gauge) > c.Limit)
	})
	return fits
}

// ReleaseResidents ends the run's use of columns and indexes that outlive it.
// If the run is done, their copies are complete.
func (r *State) ReleaseResidents(done bool) {
	for _, x := range r.residents {
		if done {
			x.arrived.Store(true)
		}
		r.Resident.release(x)
	}
	r.residents, r.retired = nil, nil
}

// each calls visit for the cursor of each variable that the run fills.
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

// NoteSizes keeps the sizes of this run's variables for later runs.
func (r *State) NoteSizes() {
	r.each(func(decl harmony.Managed, c *cursor) {
		c.reach()
		r.Sizes.Note(decl, c.reached)
	})
}
