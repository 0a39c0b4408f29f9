package redfox

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/runtime"
)

// Span is something that took time in a run: a command, a kernel, a transfer.
type Span = runtime.Span

// HostTrack is the track of spans that no engine makes: planning, whole runs, and what a
// program adds of its own.
const HostTrack = "redfox"

// Tracer collects what took time. It is safe for concurrent use; its Add serves as
// RunOptions.Trace.
type Tracer struct {
	mu    sync.Mutex
	spans []Span
}

// Add takes a span.
func (t *Tracer) Add(s Span) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spans = append(t.spans, s)
}

// Spans returns what was collected, by start, and what is within another span after it.
func (t *Tracer) Spans() []Span {
	t.mu.Lock()
	defer t.mu.Unlock()
	spans := slices.Clone(t.spans)
	slices.SortStableFunc(spans, func(a, b Span) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(b.Duration, a.Duration))
	})
	return spans
}

// traceEvent is an event of the Trace Event Format, which Perfetto and Chrome show:
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. Times
// are in microseconds.
type traceEvent struct {
	Name     string         `json:"name"`
	Phase    string         `json:"ph"` // X is a span, M says something of a track
	Time     float64        `json:"ts"`
	Duration *float64       `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

// Write writes what was collected as JSON in the Trace Event Format. Tracks are in the
// order of their first spans; times count from the first span. Spans of a track that
// overlap without one being within the other are on tracks of their own.
func (t *Tracer) Write(w io.Writer) error {
	spans := t.Spans()
	l := lanes{open: map[string][]*lane{}}
	events := []traceEvent{{Name: "process_name", Phase: "M", Process: 1, Args: map[string]any{"name": "redfox"}}}
	var timed []traceEvent
	for _, s := range spans {
		at := l.place(&s)
		took := micros(s.Duration)
		timed = append(timed, traceEvent{Name: s.Name, Phase: "X", Time: micros(s.Start.Sub(spans[0].Start)), Duration: &took,
			Process: 1, Thread: at, Args: s.Args})
	}
	for i, name := range l.names {
		events = append(events,
			traceEvent{Name: "thread_name", Phase: "M", Process: 1, Thread: i + 1, Args: map[string]any{"name": name}},
			traceEvent{Name: "thread_sort_index", Phase: "M", Process: 1, Thread: i + 1, Args: map[string]any{"sort_index": i + 1}})
	}
	buffer := bufio.NewWriter(w)
	// What a buffer's writes fail with its Flush returns.
	_, _ = buffer.WriteString("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")
	for i, e := range append(events, timed...) {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if i > 0 {
			_ = buffer.WriteByte(',')
		}
		_ = buffer.WriteByte('\n')
		_, _ = buffer.Write(line)
	}
	_, _ = buffer.WriteString("\n]}\n")
	return buffer.Flush()
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// lanes gives each span a line of its track, by start, so that the spans of a line are
// one after the other or one within the other, as viewers want them.
type lanes struct {
	names []string // of all lanes
	open  map[string][]*lane
}

// lane has the ends of the spans that the last one is within, the innermost last.
type lane struct {
	number int
	ends   []time.Time
}

// clockError is by how much spans that follow one another may seem to overlap, as a
// device's clock is read apart from the host's.
const clockError = 2 * time.Microsecond

// place returns the number of the lane for a span, from 1 on. It may shorten the span by
// the error of clocks.
func (l *lanes) place(s *Span) int {
	end := s.Start.Add(s.Duration)
	for _, lane := range l.open[s.Track] {
		for len(lane.ends) > 0 && !lane.ends[len(lane.ends)-1].After(s.Start.Add(clockError)) {
			if over := lane.ends[len(lane.ends)-1].Sub(s.Start); over > 0 {
				s.Start = s.Start.Add(over)
				s.Duration = max(0, end.Sub(s.Start))
				end = s.Start.Add(s.Duration)
			}
			lane.ends = lane.ends[:len(lane.ends)-1]
		}
		if len(lane.ends) == 0 || !end.After(lane.ends[len(lane.ends)-1]) {
			lane.ends = append(lane.ends, end)
			return lane.number
		}
	}
	name := s.Track
	if n := len(l.open[s.Track]); n > 0 {
		name = fmt.Sprintf("%s (%d)", name, n+1)
	}
	l.names = append(l.names, name)
	l.open[s.Track] = append(l.open[s.Track], &lane{len(l.names), []time.Time{end}})
	return len(l.names)
}
