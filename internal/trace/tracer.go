package trace

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// Tracer collects spans. It is safe for concurrent use. Its Add is a Func.
type Tracer struct {
	mu    sync.Mutex
	spans []Span
}

// Add records a span.
func (t *Tracer) Add(s Span) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spans = append(t.spans, s)
}

// Spans returns the spans by start; a span follows the one that contains it.
func (t *Tracer) Spans() []Span {
	t.mu.Lock()
	defer t.mu.Unlock()
	spans := slices.Clone(t.spans)
	slices.SortStableFunc(spans, func(a, b Span) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(b.Duration, a.Duration))
	})
	return spans
}

// event is an event of the Trace Event Format, which Perfetto and Chrome show:
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
// Times are in microseconds.
type event struct {
	Name     string         `json:"name"`
	Phase    string         `json:"ph"` // X is a span, M describes a track
	Time     float64        `json:"ts"`
	Duration *float64       `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

// Write writes the spans as JSON in the Trace Event Format. Tracks are in the
// order of their first spans, and times count from the first span. Spans of a
// track that overlap without nesting go to tracks of their own.
func (t *Tracer) Write(w io.Writer) error {
	spans := t.Spans()
	l := lanes{open: map[string][]*lane{}}
	events := []event{{Name: "process_name", Phase: "M", Process: 1,
		Args: map[string]any{"name": "redfox"}}}
	var timed []event
	for _, s := range spans {
		at := l.place(&s)
		took := micros(s.Duration)
		timed = append(timed,
			event{Name: s.Name, Phase: "X", Time: micros(s.Start.Sub(spans[0].Start)),
				Duration: &took, Process: 1, Thread: at, Args: s.Args})
	}
	for i, name := range l.names {
		events = append(events,
			event{Name: "thread_name", Phase: "M", Process: 1, Thread: i + 1,
				Args: map[string]any{"name": name}},
			event{Name: "thread_sort_index", Phase: "M", Process: 1, Thread: i + 1,
				Args: map[string]any{"sort_index": i + 1}})
	}
	buffer := bufio.NewWriter(w)
	// Flush returns the errors of the writes.
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

// lanes assigns the spans of a track, by start, to lanes within which spans
// follow one another or nest, as viewers require.
type lanes struct {
	names []string // of all lanes
	open  map[string][]*lane
}

// lane holds the ends of the spans that are open, the innermost last.
type lane struct {
	number int
	ends   []time.Time
}

// clockError bounds the apparent overlap of spans that follow one another: the
// clocks of a device and of the host are read separately.
const clockError = 2 * time.Microsecond

// place returns the number of the lane for a span, from 1 on. It may shorten
// the span by clockError.
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
