package gpu

import (
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/primitives/service"
)

// launchShape is all that the states of a launch's blocks depend on at first.
type launchShape struct{ blocks, words, tiles, sharing, tile int64 }

// size is the number of words of the states.
func (s launchShape) size() int64 { return s.blocks * s.words }

const (
	// mostShapes and mostStates bound the launches whose states a run sets up at its
	// beginning, and the words of these.
	mostShapes = 1 << 10
	mostStates = 1 << 20
)

// states are where the blocks of launches keep how far they are. What a run before has
// launched is expected again: all states for that are set up by one kernel at the
// beginning.
type states struct {
	expected []launchShape // launches to come
	made     []launchShape // launches of this run
	ready    buffer        // for those that are expected
	other    buffer        // for a launch that was not
}

// expectLaunches sets up the states of launches that are to be expected.
func (r *run) expectLaunches(shapes []launchShape) error {
	words := int64(0)
	for _, s := range shapes {
		words += s.size()
	}
	const states = "the states of kernels"
	if len(shapes) < 2 || 8*words > r.engine.mem.room()/plenty {
		return nil
	}
	if err := r.alloc(&r.states.ready, states, 8*words); err != nil {
		return err
	}
	var table buffer
	if err := r.alloc(&table, states, int64(8*service.StatesWords*len(shapes))); err != nil {
		return err
	}
	var list []int64
	at := r.states.ready.word()
	for _, s := range shapes {
		list = append(list, at, s.blocks, s.words, s.tiles, s.sharing, s.tile)
		at += 8 * s.size()
	}
	if err := r.control.put(r.ctx, table.at, list...); err != nil {
		return err
	}
	r.states.expected = shapes
	if err := r.service(service.StatesOf(table.word(), int64(len(shapes)))); err != nil {
		return err
	}
	return r.free(&table)
}

// statesOf returns the states of a launch, set up.
func (r *run) statesOf(s launchShape) (int64, error) {
	t := &r.states
	if len(t.made) < mostShapes && s.size() <= mostStates {
		t.made = append(t.made, s)
	}
	if len(t.expected) > 0 && t.expected[0] == s {
		t.expected = t.expected[1:]
		at := t.ready.word()
		t.ready.at += cuda.Pointer(8 * s.size())
		return at, nil
	}
	t.expected = nil // the run is another one
	if t.other.bytes < 8*s.size() {
		if err := r.free(&t.other); err != nil {
			return 0, err
		}
		if err := r.alloc(&t.other, "the states of kernels", 16*s.size()); err != nil {
			return 0, err
		}
	}
	return t.other.word(), r.service(service.States(t.other.word(), s.blocks, s.words, s.tiles, s.sharing, s.tile))
}

// likely returns the first launches of a run, of which the next one may expect the same.
func (t *states) likely() []launchShape {
	words := int64(0)
	for i, s := range t.made {
		if words += s.size(); words > mostStates {
			return t.made[:i]
		}
	}
	return t.made
}
