package device

import (
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/primitives/service"
)

// LaunchShape is everything that the initial states of a launch's blocks depend
// on.
type LaunchShape struct{ Blocks, Words, Tiles, Sharing, Tile int64 }

// size is the number of words of the states.
func (s LaunchShape) size() int64 { return s.Blocks * s.Words }

const (
	// mostShapes bounds the launches whose states a run sets up at its
	// beginning.
	mostShapes = 1 << 10
	// MostStates bounds the words of these states.
	MostStates = 1 << 20
)

// states hold the positions of the blocks of launches. One kernel initialises
// the states of all expected launches, those of the record, at the beginning.
type states struct {
	expected []LaunchShape // launches to come
	made     []LaunchShape // launches of this run
	ready    Buffer        // for those that are expected
	other    Buffer        // for a launch that was not
}

const whatStates = "the states of kernels"

// expects returns the words of the states of expected launches, or 0 if setting
// them up together does not pay.
func (r *Run) expects(shapes []LaunchShape) (words int64) {
	for _, s := range shapes {
		words += s.size()
	}
	if len(shapes) < 2 || 8*words > r.Memory.Room()/plenty {
		return 0
	}
	return words
}

// expectLaunches sets up the states of expected launches.
func (r *Run) expectLaunches(shapes []LaunchShape) error {
	words := r.expects(shapes)
	if words == 0 {
		return nil
	}
	if err := r.Alloc(&r.States.ready, whatStates, 8*words); err != nil {
		return err
	}
	var table Buffer
	if err := r.Alloc(&table, whatStates, int64(8*service.StatesWords*len(shapes))); err != nil {
		return err
	}
	if err := r.Control.put(r.Ctx, table.At, statesTable(r.States.ready, shapes)...); err != nil {
		return err
	}
	r.States.expected = shapes
	if err := r.service(service.StatesOf(table.Word(), int64(len(shapes)))); err != nil {
		return err
	}
	return r.Drop(&table)
}

// statesTable returns the parameters of service.StatesOf for launches with
// consecutive states.
func statesTable(to Buffer, shapes []LaunchShape) (list []int64) {
	at := to.Word()
	for _, s := range shapes {
		list = append(list, at, s.Blocks, s.Words, s.Tiles, s.Sharing, s.Tile)
		at += 8 * s.size()
	}
	return list
}

// StatesOf returns the states of a launch, set up.
func (r *Run) StatesOf(s LaunchShape) (int64, error) {
	t := &r.States
	if len(t.made) < mostShapes && s.size() <= MostStates {
		t.made = append(t.made, s)
	}
	if len(t.expected) > 0 && t.expected[0] == s {
		t.expected = t.expected[1:]
		at := t.ready.Word()
		t.ready.At += cuda.Pointer(8 * s.size())
		return at, nil
	}
	t.expected = nil // the run is another one
	if t.other.Bytes < 8*s.size() {
		if err := r.Drop(&t.other); err != nil {
			return 0, err
		}
		if err := r.Alloc(&t.other, whatStates, 16*s.size()); err != nil {
			return 0, err
		}
	}
	at := t.other.Word()
	return at, r.service(service.States(at, s.Blocks, s.Words, s.Tiles, s.Sharing, s.Tile))
}

// Likely returns the first launches of a run, which the next run may expect.
func (t *states) Likely() []LaunchShape {
	words := int64(0)
	for i, s := range t.made {
		if words += s.size(); words > MostStates {
			return t.made[:i]
		}
	}
	return t.made
}
