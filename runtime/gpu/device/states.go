package device

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/primitives/service"
)

// LaunchShape determines the initial states of a launch's blocks.
type LaunchShape struct{ Blocks, Words, Tiles, Sharing, Tile int64 }

// size is the number of words of the states.
func (s LaunchShape) size() int64 { return s.Blocks * s.Words }

const (
	// mostShapes bounds the launches whose states a run sets up at its start.
	mostShapes = 1 << 10
	// MostStates bounds the words of these states.
	MostStates = 1 << 20
)

// states manages the states of launches, which hold the positions of their
// blocks. One kernel at the start of a run initialises the states of all
// launches that the record leads it to expect.
type states struct {
	expected []LaunchShape // launches to come
	made     []LaunchShape // launches of this run
	ready    Buffer        // the states of expected launches
	other    Buffer        // the states of unexpected launches
	used     int64         // bytes of other that launches may still need
	held     []Buffer      // earlier buffers other that launches may still need
	stocks   map[LaunchShape]*stock
	window   int64 // how often FreeStates was called
}

// stock holds states for several launches of one shape, because a loop with
// small deltas has the same launches in each round.
type stock struct {
	states Buffer
	shapes Buffer // as service.StatesOf reads them
	asked  int64  // launches of the shape so far, up to stockFrom
	left   int64  // launches for which states are left
	window int64  // the window of the last launch
	taken  int64  // states taken in that window
	before int64  // states taken in the window before it
}

const (
	// stocked is the number of launches in a stock, of at most stockWords words
	// each. A shape has a stock from its stockFrom-th launch on.
	stocked    = 64
	stockWords = 1 << 10
	stockFrom  = 8
	mostStocks = 32
)

const whatStates = "the states of kernels"

// expects returns the number of words of the states of expected launches, or 0
// if setting them up together does not pay.
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

// StatesOf returns the device address of initialised states for a launch. They
// are valid until FreeStates.
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
	t.expected = nil // the run differs from the recorded one
	if at, ok, err := r.fromStock(s); ok || err != nil {
		return at, err
	}
	if t.other.Bytes < t.used+8*s.size() {
		bytes := max(16*s.size(), 2*t.used)
		if t.used > 0 {
			t.held = append(t.held, t.other)
			t.other, t.used = Buffer{}, 0
		}
		if err := r.Drop(&t.other); err != nil {
			return 0, err
		}
		if err := r.Alloc(&t.other, whatStates, bytes); err != nil {
			return 0, err
		}
	}
	at := t.other.Word() + t.used
	t.used += 8 * s.size()
	return at, r.service(service.States(at, s.Blocks, s.Words, s.Tiles, s.Sharing, s.Tile))
}

// fromStock returns states from a stock. ok is false if there is none.
func (r *Run) fromStock(s LaunchShape) (at int64, ok bool, err error) {
	t := &r.States
	if s.size() > stockWords || r.Arena != nil {
		return 0, false, nil
	}
	k := t.stocks[s]
	if k == nil {
		if len(t.stocks) >= mostStocks {
			return 0, false, nil
		}
		if t.stocks == nil {
			t.stocks = map[LaunchShape]*stock{}
		}
		k = &stock{}
		t.stocks[s] = k
	}
	if k.asked++; k.asked < stockFrom {
		return 0, false, nil
	}
	if k.states.At == 0 {
		if err := r.Alloc(&k.states, whatStates, 8*stocked*s.size()); err != nil {
			return 0, false, err
		}
		list := statesTable(k.states, slices.Repeat([]LaunchShape{s}, stocked))
		if err := r.Alloc(&k.shapes, whatStates, int64(8*len(list))); err != nil {
			return 0, false, err
		}
		if err := r.Control.put(r.Ctx, k.shapes.At, list...); err != nil {
			return 0, false, err
		}
		k.window = -1
	}
	if k.window != t.window {
		// No launch needs states that were taken before.
		k.window, k.taken, k.before = t.window, 0, k.taken
		if k.left < min(max(k.before, 1), stocked) {
			if err := r.service(service.StatesOf(k.shapes.Word(), stocked)); err != nil {
				return 0, false, err
			}
			k.left = stocked
		}
	}
	if k.left == 0 {
		return 0, false, nil
	}
	at = k.states.Word() + 8*(stocked-k.left)*s.size()
	k.left--
	k.taken++
	return at, true, nil
}

// FreeStates frees the states of all launches. All launches have finished.
func (r *Run) FreeStates() error {
	t := &r.States
	t.used = 0
	t.window++
	for i := range t.held {
		if err := r.Drop(&t.held[i]); err != nil {
			return err
		}
	}
	t.held = nil
	return nil
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
