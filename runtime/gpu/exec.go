package gpu

import (
	"context"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// job is a function to launch over all tiles of some rows.
type job struct {
	entry       *boundEntry
	from, until int64
	alone       bool // in one block, on the device
}

// mostSharing bounds the blocks that work on the same rows.
const mostSharing = 16

// exec launches a job's function over all its rows, again whenever a table that
// it fills was full and has grown.
func (r *run) exec(ctx context.Context, j *job) error {
	n := j.until - j.from
	if n <= 0 {
		return nil
	}
	e := j.entry
	tile := int64(e.entry.Threads * e.entry.Items)
	tiles := e.entry.Tiles(j.from, j.until)
	blocks, sharing := blocksFor(e.entry, tiles, e.blocks)
	// A limit leaves room for what all blocks may have begun.
	slack := blocks * e.entry.Burst()
	states, err := r.StatesOf(device.LaunchShape{Blocks: blocks, Words: int64(e.entry.StateWords()),
		Tiles: tiles, Sharing: sharing, Tile: tile})
	if err != nil {
		return err
	}
	// Without expansions a row becomes at most one tuple.
	most := func(sinks int) int64 {
		if e.entry.Expansions > 0 {
			return machine.MaxRows
		}
		return n * int64(sinks)
	}
	for first := true; ; first = false {
		// Making room may wait for the device and take over its numbers: no
		// table is noted as filled before there is room in all of them.
		for _, t := range e.targets {
			if !first && t.To.Most <= t.To.Limit {
				continue
			}
			sinks := int64(t.Sinks)
			expected := t.To.Most + min(most(t.Sinks), r.sizes.expect)
			if err := t.To.MakeRoom(ctx, slack*sinks, most(t.Sinks), expected); err != nil {
				return err
			}
		}
		for _, t := range e.groups {
			if !first && t.To.Most <= t.To.Limit {
				continue
			}
			sinks := int64(t.Sinks)
			t.To.ExpectTiles(tiles * sinks)
			expected := t.To.Most + min(n*sinks, r.sizes.expect)
			if err := t.To.MakeRoom(ctx, slack*sinks, most(t.Sinks), expected); err != nil {
				return err
			}
		}
		// The launch may stop before it is through. The launch that ends what
		// another began is always waited for: later runs may need its numbers.
		stop := !first
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
		if err := r.launch(ctx, j, blocks, states); err != nil {
			return err
		}
		if e.faults {
			if err := r.sync(ctx); err != nil {
				return err
			}
		}
		if !stop {
			return nil
		}
		if err := r.sync(ctx); err != nil {
			return err
		}
		stopped := false
		for _, t := range e.targets {
			stopped = stopped || t.To.Most > t.To.Limit
		}
		for _, t := range e.groups {
			stopped = stopped || t.To.Most > t.To.Limit
		}
		if !stopped {
			return nil
		}
		r.log.Again()
	}
}

// blocksFor returns the number of blocks to launch, at most most, and how many
// of them share each tile.
func blocksFor(e *abi.Entry, tiles, most int64) (blocks, sharing int64) {
	switch {
	case e.Expansions > 0: // few rows may have many matches
		sharing = max(1, min(most/tiles, mostSharing))
		return min(tiles*sharing, most), sharing
	case e.Sharing > 1: // each tile has to meet all shares
		sharing = int64(e.Sharing)
		return min(tiles, max(1, most/sharing)) * sharing, sharing
	}
	return min(tiles, most), 1
}

// launch launches a job's function with the current parameters, for blocks with
// states at an address.
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
