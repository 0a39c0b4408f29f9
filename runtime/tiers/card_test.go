package tiers

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/runtime"
)

// fakeCard is the go engine as that of a GPU.
type fakeCard struct {
	*compiler
	open bool
	room int64
	lost error // of Find and Compile
}

func (c *fakeCard) Name() string { return runtime.GPU }

func (c *fakeCard) IsOpen() bool { return c.open }

func (c *fakeCard) Room() (int64, error) { return c.room, nil }

func (c *fakeCard) Find(ctx context.Context, req *runtime.Request) (bool, error) {
	found, _ := c.compiler.Find(ctx, req)
	return found, c.lost
}

// enginesOf returns the engines of segments that were not stopped, in order.
func enginesOf(a *runtime.Answer) (out []string) {
	for _, s := range a.Segments {
		if s.Failed == "" {
			out = append(out, s.Engine)
		}
	}
	return out
}

// TestChangeToCard changes over to a GPU, and to native code or to nothing if
// the GPU cannot be opened, is too small or fails.
func TestChangeToCard(t *testing.T) {
	plan, db := closure(t, 20)
	gone := &CardError{errors.New("no driver")}
	full := &runtime.MemoryError{What: "path", Device: true, Bound: 1}
	broken := errors.New("broken")
	for _, c := range []struct {
		name    string
		has     bool  // code for the GPU
		lost    error // of Find
		fails   error // of Compile
		run     error // of Run
		room    int64
		engines []string
		failed  bool // a segment has failed
		opened  bool // the GPU stays in use
		err     error
	}{
		{name: "there is code", has: true, room: 1 << 30,
			engines: []string{runtime.Go, runtime.GPU}, opened: true},
		{name: "code is made", room: 1 << 30, engines: []string{runtime.Go, runtime.GPU}, opened: true},
		{name: "there is no GPU", lost: gone, engines: []string{runtime.Go, runtime.CPU}},
		{name: "the code is refused", fails: errors.New("no"), room: 1 << 30,
			engines: []string{runtime.Go, runtime.CPU}, opened: true},
		{name: "the tuples do not fit", has: true, room: 100,
			engines: []string{runtime.Go, runtime.CPU}, opened: true},
		{name: "the memory is full", has: true, room: 1 << 30, run: full,
			engines: []string{runtime.Go, runtime.Go}, failed: true, opened: true},
		{name: "the GPU is lost", has: true, room: 1 << 30, run: &CardError{errors.New("lost")},
			engines: []string{runtime.Go, runtime.Go}, failed: true},
		{name: "a bug", has: true, room: 1 << 30, run: broken, opened: true, err: broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			card := &fakeCard{compiler: newCompiler(t), room: c.room, lost: c.lost}
			card.has, card.fails = c.has, c.fails
			card.run = func(_ context.Context, req *runtime.Request) error {
				if req.Resident {
					t.Error("tuples would stay on the GPU")
				}
				return c.run
			}
			e := waiting(newCompiler(t))
			e.SetCard(card)
			req := runtime.Request{Plan: plan, Facts: db, Adaptive: true, Resident: true}
			if c.err == nil {
				enginetest.Compare(t, c.name, e, req)
				e.noCard.Store(false)
			}
			answer, err := e.Run(context.Background(), &req)
			if !errors.Is(err, c.err) {
				t.Fatal(err)
			}
			if e.usesCard() != c.opened {
				t.Errorf("the GPU is in use: %t", e.usesCard())
			}
			if err != nil {
				return
			}
			failed := slices.ContainsFunc(answer.Segments,
				func(s runtime.SegmentProfile) bool { return s.Failed != "" })
			if got := enginesOf(answer); !slices.Equal(got, c.engines) || failed != c.failed {
				t.Errorf("the segments are %+v", answer.Segments)
			}
		})
	}
}

// TestCardOpensLate opens a GPU for a loop that has taken as long as that
// takes, and uses one that is open sooner.
func TestCardOpensLate(t *testing.T) {
	plan, db := closure(t, 20)
	for _, open := range []bool{false, true} {
		card := &fakeCard{compiler: newCompiler(t), room: 1 << 30, open: open}
		card.has = true
		e := waiting(newCompiler(t))
		e.SetCard(card)
		e.sizes.OpenCard = time.Hour
		answer, err := e.Run(context.Background(),
			&runtime.Request{Plan: plan, Facts: db, Adaptive: true})
		if err != nil {
			t.Fatal(err)
		}
		if looked := card.found.Load() > 0; looked != open ||
			slices.Contains(enginesOf(answer), runtime.GPU) != open {
			t.Errorf("open %t: code was looked for: %t; the segments are %+v", open, looked,
				answer.Segments)
		}
	}
}

// TestCardBeforeWholeCode has a loop wait for a GPU although there is native
// code of the whole plan, but not a plan without loops.
func TestCardBeforeWholeCode(t *testing.T) {
	const text = `
edge(x, y) -> int(x), int(y).
n[] = v <- agg<<v = count()>> edge(_, _).
`
	for _, c := range []struct {
		text string
		want []string
	}{{enginetest.Closure, []string{runtime.Go, runtime.GPU}}, {text, nil}} {
		plan, db := enginetest.Stored(t, c.text, enginetest.Line(20))
		card := &fakeCard{compiler: newCompiler(t), room: 1 << 30}
		native := newCompiler(t)
		card.has, native.has = true, true
		e := waiting(native)
		e.SetCard(card)
		answer, err := e.Run(context.Background(),
			&runtime.Request{Plan: plan, Facts: db, Adaptive: true})
		if err != nil || !slices.Equal(enginesOf(answer), c.want) {
			t.Errorf("the segments are %+v, %v", answer.Segments, err)
		}
	}
}
