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

const whatStates = "the states of kernels"

// expects returns how many words the states of launches are that are to be expected, 0 if
// it is not worth while to set them up together.
func (r *work) expects(shapes []launchShape) (words int64) {
	for _, s := range shapes {
		words += s.size()
	}
	if len(shapes) < 2 || 8*words > r.mem.room()/plenty {
		return 0
	}
	return words
}

// expectLaunches sets up the states of launches that are to be expected.
func (r *work) expectLaunches(shapes []launchShape) error {
	words := r.expects(shapes)
	if words == 0 {
		return nil
	}
	if err := r.alloc(&r.states.ready, whatStates, 8*words); err != nil {
		return err
	}
	var table buffer
	if err := r.alloc(&table, whatStates, int64(8*service.StatesWords*len(shapes))); err != nil {
		return err
	}
	if err := r.control.put(r.ctx, table.at, statesTable(r.states.ready, shapes)...); err != nil {
		return err
	}
	r.states.expected = shapes
	if err := r.service(service.StatesOf(table.word(), int64(len(shapes)))); err != nil {
		return err
	}
	return r.free(&table)
}

// statesTable is what service.StatesOf wants to know of launches whose states follow each
// other.
func statesTable(to buffer, shapes []launchShape) (list []int64) {
	at := to.word()
	for _, s := range shapes {
		list = append(list, at, s.blocks, s.words, s.tiles, s.sharing, s.tile)
		at += 8 * s.size()
	}
	return list
}

// statesOf returns the states of a launch, set up.
func (r *work) statesOf(s launchShape) (int64, error) {
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
		if err := r.alloc(&t.other, whatStates, 16*s.size()); err != nil {
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
