package cost

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Prediction is the time of a kernel by its parts, in seconds.
type Prediction struct {
	Launch float64 // of all calls
	// Stream is the time of the bytes that are read and written in order, and
	// Stages that of instructions. They overlap: the longer one counts.
	Stream, Stages float64
	Tiles          float64 // threads that meet, queues, expansions
	Latency        float64 // what takes its time however few rows there are
	Groups         float64 // additions to groups in shared memory
	Accesses       []float64
}

// Total is the time of the kernel.
func (p Prediction) Total() float64 {
	total := p.Launch + max(p.Stream, p.Stages) + p.Tiles + p.Latency + p.Groups
	for _, t := range p.Accesses {
		total += t
	}
	return total
}

// Predict returns what each kernel takes on a device, in a run that repeats an
// earlier one: the host enqueues kernels without waiting. A kernel of a stream
// that is idle takes as long as the host needs to launch it.
func Predict(works []Work, d Device) []Prediction {
	rates := d.Rates()
	out := make([]Prediction, len(works))
	host, device := 0.0, 0.0
	for i, w := range works {
		p := rates.kernel(w, d)
		host += rates.Enqueue + w.Builds*rates.Build
		launch := rates.Launch
		if device <= host {
			launch = rates.Idle
		}
		p.Launch = launch * max(w.Calls, 1)
		device = max(device, host) + p.Total()
		out[i] = p
	}
	return out
}

// kernel returns the parts of a kernel beside its launch.
func (r Rates) kernel(w Work, d Device) Prediction {
	fresh := w.Fresh
	if fresh > d.tables()/2 {
		fresh = 0
	}
	p := Prediction{
		Stream: (w.Read+w.Written-fresh)*r.Byte + fresh*r.Fresh,
		Stages: w.Steps * r.Step,
		Tiles: w.Scanned*r.Scan + w.Waits*r.Wait + w.Queued*r.Queue + w.Expanded*r.Expanded +
			w.Runs*r.Run + w.Appended*r.Append,
		Groups: w.Shared*r.Shared + w.Table*r.Table + w.Merged*r.Merge,
	}
	if w.Queued > 0 {
		p.Latency += r.Drain * min(1, w.Rows/drained)
	}
	if w.Divides {
		p.Latency += r.Divide
	}
	if w.Listed {
		p.Latency += r.List
	}
	for _, a := range w.Accesses {
		t := a.Rows * r.access(a, d)
		if a.Kind == Atomic && a.Search && w.Appended > 0 {
			p.Latency += r.Set
		}
		p.Accesses = append(p.Accesses, t)
	}
	return p
}

// access returns the time of an access of one row.
func (r Rates) access(a Access, d Device) float64 {
	each := 0.0
	if a.Search {
		each = r.Search
	}
	hit := d.hit(a)
	switch level := d.Level(a); {
	case a.Kind == Atomic:
		each += hit*r.Atomic + (1-hit)*r.Far
	case level == inOrder:
		each += r.Ordered
		if a.Rows > 0 {
			each += min(a.Bytes/a.Rows, sector) * r.Byte
		}
	case level == inL1:
		each += r.Near
	default:
		each += hit*r.L2 + (1-hit)*r.Memory
	}
	return each
}

// The places where accesses end.
const (
	inOrder  = "in order"
	inL1     = "L1"
	inL2     = "L2"
	inMemory = "memory"
)

// Level is where the accesses to a table end.
func (d Device) Level(a Access) string {
	switch {
	case a.Ordered:
		return inOrder
	case a.Kind != Atomic && a.Bytes <= near:
		return inL1
	case d.hit(a) > 0.5:
		return inL2
	}
	return inMemory
}

// hit is the share of the accesses to a table that the second-level cache
// serves.
func (d Device) hit(a Access) float64 {
	if a.Bytes <= d.tables() {
		return 1
	}
	return d.tables() / a.Bytes
}

// tables is the part of the second-level cache that tables get.
func (d Device) tables() float64 {
	if d.L2 > 0 {
		return cached * d.L2
	}
	return cached * H200.L2
}

// part is a part of a kernel's time.
type part struct {
	name string
	time float64
}

// shown is the share of a kernel's time from which on accesses have a line.
const shown = 0.05

// Explain writes the parts of a kernel's prediction, and a line of each table
// whose accesses take a part of it.
func Explain(w Work, p Prediction, d Device) string {
	var b strings.Builder
	total, accesses := p.Total(), 0.0
	for _, t := range p.Accesses {
		accesses += t
	}
	b.WriteString("launch " + short(p.Launch))
	overlapping := []part{{bytes(w.Read+w.Written) + " in order", p.Stream}, {"stages", p.Stages}}
	if p.Stages > p.Stream {
		slices.Reverse(overlapping)
	}
	for i, x := range append(overlapping, part{"tiles", p.Tiles}, part{"latency", p.Latency},
		part{"groups", p.Groups}, part{"accesses", accesses}) {
		switch {
		case x.time < total/100:
		case i == 1:
			fmt.Fprintf(&b, " beside %s %s", x.name, short(x.time))
		default:
			fmt.Fprintf(&b, ", %s %s", x.name, short(x.time))
		}
	}
	b.WriteString("\n")
	for i, a := range w.Accesses {
		if p.Accesses[i] >= shown*total {
			fmt.Fprintf(&b, "    %s of %s, %s, %s: %s\n", number(a.Rows, string(a.Kind)), a.To,
				bytes(a.Bytes), d.Level(a), short(p.Accesses[i]))
		}
	}
	return b.String()
}

// Duration returns a number of seconds as a duration.
func Duration(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second))
}

func short(seconds float64) string { return Short(Duration(seconds)) }

// Short renders the time of a kernel with about two digits.
func Short(d time.Duration) string {
	switch {
	case d >= 10*time.Millisecond:
		d = d.Round(time.Millisecond)
	case d >= time.Millisecond:
		d = d.Round(100 * time.Microsecond)
	case d >= 10*time.Microsecond:
		d = d.Round(time.Microsecond)
	default:
		d = d.Round(100 * time.Nanosecond)
	}
	return d.String()
}

// bytes renders a number of bytes.
func bytes(n float64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", n/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", n/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f kB", n/1e3)
	}
	return fmt.Sprintf("%.0f B", n)
}

// number renders a number of things.
func number(n float64, what string) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1f M %ss", n/1e6, what)
	case n >= 1e3:
		return fmt.Sprintf("%.1f k %ss", n/1e3, what)
	}
	return fmt.Sprintf("%.0f %ss", n, what)
}
