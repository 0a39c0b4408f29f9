package emulated

import "github.com/redfoxdb/redfox/internal/cuda/driver"

// graph is recorded work.
type graph struct {
	object
	operations []operation
	spoilt     bool // a call that cannot be recorded was made
}

// Capture records the operations that f enqueues.
func (s *stream) Capture(f func() error) (driver.Graph, error) {
	const begin, end = "cuStreamBeginCapture", "cuStreamEndCapture"
	recorded := &graph{}
	err := s.unrecorded(begin, func() error {
		if err := s.ctx.driver.unsupported(begin); err != nil {
			return err
		}
		s.line.Lock()
		defer s.line.Unlock()
		s.capture = recorded
		return nil
	})
	if err != nil {
		return nil, err
	}
	defer s.endCapture() // even if f panics
	if err := f(); err != nil {
		return nil, err
	}
	err = s.call(end, func() error {
		if recorded.spoilt {
			return failure(end, captureWrong, "")
		}
		recorded.object = newObject(s.ctx, "graph")
		return nil
	})
	if err != nil {
		return nil, err
	}
	return recorded, nil
}

func (s *stream) endCapture() {
	s.line.Lock()
	defer s.line.Unlock()
	s.capture = nil
}

// Nodes returns how many operations the graph has.
func (g *graph) Nodes() int { return len(g.operations) }

// Upload does nothing, because the emulator has nothing to prepare.
func (g *graph) Upload(other driver.Stream) error {
	return g.in("cuGraphUpload", other, func(*stream) {})
}

// Launch enqueues the graph's operations in a stream.
func (g *graph) Launch(other driver.Stream) error {
	return g.in("cuGraphLaunch", other, func(s *stream) {
		for _, op := range g.operations {
			s.enqueue(op)
		}
	})
}

func (g *graph) in(name string, other driver.Stream, f func(*stream)) error {
	s, ok := other.(*stream)
	if !ok || s.ctx.primary != g.ctx.primary {
		return foreign(name, other)
	}
	if g.isClosed() {
		return closed(name)
	}
	return s.call(name, func() error {
		f(s)
		return nil
	})
}

// Close closes the graph. Launches that are in progress are not affected.
func (g *graph) Close() error {
	return g.close("cuGraphExecDestroy", func() error { return nil })
}
