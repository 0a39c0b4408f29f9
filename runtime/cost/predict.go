package cost

// Prediction is the time of a kernel by its parts, in seconds.
type Prediction struct {
	Launch   float64 // of all calls
	Stream   float64 // bytes that are read and written in order
	Compute  float64 // stages, queues, tiles
	Accesses float64 // to tables and columns by key or by row number
	Groups   float64 // additions to groups and sets
}

// Total is the time of the kernel.
func (p Prediction) Total() float64 {
	return p.Launch + p.Stream + p.Compute + p.Accesses + p.Groups
}

// Predict returns what each kernel takes on a device.
func Predict(works []Work, d Device) []Prediction {
	rates := d.Rates()
	out := make([]Prediction, len(works))
	for i, w := range works {
		p := rates.kernel(w, d)
		launch := rates.Launch
		if w.Idle || i == 0 || out[i-1].Total() < rates.Ahead {
			launch = rates.Idle
		}
		p.Launch = launch * max(w.Calls, 1)
		out[i] = p
	}
	return out
}

// kernel returns the parts of a kernel beside its launch.
func (r Rates) kernel(w Work, d Device) Prediction {
	p := Prediction{
		Stream: (w.Read + w.Written) * r.Byte,
		Compute: w.Steps*r.Step + w.Scanned*r.Scan + w.Runs*r.Run + w.Queued*r.Queue +
			w.Expanded*r.Expanded,
		Groups: w.Shared*r.Shared + w.Tables*r.Table,
	}
	l2 := cached * d.L2
	if l2 == 0 {
		l2 = cached * H200.L2
	}
	for _, a := range w.Accesses {
		hit := 1.0
		if a.Bytes > l2 {
			hit = l2 / a.Bytes
		}
		if a.Search {
			p.Accesses += a.Rows * r.Search
		}
		switch {
		case a.Kind == Atomic:
			p.Groups += a.Rows * (hit*r.Atomic + (1-hit)*r.Far)
		case a.Ordered:
			p.Accesses += a.Rows * r.Ordered
		case a.Bytes <= near:
			p.Accesses += a.Rows * r.Near
		default:
			p.Accesses += a.Rows * (hit*r.L2 + (1-hit)*r.Memory)
		}
	}
	return p
}
