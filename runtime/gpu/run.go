package gpu

import (
	"context"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/order"
	"github.com/redfoxdb/redfox/runtime/gpu/replay"
	"github.com/redfoxdb/redfox/runtime/gpu/tables"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// run is one evaluation of a program: the gpu engine's machine.
type run struct {
	tables.State
	engine *Engine
	walk   woven.Walk
	code   *code
	log    replay.Log // of the run's numbers
	facts  *boundFacts
	record *replay.Record // of the facts
	origin runtime.Origin
	graphs *graphs
	sizes  sizes

	whole bool // the program came to its end
	keeps []*kept

	board   device.Buffer // where blocks donate work
	sorter  order.Sorter
	entries map[string][]*boundEntry      // of a kernel one; of an index those that build it
	rounds  map[*harmony.Block]*rounds    // of the loops that the device can run
	ahead   *copyAhead                    // or nil
	capture *capture                      // what the run becomes if it is captured, or nil
	arrived map[*tables.Relation][][]byte // outputs that were copied together, or nil
	words   []int64                       // of the current launch
	// unsettled are launches that may have stopped, and have not been looked
	// after.
	unsettled []*launched
}

// begin makes the variables, without device memory.
func (r *run) begin() {
	r.entries = map[string][]*boundEntry{}
	r.Declare(r.Names(r.walk.Request.Plan))
	r.declareRounds()
}

// allocate makes the empty variables, and the memory that all runs need.
func (r *run) allocate() error {
	r.begin()
	slab, launches := r.record.Expected()
	return r.Start(r.log.Words(), slab, launches)
}

// sync takes over all numbers, and has launches that stopped go on.
func (r *run) sync(ctx context.Context) error {
	if err := r.numbers(ctx); err != nil || len(r.unsettled) == 0 {
		return err
	}
	return r.settleLaunches(ctx)
}

// numbers takes over all numbers: those of the record, or those of the device,
// for which it waits.
func (r *run) numbers(ctx context.Context) error {
	if r.Control.Fresh {
		r.log.Known()
		return nil
	}
	replayed, err := r.log.Take()
	if err == nil && !replayed {
		r.Waits++
		if err = r.Control.Sync(ctx); err == nil {
			r.log.Waited()
			err = r.log.Compare()
		}
	}
	if err != nil {
		return err
	}
	r.Settle()
	return nil
}

// Merge makes what was inserted the delta of a relation.
func (r *run) Merge(decl *harmony.Relation, last bool) error {
	r.log.Command()
	if err := r.settle(); err != nil {
		return err
	}
	rel := r.Relations[decl]
	if err := rel.Merge(r.Ctx); err != nil || !last {
		return err
	}
	return rel.DropSet()
}

// Clear empties a relation or groups.
func (r *run) Clear(v harmony.Managed) error {
	if err := r.settle(); err != nil {
		return err
	}
	return r.Variables.Clear(v)
}

// Free gives back what a variable holds, but for the memory of one that is
// filled again.
func (r *run) Free(v harmony.Managed, again bool) error {
	if _, index := v.(*harmony.Index); index && again {
		return nil // the next build detects what has changed
	}
	if err := r.settle(); err != nil {
		return err
	}
	return r.Variables.Free(v, again)
}

// Size counts the tuples of a relation.
func (r *run) Size(decl *harmony.Relation) (woven.Size, error) {
	rel := r.Relations[decl]
	_, _, err := rel.Version(r.Ctx, harmony.Full)
	return rel.Count(rel.Most), err
}

// fetch copies from the device and waits. Numbers that were taken from
// the record before can be compared.
func (r *run) fetch(ctx context.Context, copies ...device.HostCopy) error {
	waited, err := r.Receive(ctx, copies...)
	if err != nil || !waited {
		return err
	}
	return r.log.Compare()
}

// Kernel runs a kernel over all rows of its source.
func (r *run) Kernel(k *harmony.Kernel) (woven.Work, error) {
	r.log.Command()
	e, err := r.boundKernel(k)
	if err != nil {
		return woven.Work{}, err
	}
	if r.readsUnsettled(e) {
		if err := r.settle(); err != nil {
			return woven.Work{}, err
		}
	}
	j := &job{entry: e, kernel: k}
	switch s := k.Source.(type) {
	case *harmony.Rows:
		j.from, j.until, err = r.Relations[s.Rel].Version(r.Ctx, s.Version)
	case *harmony.GroupRows:
		j.until, err = r.Groups[s.Groups].Numbers(r.Ctx)
	case *harmony.Values:
		j.until = int64(len(s.Rows))
	}
	if err != nil {
		return woven.Work{}, err
	}
	work := woven.Work{Source: j.until - j.from}
	work.Bytes = work.Source * int64(r.LoadedBytes(k))
	if err := r.filled(e, &work, -1); err != nil {
		return woven.Work{}, err
	}
	runs := func(x *harmony.Index) *machine.Runs[*tables.Index] { return &r.Indexes[x].Runs }
	if err := machine.EachChoice(k, runs, func() error { return r.exec(r.Ctx, j) }); err != nil {
		return woven.Work{}, err
	}
	if err := r.filled(e, &work, 1); err != nil {
		return woven.Work{}, err
	}
	if e.faults && r.Control.Mirror[device.FaultWord] != 0 {
		return woven.Work{}, r.overflow(k)
	}
	return work, nil
}

// boundKernel returns a kernel's function, bound when it is first asked for.
func (r *run) boundKernel(k *harmony.Kernel) (*boundEntry, error) {
	if r.entries[k.Name] == nil {
		for _, f := range r.code.functions {
			if f.entry.Of == k.Name && f.entry.Role == abi.Kernel {
				b, err := r.bindKernel(k, f)
				if err != nil {
					return nil, err
				}
				r.entries[k.Name] = []*boundEntry{b}
			}
		}
	}
	return r.entries[k.Name][0], nil
}

// filled adds the tuples of the relations that an entry fills, times sign, if
// the request profiles.
func (r *run) filled(e *boundEntry, work *woven.Work, sign int64) error {
	if !r.walk.Request.Profile {
		return nil
	}
	for _, t := range e.targets {
		n, err := t.To.Rows(r.Ctx)
		if err != nil {
			return err
		}
		work.Kept += sign * n
		work.Bytes += sign * n * int64(t.To.RowBytes())
	}
	return nil
}

// overflow returns the error of the group whose result overflows.
func (r *run) overflow(k *harmony.Kernel) error {
	src, ok := k.Source.(*harmony.GroupRows)
	if !ok {
		return woven.ErrNoOverflow
	}
	view, err := r.Groups[src.Groups].View(r.Ctx)
	if err != nil {
		return err
	}
	return r.Overflow(view)
}

// Build makes an index of a version of its relation.
//
// An index over merged tuples does not depend on what launches still add.
func (r *run) Build(decl *harmony.Index, of harmony.Version) error {
	r.log.Command()
	if decl.Of.Kind != queryplan.Derived || r.probesUnsettled(decl) {
		if err := r.settle(); err != nil {
			return err
		}
	}
	x := r.Indexes[decl]
	closed := r.Slab.Closed
	r.Slab.Closed = closed || x.Rel.IsLoaded() // other runs may share it
	defer func() { r.Slab.Closed = closed }()
	passes, err := x.Prepare(of)
	if err != nil || len(passes) == 0 {
		return err
	}
	if err := r.runPasses(decl, passes); err != nil {
		return err
	}
	return x.Share()
}

// buildEntries returns the functions of an index's build, bound when they are
// first asked for.
func (r *run) buildEntries(decl *harmony.Index) ([]*boundEntry, error) {
	if r.entries[decl.Name] == nil {
		for _, f := range r.code.functions {
			if f.entry.Of == decl.Name && f.entry.Role != abi.Kernel {
				b, err := r.bindEntry(f)
				if err != nil {
					return nil, err
				}
				r.entries[decl.Name] = append(r.entries[decl.Name], b)
			}
		}
	}
	return r.entries[decl.Name], nil
}

// runPasses carries out passes of an index's build.
func (r *run) runPasses(decl *harmony.Index, passes []machine.Pass) error {
	entries, err := r.buildEntries(decl)
	if err != nil {
		return err
	}
	return machine.RunPasses(passes, func(role abi.Role, from, until int64) error {
		for _, e := range entries {
			if e.entry.Role == role {
				if err := r.exec(r.Ctx, &job{entry: e, from: from, until: until}); err != nil {
					return err
				}
			}
		}
		return nil
	}, nil) // no pass of a GPU has tasks of the host
}

// end frees what the run holds. The stream is idle; done reports that its work
// succeeded.
func (r *run) end(done bool) error {
	err := r.GiveBack()
	r.ReleaseResidents(done)
	return err
}

// Number appends the tuples of a relation with their numbers within groups.
func (r *run) Number(c *harmony.Number) (n int64, done bool, err error) {
	r.log.Command()
	if err := r.settle(); err != nil {
		return 0, false, err
	}
	return r.sorter.Number(c)
}

// TopK appends the first tuples of a relation.
func (r *run) TopK(c *harmony.TopK) (n int64, done bool, err error) {
	r.log.Command()
	if err := r.settle(); err != nil {
		return 0, false, err
	}
	return r.sorter.TopK(c)
}

// KeysDiffer reports whether no two tuples of a relation agree on its key.
func (r *run) KeysDiffer(decl *harmony.Relation) (differ, done bool, err error) {
	r.log.Command()
	if err := r.settle(); err != nil {
		return false, false, err
	}
	return r.sorter.KeysDiffer(decl)
}

// newSorter returns what puts tuples of the run in order. Few rows the host
// orders sooner, but it has to wait for them: a run that replays a record would
// wait for that alone.
func (r *run) newSorter() order.Sorter {
	return order.Sorter{
		State: &r.State,
		Kernels: func() (map[string]driver.Function, error) {
			return r.engine.functionsOf(&r.engine.sorts)
		},
		Ranked:   r.sizes.ranked,
		Sooner:   func(n int64) bool { return n < r.sizes.order && !r.log.Replays() },
		Launched: r.log.Launched,
		Counted: func(ctx context.Context) error {
			return r.log.Counting(func() error { return r.sync(ctx) })
		},
	}
}
