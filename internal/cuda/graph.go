package cuda

// Graph is work that was recorded from a stream and is launched as one.
type Graph struct {
	object[graphExec]
	nodes int
}

// Capture calls f and records what f puts into the stream in place of doing it.
// Work of other streams belongs to it where events tie it to this one's. Calls
// that wait for the stream are errors while it is captured; a call that is not
// recorded, such as an allocation, happens at once. What f returns comes back
// as it is, and without a graph.
func (s *Stream) Capture(f func() error) (*Graph, error) {
	s.ctx.device.capturing.RLock()
	defer s.ctx.device.capturing.RUnlock()
	// The relaxed mode, because the others tie a capture to one thread.
	err := s.call("cuStreamBeginCapture", func(h streamHandle) Code {
		return s.ctx.fn.StreamBeginCapture(h, captureRelaxed)
	})
	if err != nil {
		return nil, err
	}
	var recorded graphHandle
	ended := false
	end := func() error {
		ended = true
		return s.call("cuStreamEndCapture", func(h streamHandle) Code {
			return s.ctx.fn.StreamEndCapture(h, &recorded)
		})
	}
	defer func() {
		if !ended { // f panics
			end()
		}
		if recorded != 0 {
			s.ctx.call("cuGraphDestroy", func() Code { return s.ctx.fn.GraphDestroy(recorded) })
		}
	}()
	failed := f()
	err = end()
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	g := &Graph{object: object[graphExec]{ctx: s.ctx}}
	var n uintptr
	err = s.ctx.call("cuGraphGetNodes", func() Code {
		return s.ctx.fn.GraphGetNodes(recorded, nil, &n)
	})
	if err != nil {
		return nil, err
	}
	g.nodes = int(n)
	err = s.ctx.call("cuGraphInstantiateWithFlags", func() Code {
		return s.ctx.fn.GraphInstantiateWithFlags(&g.handle, recorded, 0)
	})
	if err != nil {
		return nil, describe(err, "%d nodes", n)
	}
	return g, nil
}

// Nodes returns how many launches, copies and fills the graph has.
func (g *Graph) Nodes() int { return g.nodes }

// Upload readies the graph on the device, so that its first launch is as fast
// as the later ones.
func (g *Graph) Upload(s *Stream) error {
	return g.in(s, "cuGraphUpload", s.ctx.fn.GraphUpload)
}

// Launch puts the graph's work into a stream. A graph that is launched again
// before it is done waits for itself.
func (g *Graph) Launch(s *Stream) error {
	return g.in(s, "cuGraphLaunch", s.ctx.fn.GraphLaunch)
}

func (g *Graph) in(s *Stream, name string, f func(graphExec, streamHandle) Code) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.handle == 0 {
		return refused(name, ErrClosed, "the graph is closed")
	}
	return s.call(name, func(h streamHandle) Code { return f(g.handle, h) })
}

// Close frees the graph. A launch that is under way ends as if it were there.
func (g *Graph) Close() error { return g.close("cuGraphExecDestroy", g.ctx.fn.GraphExecDestroy) }
