package mixed

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
	"weak"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/cost"
	"github.com/redfoxdb/redfox/runtime/store"
)

// card is a device that only notes what it is told.
type card struct {
	room    int64
	weights map[*store.Column]float64
	dropped map[*store.Column]bool
}

func (c *card) Name() string { return runtime.GPU }
func (c *card) Run(context.Context, *runtime.Request) (*runtime.Answer, error) {
	return nil, errors.New("it runs nothing")
}
func (c *card) Room() (int64, error)               { return c.room, nil }
func (c *card) Weigh(col *store.Column, w float64) { c.weights[col] = w }
func (c *card) Drop(col *store.Column)             { c.dropped[col] = true }
func (c *card) Forget(*store.Database)             {}
func numbers(rows int, most int64) (col *store.Column) {
	words := make([]int64, rows)
	words[rows-1] = most
	return store.ColumnOf(scalar.IntType, words, nil)
}

// useOf is a use of columns of a table of 1,000 rows in ten segments. Each row
// saves a microsecond.
func useOf(name string, cols ...*store.Column) *use {
	u := &use{name: name, rows: 1000, segment: 100, segments: 10,
		rates: rates{host: 2e-6, device: 1e-6}}
	for _, c := range cols {
		u.cols = append(u.cols, column{weak.Make(c), c.Len(), int64(c.Width)})
	}
	return u
}

// TestCache wants the cache to hold what saves most for a byte, and columns
// together that runs use together.
func TestCache(t *testing.T) {
	a, b, c, d := numbers(1000, 200), numbers(1000, 200), numbers(1000, 200), numbers(1000, 200)
	wide, small := numbers(1000, 1<<40), numbers(10, 200)
	device := &card{weights: map[*store.Column]float64{}, dropped: map[*store.Column]bool{}}
	e := New(device, nil, nil, Sizes{Segment: 100, Segments: 10, Runs: 4})
	ab, bc, other := useOf("ab", a, b), useOf("bc", b, c), useOf("wide", wide, d)
	ab.others = []column{{weak.Make(small), 10, 1}}
	rows := func(col *store.Column) int { return e.cache.held[weak.Make(col)] }
	plan := func(budget int64) {
		e.cache.budget = budget
		e.arrange()
		bytes := int64(0)
		for key, n := range e.cache.held {
			bytes += int64(key.Value().Width) * int64(n)
		}
		if bytes > budget {
			t.Errorf("%d bytes are held, of %d", bytes, budget)
		}
	}
	for _, u := range []*use{ab, bc, other} {
		u.count = 1
		e.cache.add(u)
	}
	// All of it fits.
	plan(1 << 20)
	if ab.on != 10 || bc.on != 10 || other.on != 10 || rows(wide) != 1000 || rows(small) != 10 {
		t.Errorf("%d, %d and %d segments of ten fit", ab.on, bc.on, other.on)
	}
	// The wide column costs eight times as much for the same saving. The
	// column that two uses read is there once.
	plan(3010)
	if ab.on != 10 || bc.on != 10 || other.on != 0 || rows(wide) != 0 || !device.dropped[wide] {
		t.Errorf("%d, %d and %d segments in 3,010 bytes", ab.on, bc.on, other.on)
	}
	if w := device.weights; w[b] < w[a] || w[a] <= 0 || w[wide] != 0 {
		t.Errorf("weights %v", w)
	}
	// Segments of the columns of one use coincide. A column that both uses read
	// serves both.
	plan(1510)
	if ab.on != 5 || bc.on != 5 || rows(a) != 500 || rows(b) != 500 || rows(c) != 500 {
		t.Errorf("%d and %d segments; %d, %d and %d rows", ab.on, bc.on, rows(a), rows(b), rows(c))
	}
	// A use that runs more often goes first.
	other.count = 50
	plan(9000)
	if other.on != 10 || rows(wide) != 1000 || ab.on > 0 || bc.on > 0 {
		t.Errorf("%d, %d and %d segments with a frequent use", ab.on, bc.on, other.on)
	}
	// Uses that the GPU refuses, or that it makes slower, take no room.
	other.refused, bc.device = true, 3e-6
	plan(1 << 20)
	if other.on != 0 || bc.on != 0 || ab.on != 10 || rows(c) != 0 {
		t.Errorf("%d, %d and %d segments of those refused and slow", ab.on, bc.on, other.on)
	}
	// The cache stays as it is where another choice saves little more.
	other.refused, other.count, bc.device, bc.count = false, 0, 1e-6, 1
	ab.others = nil
	plan(1 << 20)
	plan(2000) // for one of the two
	first, second := ab, bc
	if bc.on > ab.on {
		first, second = bc, ab
	}
	on := first.on
	second.count = 1.05
	plan(2000)
	if first.on != on {
		t.Errorf("%d segments became %d for a twentieth", on, first.on)
	}
	second.count = 3
	plan(2000)
	if second.on <= first.on && second.on < 10 {
		t.Errorf("%d and %d segments, where the second saves three times as much", first.on,
			second.on)
	}
	// A use that reads what is there anyway takes it, however little it saves.
	cheap := useOf("cheap", second.cols[0].key.Value())
	cheap.count, cheap.device = 0.01, 1.99e-6
	e.cache.add(cheap)
	plan(2000)
	if cheap.on < second.on {
		t.Errorf("%d segments, of which %d are there", cheap.on, second.on)
	}
	e.cache.remove(cheap)
	// Without facts there is nothing to hold.
	for _, u := range []*use{ab, bc, other} {
		e.cache.remove(u)
	}
	plan(1 << 20)
	if len(e.cache.held) != 0 {
		t.Errorf("%v is held for nobody", e.cache.held)
	}
}

