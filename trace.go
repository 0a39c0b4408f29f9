package redfox

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/runtime"
)

// Span is something that took time in a run: a command, a kernel, a transfer.
type Span = runtime.Span

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

// Since adds a span that lasted from a time until now.
func (t *Tracer) Since(track, name string, start time.Time) {
	t.Add(Span{Track: track, Name: name, Start: start, Duration: time.Since(start)})
}

// Spans returns what was collected, by start.
func (t *Tracer) Spans() []Span {
	t.mu.Lock()
	defer t.mu.Unlock()
	spans := slices.Clone(t.spans)
	slices.SortStableFunc(spans, func(a, b Span) int { return a.Start.Compare(b.Start) })
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
// order of their first spans; times count from the first span.
func (t *Tracer) Write(w io.Writer) error {
	spans := t.Spans()
	buffer := bufio.NewWriter(w)
	buffer.WriteString("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n")
	encode := func(e traceEvent, comma string) error {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		buffer.Write(line)
		_, err = buffer.WriteString(comma)
		return err
	}
	tracks := map[string]int{}
	for _, s := range spans {
		if tracks[s.Track] != 0 {
			continue
		}
		number := len(tracks) + 1
		tracks[s.Track] = number
		for _, e := range []traceEvent{
			{Name: "thread_name", Phase: "M", Process: 1, Thread: number, Args: map[string]any{"name": s.Track}},
			{Name: "thread_sort_index", Phase: "M", Process: 1, Thread: number, Args: map[string]any{"sort_index": number}},
		} {
			if err := encode(e, ",\n"); err != nil {
				return err
			}
		}
	}
	for _, s := range spans {
		took := micros(s.Duration)
		e := traceEvent{Name: s.Name, Phase: "X", Time: micros(s.Start.Sub(spans[0].Start)), Duration: &took, Process: 1, Thread: tracks[s.Track], Args: s.Args}
		if err := encode(e, ",\n"); err != nil {
			return err
		}
	}
	if err := encode(traceEvent{Name: "process_name", Phase: "M", Process: 1, Args: map[string]any{"name": "redfox"}}, "\n]}\n"); err != nil {
		return err
	}
	return buffer.Flush()
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
