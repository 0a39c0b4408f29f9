package gpu

import (
	"context"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// state is the variables of a run, on the device.
type state struct {
	*woven.Bound
	device.Run
	machine.Variables
	relations map[*harmony.Relation]*relation
	indexes   map[*harmony.Index]*index
	groups    map[*harmony.Groups]*groups

	resident  *residency
	residents []*resident // in use
	retired   []*resident // of residents, indexes that are not needed again
	found     map[columnKey]*resident
	mark      *copyMark // of the copies that the run has begun, else nil

	hints   *hints
	minRows int64 // that a relation has room for at least
	// numbers waits for the device if that is needed, and settles all numbers.
	numbers func(ctx context.Context) error
	// copies copies from the device and waits.
	copies func(ctx context.Context, list ...device.HostCopy) error
}

// declare makes the variables, which hold nothing yet and have no memory.
func (r *state) declare(name func(harmony.Managed) string) {
	g := r.Graph
	r.Control.Lane = r.Lane
	r.Control.Words = device.FirstGauge
	r.Control.Limits = nil
	r.Variables = machine.Variables{}
	r.relations = make(map[*harmony.Relation]*relation, len(g.Relations))
	r.indexes = make(map[*harmony.Index]*index, len(g.Indexes))
	r.groups = make(map[*harmony.Groups]*groups, len(g.Groups))
	r.Owned = map[cuda.Pointer]int64{}
	r.found = map[columnKey]*resident{}
	for _, decl := range g.Relations {
		rel := &relation{decl: decl, what: name(decl), run: r, limit: device.Unlimited, gauge: -1, hint: r.hints.of(decl)}
		loaded := r.Data.Columns(decl)
		for i, c := range decl.Cols {
			col := &column{Column: r.Layouts.Columns[decl][i], typ: c.Type}
			if loaded != nil {
				col.loaded = loaded[i]
			}
			rel.cols = append(rel.cols, col)
		}
		if loaded != nil {
			rel.most = int64(r.Data.Rows(decl))
			rel.full = rel.most
		} else {
			rel.gauge = r.Control.NewGauge()
		}
		if lay := r.Layouts.Sets[decl]; lay != nil {
			rel.set = newTupleSet(r, rel.what, lay)
		}
		r.relations[decl], r.Variables[decl] = rel, rel
	}
	for _, decl := range g.Indexes {
		x := newIndex(r, decl, r.Layouts.Indexes[decl], r.relations[decl.Of], name(decl))
		r.indexes[decl], r.Variables[decl] = x, x
	}
	for _, decl := range g.Groups {
		g := newGroups(r, decl, r.Layouts.Groups[decl], name(decl))
		r.groups[decl], r.Variables[decl] = g, g
	}
}

// settle takes over all numbers from the mirror, which is fresh.
func (r *state) settle() {
	for _, rel := range r.relations {
		rel.settle()
	}
	for _, g := range r.groups {
		g.settle()
	}
}

// fits reports whether tables have room for what kernels at work add, by the cursors
// that gauges are to have.
func (r *state) fits(cursor func(gauge int) int64) bool {
	for _, rel := range r.relations {
		if rel.dirty && cursor(rel.gauge) > rel.limit {
			return false
		}
	}
	for _, g := range r.groups {
		if g.dirty && cursor(g.gauge) > g.limit {
			return false
		}
	}
	return true
}

// releaseResidents ends the use of columns and indexes that outlive the run. If the run
// is done, so are the copies that it has waited for.
func (r *state) releaseResidents(done bool) {
	for _, x := range r.residents {
		if done {
			x.arrived.Store(true)
		}
		r.resident.release(x)
	}
	r.residents, r.retired = nil, nil
}
