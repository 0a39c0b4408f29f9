package cuda

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestLaunch sees what the driver gets of a launch.
func TestLaunch(t *testing.T) {
	k := newFake()
	c := k.start(t)
	s := must(c.NewStream())(t)
	m := must(c.LoadModule(Image{"m", []byte(".version 7.0")}, ModuleOptions{}))(t)
	f := must(m.Function("count"))(t)
	if n, known := f.Parameters(); n != kernelParameters || !known {
		t.Errorf("%d parameters, known %v", n, known)
	}
	if a := f.Attributes(); a.Registers != 104 || a.Local != 103 || a.Shared != 101 ||
		a.Const != 102 || a.MaxThreads != 100 || a.PTXVersion != 105 || a.BinaryVersion != 106 {
		t.Errorf("attributes %+v", a)
	}
	shape := Shape{Grid: Dim{X: 132, Y: 2}, Block: Dim{X: 256}, Shared: 1000}
	ok(t, s.Launch(f, shape, []int64{1, -2, 3}))
	shape.Cooperative = true
	ok(t, s.Launch(f, shape, []int64{4, 5, 6}))
	for i, l := range k.launches {
		want := [][]int64{{1, -2, 3}, {4, 5, 6}}[i]
		if l.f != f.handle || l.stream != s.handle || l.grid != (Dim{132, 2, 1}) ||
			l.block != (Dim{256, 1, 1}) || l.shared != 1000 || !slices.Equal(l.words, want) ||
			l.cooperative != (i == 1) {
			t.Errorf("launch %d is %+v", i, l)
		}
	}
	for _, wrong := range []struct {
		params int
		text   string
	}{
		{2, "kernel count is given 2 parameters and takes 3"},
		{513, "kernel count is given 513 parameters; 512 is the bound"},
	} {
		if err := s.Launch(f, shape, make([]int64, wrong.params)); err == nil ||
			!strings.Contains(err.Error(), wrong.text) {
			t.Errorf("%d parameters: %v", wrong.params, err)
		}
	}
	k.set("cuLaunchKernel", 701)
	shape.Cooperative = false
	if err := s.Launch(f, shape, make([]int64, 3)); err == nil ||
		err.Error() != "CUDA: cuLaunchKernel (kernel count, 132×2×1 blocks of 256 threads, 1000 bytes of shared memory, 3 parameters): error 701" {
		t.Errorf("a launch that fails: %v", err)
	}
	other := newFake().start(t)
	if err := must(other.NewStream())(t).Launch(f, shape, make([]int64, 3)); err == nil ||
		!strings.Contains(err.Error(), "another context") {
		t.Errorf("a stream of another context: %v", err)
	}
}

// TestParametersUnknown launches on a driver that does not tell how many there
// are.
func TestParametersUnknown(t *testing.T) {
	k := newFake()
	k.fn.FuncGetParamInfo = func(functionHandle, uintptr, *uintptr, *uintptr) Code {
		return missingFunction
	}
	k.fn.FuncLoad = func(functionHandle) Code { return missingFunction }
	c := k.start(t)
	s := must(c.NewStream())(t)
	f := must(must(c.LoadModule(Image{"m", nil}, ModuleOptions{}))(t).Function("count"))(t)
	if _, known := f.Parameters(); known {
		t.Error("the number of parameters is known")
	}
	ok(t, s.Launch(f, Shape{}, []int64{7}))
	if l := k.launches[0]; l.words[0] != 7 {
		t.Errorf("launched %+v", l)
	}
}

// TestWords refuses kernels whose parameters are not words.
func TestWords(t *testing.T) {
	k := newFake()
	k.fn.FuncGetParamInfo = func(_ functionHandle, i uintptr, _, size *uintptr) Code {
		if i > 0 {
			return invalidValue
		}
		*size = 4
		return success
	}
	m := must(k.start(t).LoadModule(Image{"m", nil}, ModuleOptions{}))(t)
	if _, err := m.Function("narrow"); err == nil ||
		!strings.Contains(err.Error(), "kernel narrow of module m") ||
		!strings.Contains(err.Error(), "64 bits") {
		t.Error(err)
	}
}