// TestChoice wants a run to take what the GPU holds if that is expected to be
// faster than the host alone.
func TestChoice(t *testing.T) {
	e := New(&card{}, nil, nil, DefaultSizes)
	const million = 1_000_000
	for _, tt := range []struct {
		what          string
		on            int
		host, device  float64 // seconds for all rows
		want, refused bool
	}{
		{"nothing is held", 0, 1, 0.01, false, false},
		{"a part is held", 5, 1, 0.01, true, false},
		{"all is held", 10, 1, 0.01, true, false},
		{"a run is over before a kernel has begun", 10, 20e-6, 1e-6, false, false},
		{"the saving is less than a merge", 1, 500e-6, 1e-6, false, false},
		{"the GPU is slower", 10, 0.5, 1, false, false},
		{"the GPU is slower, and takes a part beside the host", 5, 0.5, 0.6, true, false},
		{"the GPU has no memory for it", 10, 1, 0.01, false, true},
	} {
		u := &use{rows: million, segment: million / 10, segments: 10, on: tt.on,
			refused: tt.refused, rates: rates{host: tt.host / million,
				device: tt.device / million, merge: mergeTime}}
		want := 0
		if tt.want {
			want = tt.on * million / 10
		}
		if got := e.rowsOnDevice(&step{use: u}); got != want {
			t.Errorf("%s: the GPU takes %d rows, not %d", tt.what, got, want)
		}
	}
	// A GPU that was slower is tried again, ever more rarely.
	slow := &use{rows: million, segment: million, segments: 1, on: 1, rates: rates{
		host: 1e-6, device: 1, modelDevice: 1e-9, seenDevice: true, patience: 3}}
	var tried []int
	for i := range 12 {
		if e.rowsOnDevice(&step{use: slow}) > 0 {
			tried = append(tried, i)
			slow.device, slow.seenDevice = 1, true
		}
	}
	if !slices.Equal(tried, []int{3, 10}) {
		t.Errorf("the GPU was tried in runs %v", tried)
	}
	// Times of runs that make code or copy facts say nothing.
	s := &step{use: &use{rows: million, cols: []column{{width: 4}}, moved: true,
		rates: rates{device: 1}}}
	copies := &runtime.Answer{
		Device: &runtime.DeviceProfile{ToDevice: runtime.Transfer{Bytes: 4 * million}}}
	e.learn(s, million, time.Second, &runtime.Answer{Compile: 1})
	e.learn(s, million, time.Second, copies)
	if s.seenDevice {
		t.Error("a run that copies its facts is taken for a usual one")
	}
	e.learn(s, million, time.Second, copies) // again
	if !s.seenDevice || s.device < 0.9/million || s.device > 1.1/million {
		t.Errorf("a million rows a second are %v seconds a row", s.device)
	}
}

// TestModelledOfCard expects a card with a tenth of the memory's rate and of
// the multiprocessors to be slower, and the host not.
func TestModelledOfCard(t *testing.T) {
	small := cost.H200
	small.Bandwidth /= 10
	small.Processors /= 10
	whole, slow := modelled(1e6, 9e6, 2, cost.H200), modelled(1e6, 9e6, 2, small)
	if slow.modelDevice < 9*whole.modelDevice || slow.modelHost != whole.modelHost {
		t.Errorf("a tenth of a card takes %v for a row and a whole one %v, their hosts %v and %v",
			slow.modelDevice, whole.modelDevice, slow.modelHost, whole.modelHost)
	}
}
