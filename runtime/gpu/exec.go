package gpu

import (
	"context"
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/tables"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// job is a function and the rows over whose tiles it is launched.
type job struct {
	entry       *boundEntry
	kernel      *harmony.Kernel // nil for an index build
	from, until int64
	alone       bool // the function is part of a loop on the device, in one block
}

// mostSharing bounds the number of blocks that share a tile.
const mostSharing = 16

// mostUnsettled bounds the number of unsettled launches.
const mostUnsettled = 256

// launched is a job's launch.
type launched struct {
	*job
	blocks, tiles int64
	states        int64       // the device address of the blocks' states
	choices       []runChoice // the runs of the indexes that it probes
}

// runChoice names the run of an index that a launch probes.
type runChoice struct {
	index *harmony.Index
	at    int
}

// choicesOf returns the current runs of the indexes that a kernel probes.
func (r *run) choicesOf(k *harmony.Kernel) (list []runChoice) {
	for _, v := range k.Reads() {
		decl, ok := v.(*harmony.Index)
		if ok && len(r.Indexes[decl].Runs.List) > 0 {
			list = append(list, runChoice{decl, r.Indexes[decl].Runs.At})
		}
	}
	return list
}

// resume relaunches a launch that stopped, over the same runs of its indexes.
func (r *run) resume(ctx context.Context, l *launched) (stop bool, err error) {
	for _, c := range l.choices {
		x := r.Indexes[c.index]
		defer func(at int) { x.Runs.At = at }(x.Runs.At)
		x.Runs.At = c.at
	}
	return r.fill(ctx, l, false)
}

// probesUnsettled reports whether an unsettled launch probes an index.
func (r *run) probesUnsettled(x *harmony.Index) bool {
	return slices.ContainsFunc(r.unsettled, func(l *launched) bool {
		return slices.Contains(l.kernel.Reads(), harmony.Managed(x))
	})
}

// exec launches a job's function over all its rows. If the launch stops because
// a table is full, exec enlarges the table and launches the function again.
//
// The host learns whether a launch has stopped when it next reads the counters.
// It reads them once for several kernels if none of them reads what another
// fills: until then the launches are unsettled.
func (r *run) exec(ctx context.Context, j *job) error {
	n := j.until - j.from
	if n <= 0 {
		return nil
	}
	e := j.entry
	l := &launched{job: j, tiles: e.entry.Tiles(j.from, j.until)}
	var sharing int64
	l.blocks, sharing = blocksFor(e.entry, l.tiles, e.blocks)
	if len(r.unsettled) == 0 {
		if err := r.FreeStates(); err != nil {
			return err
		}
	}
	var err error
	if l.states, err = r.StatesOf(device.LaunchShape{Blocks: l.blocks,
		Words: int64(e.entry.StateWords()), Tiles: l.tiles, Sharing: sharing,
		Tile: int64(e.entry.Threads * e.entry.Items)}); err != nil {
		return err
	}
	stop, err := r.fill(ctx, l, true)
	if err != nil {
		return err
	}
	if e.faults {
		if err := r.sync(ctx); err != nil {
			return err
		}
	}
	if stop && j.kernel != nil && !e.faults && len(e.groups) == 0 &&
		len(r.unsettled) < mostUnsettled {
		l.choices = r.choicesOf(j.kernel)
		r.unsettled = append(r.unsettled, l)
		return nil
	}
	for stop {
		if err := r.sync(ctx); err != nil {
			return err
		}
		if !l.stopped() {
			return nil
		}
		r.log.Again()
		if stop, err = r.fill(ctx, l, false); err != nil {
			return err
		}
	}
	return nil
}

// fill makes room for a job's tuples and launches its function. It reports
// whether the launch may stop before the end of its rows.
func (r *run) fill(ctx context.Context, l *launched, first bool) (stop bool, err error) {
	e, n := l.entry, l.until-l.from
	// Below the limit, there must be room for one burst of every block.
	slack := l.blocks * e.entry.Burst()
	// Without expansions, a row yields at most one tuple for each sink.
	most := func(sinks int) int64 {
		if e.entry.Expansions > 0 {
			return machine.MaxRows
		}
		return n * int64(sinks)
	}
	// MakeRoom may read the device's counters, so no table is marked as filled
	// before all of them have room.
	for _, t := range e.targets {
		if !first && t.To.Most <= t.To.Limit {
			continue
		}
		sinks := int64(t.Sinks)
		expected := t.To.Most + min(most(t.Sinks), r.sizes.expect)
		if err := t.To.MakeRoom(ctx, slack*sinks, most(t.Sinks), expected); err != nil {
			return false, err
		}
	}
	for _, t := range e.groups {
		if !first && t.To.Most <= t.To.Limit {
			continue
		}
		sinks := int64(t.Sinks)
		t.To.ExpectTiles(l.tiles * sinks)
		expected := t.To.Most + min(n*sinks, r.sizes.expect)
		if err := t.To.MakeRoom(ctx, slack*sinks, most(t.Sinks), expected); err != nil {
			return false, err
		}
	}
	// The host always waits for a launch that resumes another one: later runs
	// may need its counters.
	stop = !first
	for _, t := range e.targets {
		t.To.Most, t.To.Dirty = min(t.To.Most+most(t.Sinks), t.To.Capacity), true
		stop = stop || t.To.Most > t.To.Limit
	}
	for _, t := range e.groups {
		if t.To.Limit != device.Unlimited || t.To.Lay.Form >= abi.Hash {
			t.To.Most, t.To.Dirty = min(t.To.Room(), t.To.Most+most(t.Sinks)), true
		}
		stop = stop || t.To.Most > t.To.Limit
	}
	return stop, r.launch(ctx, l.job, l.blocks, l.states)
}

// stopped reports whether a launch stopped before the end of its rows. The host
// must have read the counters.
func (l *launched) stopped() bool {
	return slices.ContainsFunc(l.entry.targets, func(t machine.Target[*tables.Relation]) bool {
		return t.To.Most > t.To.Limit
	}) || slices.ContainsFunc(l.entry.groups, func(t machine.Target[*tables.Groups]) bool {
		return t.To.Most > t.To.Limit
	})
}

// settleLaunches resumes stopped launches until all have finished. The host
// must have read the counters.
func (r *run) settleLaunches(ctx context.Context) error {
	list := r.unsettled
	r.unsettled = nil
	for {
		list = slices.DeleteFunc(list, func(l *launched) bool { return !l.stopped() })
		if len(list) == 0 {
			return nil
		}
		if err := r.log.Redo(func() error {
			for _, l := range list {
				if _, err := r.resume(ctx, l); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
		if err := r.numbers(ctx); err != nil {
			return err
		}
	}
}

// settle finishes all unsettled launches. Commands other than kernels need
// this.
func (r *run) settle() error {
	if len(r.unsettled) == 0 {
		return nil
	}
	return r.sync(r.Ctx)
}

// readsUnsettled reports whether a function reads a relation that an unsettled
// launch fills. Filling it, too, is no reading.
func (r *run) readsUnsettled(e *boundEntry) bool {
	return len(r.unsettled) > 0 && slices.ContainsFunc(e.reads, (*tables.Relation).MayLack)
}

// blocksFor returns the number of blocks to launch, at most most, and how many
// of them share each tile.
func blocksFor(e *abi.Entry, tiles, most int64) (blocks, sharing int64) {
	switch {
	case e.Expansions > 0: // a row may have many matches
		sharing = max(1, min(most/tiles, mostSharing))
		return min(tiles*sharing, most), sharing
	case e.Sharing > 1: // each tile goes through all shares
		sharing = int64(e.Sharing)
		return min(tiles, max(1, most/sharing)) * sharing, sharing
	}
	return min(tiles, most), 1
}

// launch launches a job's function with the current parameters. states is the
// device address of the blocks' states.
func (r *run) launch(ctx context.Context, j *job, blocks, states int64) error {
	words, err := j.entry.bind(j, r.words[:0])
	if err != nil {
		return err
	}
	words = append(words, states)
	r.words = words
	entry := j.entry.entry
	shape := cuda.Shape{Grid: cuda.Dim{X: uint32(blocks)},
		Block: cuda.Dim{X: uint32(entry.Threads)}, Shared: entry.Dynamic}
	end, err := r.Begin(device.TimedKernel, entry.Of)
	if err != nil {
		return err
	}
	if r.Control.Image != nil {
		for _, gauge := range j.entry.gauges {
			r.Control.Image.Look(gauge)
		}
	}
	r.Control.Fresh = false
	r.Settled()
	r.Launches++
	r.log.Launched()
	if err := r.Lane.Stream.Launch(j.entry.f, shape, words); err != nil {
		return err
	}
	return end()
}
