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
	Groups         float64 // additions to groups in shared memory
	Accesses       []float64
}

// Total is the time of the kernel.
func (p Prediction) Total() float64 {
	total := p.Launch + max(p.Stream, p.Stages) + p.Tiles + p.Groups
	for _, t := range p.Accesses {
		total += t
	}
	return total
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
		Stages: w.Steps * r.Step,
		Tiles: w.Scanned*r.Scan + w.Waits*r.Wait + w.Queued*r.Queue + w.Expanded*r.Expanded +
			w.Runs*r.Run + w.Appended*r.Append,
		Groups: w.Shared*r.Shared + w.Table*r.Table + w.Merged*r.Merge,
	}
	for _, a := range w.Accesses {
		p.Accesses = append(p.Accesses, a.Rows*r.access(a, d))
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
	l2 := d.L2
	if l2 == 0 {
		l2 = H200.L2
	}
	if a.Bytes <= cached*l2 {
		return 1
	}
	return cached * l2 / a.Bytes
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
	for i, x := range append(overlapping, part{"tiles", p.Tiles}, part{"groups", p.Groups},
		part{"accesses", accesses}) {
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
