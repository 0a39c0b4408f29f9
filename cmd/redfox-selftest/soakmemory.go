package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/redfoxdb/redfox"
	"github.com/redfoxdb/redfox/internal/atomicfile"
)

// memory is what is in use, in bytes, when nothing runs.
type memory struct {
	Heap    int64 `json:"heap"`    // of Go, after a collection
	Process int64 `json:"process"` // resident, on Linux
	Engine  int64 `json:"engine"`  // of the GPU, by the session's account
	Card    int64 `json:"card"`    // of the GPU, by its driver and all processes
}

// held measures what is left when nothing runs in the sessions, which give back what they
// keep for later runs.
func (t *tester) held(sessions ...*redfox.Session) memory {
	// Cleanups of what is collected first run before the second collection.
	for range 2 {
		goruntime.GC()
		time.Sleep(50 * time.Millisecond)
	}
	debug.FreeOSMemory()
	for _, s := range sessions {
		if err := s.Trim(); err != nil {
			t.fail(testCase{}, err.Error())
		}
	}
	var stats goruntime.MemStats
	goruntime.ReadMemStats(&stats)
	return memory{Heap: int64(stats.HeapAlloc), Process: processBytes(), Engine: t.tested.DeviceUse().Held, Card: t.cardBytes()}
}

// cardBytes returns what is in use of the GPU, 0 if another engine is tested.
func (t *tester) cardBytes() int64 {
	if t.session.Engine != "gpu" {
		return 0
	}
	devices, err := redfox.Devices()
	if err != nil {
		return 0
	}
	for _, d := range devices {
		if d.Usable && (t.session.Device == "" || t.session.Device == d.UUID || t.session.Device == strconv.Itoa(d.Number)) {
			return d.Memory - d.Free
		}
	}
	return 0
}

// processBytes returns the memory that the process has, 0 where that can not be told.
func processBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// measurement is what was held at a time.
type measurement struct {
	Seconds float64 `json:"seconds"` // from the beginning
	memory
}

// measurements are those of a soak.
type measurements struct {
	began time.Time
	all   []measurement
}

func (m *measurements) add(held memory) {
	m.all = append(m.all, measurement{time.Since(m.began).Seconds(), held})
}

// line is the last measurement for people.
func (m *measurements) line() string {
	last := m.all[len(m.all)-1]
	text := fmt.Sprintf("%6.0f s: heap %d MiB, process %d MiB", last.Seconds, last.Heap>>20, last.Process>>20)
	if last.Card > 0 {
		text += fmt.Sprintf(", session on the GPU %d MiB, GPU in all %d MiB", last.Engine>>20, last.Card>>20)
	}
	return text
}

// trend is how a quantity goes with time: the line that fits it best by least squares.
type trend struct {
	What string `json:"what"`
	// PerHour is the slope, and Error the standard error of it, in bytes an hour.
	PerHour float64 `json:"per_hour"`
	Error   float64 `json:"error"`
	// Growth is what the line rises by from the first measurement that counts to the last,
	// and Slack what it may: the collector, the C library's allocator and the GPU's driver
	// do not give back all that is free. In bytes.
	Growth float64 `json:"growth"`
	Slack  float64 `json:"slack"`
	Grows  bool    `json:"grows"`
}

func (t trend) String() string {
	verb := "does not grow"
	if t.Grows {
		verb = "grows"
	}
	const mib = 1 << 20
	return fmt.Sprintf("%s %s: %.1f MiB in this time, %.0f ± %.0f MiB an hour", t.What, verb, t.Growth/mib, t.PerHour/mib, t.Error/mib)
}

const (
	// slackBytes, and this share of what is held, may come and go.
	slackBytes = 64 << 20
	slackShare = 0.05
	// warming is the part of the time that does not count: caches fill, and the C library's
	// allocator gets to know what is asked of it.
	warming = 0.4
)

// trends are those of all quantities, once warm.
func (m *measurements) trends() []trend {
	last := m.all[len(m.all)-1].Seconds
	warm := m.all
	for len(warm) > 2 && warm[0].Seconds < warming*last {
		warm = warm[1:]
	}
	var out []trend
	for _, q := range []struct {
		what string
		of   func(measurement) int64
	}{
		{"the heap", func(x measurement) int64 { return x.Heap }},
		{"the process", func(x measurement) int64 { return x.Process }},
		{"the session's memory on the GPU", func(x measurement) int64 { return x.Engine }},
		{"the GPU's memory", func(x measurement) int64 { return x.Card }},
	} {
		var at, value []float64
		for _, x := range warm {
			at, value = append(at, x.Seconds/3600), append(value, float64(q.of(x)))
		}
		t := trend{What: q.what, Slack: slackBytes + slackShare*value[0]}
		t.PerHour, t.Error = slope(at, value)
		t.Growth = t.PerHour * (at[len(at)-1] - at[0])
		t.Grows = t.Growth > t.Slack && t.PerHour > 2*t.Error
		out = append(out, t)
	}
	return out
}

// slope returns that of the line which fits values best, and its standard error: 0 and 0
// where there are too few.
func slope(at, value []float64) (slope, deviation float64) {
	n := float64(len(at))
	var sumX, sumY float64
	for i := range at {
		sumX += at[i]
		sumY += value[i]
	}
	meanX, meanY := sumX/n, sumY/n
	var xx, xy float64
	for i := range at {
		xx += (at[i] - meanX) * (at[i] - meanX)
		xy += (at[i] - meanX) * (value[i] - meanY)
	}
	if xx == 0 {
		return 0, 0
	}
	slope = xy / xx
	if len(at) < 3 {
		return slope, 0
	}
	var left float64
	for i := range at {
		d := value[i] - meanY - slope*(at[i]-meanX)
		left += d * d
	}
	return slope, math.Sqrt(left / (n - 2) / xx)
}

// soakReport is what a soak writes as JSON.
type soakReport struct {
	Engine       string         `json:"engine"`
	Seconds      float64        `json:"seconds"`
	Programs     int            `json:"programs"`
	Parallel     int            `json:"parallel"`
	Runs         int            `json:"runs"`
	Failures     int            `json:"failures"`
	Passed       bool           `json:"passed"`
	Work         map[string]int `json:"work"`
	Trends       []trend        `json:"trends"`
	Measurements []measurement  `json:"measurements"`
}

// write writes the report to a file.
func (m *measurements) write(file string, r soakReport) error {
	r.Measurements = m.all
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(file, append(text, '\n'))
}