// TestLaunchesAtOnce launches from several goroutines: each gets its own words.
func TestLaunchesAtOnce(t *testing.T) {
	k := newFake()
	c := k.start(t)
	f := must(must(c.LoadModule(Image{"m", nil}, ModuleOptions{}))(t).Function("count"))(t)
	var all sync.WaitGroup
	for g := range int64(8) {
		s := must(c.NewStream())(t)
		all.Go(func() {
			for i := range int64(200) {
				if err := s.Launch(f, Shape{}, []int64{g, i, g * i}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if len(k.launches) != 1600 {
		t.Errorf("%d launches", len(k.launches))
	}
	for _, l := range k.launches {
		if l.words[2] != l.words[0]*l.words[1] {
			t.Fatalf("mixed words %v", l.words)
		}
	}
}

// TestCapture sees a capture end and its recording freed, whatever happens in
// it.
func TestCapture(t *testing.T) {
	mine := errors.New("mine")
	for _, c := range []struct {
		name   string
		f      func() error
		answer string // the call that fails
		want   []string
		err    error
	}{
		{"success", func() error { return nil }, "",
			[]string{"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphGetNodes",
				"cuGraphInstantiateWithFlags", "cuGraphDestroy"}, nil},
		{"an error", func() error { return mine }, "",
			[]string{"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphDestroy"}, mine},
		{"a panic", func() error { panic(mine) }, "",
			[]string{"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphDestroy"}, mine},
		{"refused", func() error { return mine }, "cuStreamBeginCapture",
			[]string{"cuStreamBeginCapture"}, ErrCapture},
		{"invalidated", func() error { return nil }, "cuStreamEndCapture",
			[]string{"cuStreamBeginCapture", "cuStreamEndCapture"}, ErrCapture},
		{"not instantiated", func() error { return nil }, "cuGraphInstantiateWithFlags",
			[]string{"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphGetNodes",
				"cuGraphInstantiateWithFlags", "cuGraphDestroy"}, ErrCapture},
	} {
		k := newFake()
		s := must(k.start(t).NewStream())(t)
		if c.answer != "" {
			k.set(c.answer, 901)
		}
		k.took()
		g, err := func() (g *Graph, err error) {
			defer func() {
				if r := recover(); r != nil {
					err = r.(error)
				}
			}()
			return s.Capture(c.f)
		}()
		if !errors.Is(err, c.err) || (g == nil) != (err != nil) {
			t.Errorf("%s: %v, %v", c.name, g, err)
		}
		if calls := k.took(); !slices.Equal(calls, c.want) {
			t.Errorf("%s: calls %v", c.name, calls)
		}
	}
}

// TestOpenWhileCapturing has a second context of a device wait for the end of a
// capture in the first: the primary context that they share cannot be waited
// for before.
func TestOpenWhileCapturing(t *testing.T) {
	k := newFake()
	c := k.start(t)
	s := must(c.NewStream())(t)
	opened := make(chan error, 1)
	_, err := s.Capture(func() error {
		go func() {
			other, err := c.Device().OpenContext()
			if err == nil {
				err = other.Close()
			}
			opened <- err
		}()
		select {
		case <-opened:
			return errors.New("a context was opened meanwhile")
		case <-time.After(20 * time.Millisecond):
			return nil
		}
	})
	if err != nil {
		t.Error(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
	calls := k.took()
	calls = calls[slices.Index(calls, "cuStreamBeginCapture"):]
	if waited := slices.Index(calls, "cuCtxSynchronize"); waited >= 0 &&
		waited < slices.Index(calls, "cuStreamEndCapture") {
		t.Errorf("calls %v", calls)
	}
}
