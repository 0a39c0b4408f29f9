package trace

import (
	"fmt"
	"testing"
	"time"
)

// TestLanes places spans that nest, spans that follow one another but for the
// error of clocks, and spans that do neither.
func TestLanes(t *testing.T) {
	base := time.Unix(1000, 0)
	var tracer Tracer
	for _, s := range []struct {
		name       string
		start, end int // microseconds
	}{{"late", 100, 200}, {"outer", 0, 100}, {"inner", 10, 50}, {"next", 49, 90}, {"across", 80,
		150}, {"last", 199, 210}} {
		tracer.Add(Span{Track: "t", Name: s.name,
			Start:    base.Add(time.Duration(s.start) * time.Microsecond),
			Duration: time.Duration(s.end-s.start) * time.Microsecond})
	}
	got := ""
	l := lanes{open: map[string][]*lane{}}
	for _, s := range tracer.Spans() {
		at := l.place(&s)
		got += fmt.Sprintf("%s %d: %d+%d\n", s.Name, at, s.Start.Sub(base).Microseconds(),
			s.Duration.Microseconds())
	}
	want := "outer 1: 0+100\ninner 1: 10+40\nnext 1: 50+40\nacross 2: 80+70\nlate 1: 100+100\nlast 1: 200+10\n"
	if got != want || fmt.Sprint(l.names) != "[t t (2)]" {
		t.Errorf("got %q\n%s\nwant\n%s", l.names, got, want)
	}
}
