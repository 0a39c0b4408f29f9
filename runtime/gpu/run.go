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

// run is one evaluation of a program. It is the machine (woven.Machine) of the
// gpu engine.
type run struct {
	tables.State
	engine *Engine
	walk   woven.Walk
	code   *code
	log    replay.Log // the counters of this run
	facts  *boundFacts
	record *replay.Record // what earlier runs over the facts have left
	origin runtime.Origin
	graphs *graphs
	sizes  sizes

	whole bool    // the program ran to its end
	keeps []*kept // outputs that stay on the device

	board   device.Buffer // the board at which blocks donate work
	sorter  order.Sorter
	entries map[string][]*boundEntry      // by name: one of a kernel, all builds of an index
	rounds  map[*harmony.Block]*rounds    // the loops that the device can run
	ahead   *copyAhead                    // or nil
	capture *capture                      // the capture that the run becomes, or nil
	arrived map[*tables.Relation][][]byte // outputs that were copied together, or nil
	words   []int64                       // parameters of the current launch
	// unsettled are launches that may have stopped before the end of their
	// rows, which the host has not checked yet.
	unsettled []*launched
}

// begin declares the variables, without allocating device memory.
func (r *run) begin() {
	r.entries = map[string][]*boundEntry{}
	r.Declare(r.Names(r.walk.Request.Plan))
	r.declareRounds()
}

// allocate declares the empty variables, and allocates the memory that every
// run needs.
func (r *run) allocate() error {
	r.begin()
	slab, launches := r.record.Expected()
	return r.Start(r.log.Words(), slab, launches)
}

// sync reads all counters and finishes unsettled launches.
func (r *run) sync(ctx context.Context) error {
	if err := r.numbers(ctx); err != nil || len(r.unsettled) == 0 {
		return err
	}
	return r.settleLaunches(ctx)
}

// numbers reads all counters, from the record if the run replays one. Otherwise
// it waits for the device.
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

// Merge makes the inserted tuples the delta of a relation. After the last
// merge, the relation needs no set.
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

// Free frees what a variable holds. With again, a variable that will be filled
// again keeps its memory.
func (r *run) Free(v harmony.Managed, again bool) error {
	if _, index := v.(*harmony.Index); index && again {
		return nil // the next build detects what has changed
	}
	if err := r.settle(); err != nil {
		return err
	}
	return r.Variables.Free(v, again)
}

// Size returns the number of tuples of a relation.
func (r *run) Size(decl *harmony.Relation) (woven.Size, error) {
	rel := r.Relations[decl]
	_, _, err := rel.Version(r.Ctx, harmony.Full)
	return rel.Count(rel.Most), err
}

// fetch copies from the device. If it had to wait, it also compares counters
// that were taken from the record.
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

// boundKernel returns the function of a kernel, which it binds at the first
// call.
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

// filled adds the current sizes of the relations that an entry fills, times
// sign, to the work of a profiled command. Calls with -1 before the command and
// 1 after it add what the command produced.
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

// Build builds an index over a version of its relation. It first settles the
// launches, unless the relation is derived and no unsettled launch probes the
// index: merged tuples do not depend on what launches still add.
func (r *run) Build(decl *harmony.Index, of harmony.Version) error {
	r.log.Command()
	if decl.Of.Kind != queryplan.Derived || r.probesUnsettled(decl) {
		if err := r.settle(); err != nil {
			return err
		}
	}
	x := r.Indexes[decl]
	closed := r.Slab.Closed
	r.Slab.Closed = closed || x.Rel.IsLoaded() // other runs may share the index
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

// buildEntries returns the functions that build an index, which it binds at the
// first call.
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

// runPasses executes the passes of an index build.
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
	}, nil) // a GPU's passes have no host tasks
}

// end frees what the run holds. The stream is idle. done reports whether its
// work succeeded.
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

// KeysDiffer reports whether the tuples of a relation have pairwise different
// keys.
func (r *run) KeysDiffer(decl *harmony.Relation) (differ, done bool, err error) {
	r.log.Command()
	if err := r.settle(); err != nil {
		return false, false, err
	}
	return r.sorter.KeysDiffer(decl)
}

// newSorter returns the sorter of the run. The host orders few rows faster than
// the device, but has to wait for them. A run that replays a record waits for
// nothing else, so it sorts on the device.
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
