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

	"github.com/redfoxdb/redfox/internal/atomicfile"
	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/malloc"
)

// memory is what is in use, in bytes, when nothing runs.
type memory struct {
	Heap int64 `json:"heap"` // of Go, after a collection
	Go   int64 `json:"go"`   // of Go in all: heap, stacks, the runtime's own
	// that C's allocator has handed out, to libLLVM and the GPU's driver
	C       int64 `json:"c"`
	Process int64 `json:"process"` // resident, on Linux, which Private, Files and Shared add up to
	Private int64 `json:"private"`
	Files   int64 `json:"files"`
	Shared  int64 `json:"shared"`
	Engine  int64 `json:"engine"` // of the GPU, by the session's account
	Card    int64 `json:"card"`   // of the GPU, by its driver and all processes
}

// held measures what is left when nothing runs in the sessions, which give back
// what they keep for later runs.
func (t *tester) held(sessions ...*driver.Session) memory {
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
	// What C's allocator keeps free is spread over areas of many threads, and
	// more from one time to the next.
	malloc.Trim()
	m := memory{Engine: t.tested.DeviceUse().Held, Card: t.cardBytes()}
	var stats goruntime.MemStats
	goruntime.ReadMemStats(&stats)
	m.Heap, m.Go = int64(stats.HeapAlloc), int64(stats.Sys-stats.HeapReleased)
	if use, ok := malloc.Look(); ok {
		m.C = use.Used
	}
	m.resident()
	return m
}

// cardBytes returns what is in use of the GPU, 0 if another engine is tested.
func (t *tester) cardBytes() int64 {
	if t.session.Engine != driver.EngineGPU {
		return 0
	}
	devices, err := driver.Devices()
	if err != nil {
		return 0
	}
	for _, d := range devices {
		if d.Usable &&
			(t.session.Device == "" || t.session.Device == d.UUID ||
				t.session.Device == strconv.Itoa(d.Number)) {
			return d.Memory - d.Free
		}
	}
	return 0
}

// resident measures the memory that the process has, 0 where that cannot be
// told.
func (m *memory) resident() {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return
	}
	fields := map[string]*int64{"VmRSS:": &m.Process, "RssAnon:": &m.Private, "RssFile:": &m.Files,
		"RssShmem:": &m.Shared}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 3 || fields[words[0]] == nil {
			continue
		}
		if n, err := strconv.ParseInt(words[1], 10, 64); err == nil {
			*fields[words[0]] = n << 10
		}
	}
}

// measurement is what was held at a time.
type measurement struct {
	Seconds float64 `json:"seconds"` // from the beginning
	Runs    int     `json:"runs"`    // until then
	memory
}

// measurements are those of a soak.
type measurements struct {
	began time.Time
	all   []measurement
}

func (m *measurements) add(held memory, runs int) {
	m.all = append(m.all, measurement{time.Since(m.began).Seconds(), runs, held})
}

// line is the last measurement for people.
func (m *measurements) line() string {
	last := m.all[len(m.all)-1]
	text := fmt.Sprintf("%6.0f s: heap %d MiB, C's allocator %d MiB, process %d MiB", last.Seconds,
		last.Heap>>20, last.C>>20, last.Process>>20)
	if last.Card > 0 {
		text += fmt.Sprintf(", session on the GPU %d MiB, GPU in all %d MiB", last.Engine>>20,
			last.Card>>20)
	}
	return text
}

// trend is how a quantity goes with time: the line that fits it best by least
// squares.
type trend struct {
	What string `json:"what"`
	// Measured is by how many measurements, of which it takes some to tell
	// growth.
	Measured int `json:"measured"`
	// PerHour is the slope, and Error the standard error of it, in bytes an
	// hour.
	PerHour float64 `json:"per_hour"`
	Error   float64 `json:"error"`
	// Growth is what the line rises by from the first measurement that counts
	// to the last, of which PerRun is for each run, Noise how far measurements
	// are from the line, by standard deviation, and Slack what it may rise by.
	// In bytes.
	Growth float64 `json:"growth"`
	PerRun float64 `json:"per_run"`
	Noise  float64 `json:"noise"`
	Slack  float64 `json:"slack"`
	Grows  bool    `json:"grows"`
}

func (t trend) String() string {
	verb := "does not grow"
	switch {
	case t.Grows:
		verb = "grows"
	case t.Measured < fewest:
		verb = "was looked at too seldom to tell"
	}
	const mib = 1 << 20
	return fmt.Sprintf("%s %s: %.1f MiB in this time, where %.0f may be and noise is %.1f, %.0f bytes a run, %.0f ± %.0f MiB an hour",
		t.What, verb, t.Growth/mib, t.Slack/mib, t.Noise/mib, t.PerRun, t.PerHour/mib, t.Error/mib)
}

// warming is the part of the time that does not count: caches fill, and the
// driver and threads' areas of C's allocator grow to what is asked of them at
// most.
const warming = 0.4

// fewest are the measurements that count with which growth is told from chance.
const fewest = 8

// quantities are what is looked at. Of each so many bytes, and that share of
// what is held, may come and go: the collector and allocators keep some of what
// is free, C's up to 0.2 MiB for each thread, which counts as handed out, and
// of the GPU other processes have some.
var quantities = []struct {
	what  string
	of    func(measurement) int64
	bytes float64
	share float64
}{
	{"the heap", func(x measurement) int64 { return x.Heap }, 8 << 20, 0.02},
	{"what Go has", func(x measurement) int64 { return x.Go }, 16 << 20, 0.02},
	{"what C's allocator has handed out", func(x measurement) int64 { return x.C }, 16 << 20, 0.02},
	{"the process", func(x measurement) int64 { return x.Process }, 16 << 20, 0.01},
	{"the session's memory on the GPU", func(x measurement) int64 {
		return x.Engine
	}, 8 << 20, 0.02},
	{"the GPU's memory", func(x measurement) int64 { return x.Card }, 64 << 20, 0.05},
}

// trends are those of all quantities, once warm.
func (m *measurements) trends() []trend {
	last := m.all[len(m.all)-1].Seconds
	warm := m.all
	for len(warm) > 2 && warm[0].Seconds < warming*last {
		warm = warm[1:]
	}
	var out []trend
	runs := warm[len(warm)-1].Runs - warm[0].Runs
	for _, q := range quantities {
		var at, value []float64
		for _, x := range warm {
			at, value = append(at, x.Seconds/3600), append(value, float64(q.of(x)))
		}
		t := trend{What: q.what, Measured: len(at), Slack: q.bytes + q.share*value[0]}
		t.PerHour, t.Error, t.Noise = slope(at, value)
		t.Growth = t.PerHour * (at[len(at)-1] - at[0])
		t.PerRun = t.Growth / float64(max(runs, 1))
		t.Grows = t.Measured >= fewest && t.Growth > t.Slack && t.PerHour > 2*t.Error
		out = append(out, t)
	}
	return out
}

// slope returns that of the line which fits values best, its standard error,
// and the standard deviation of values from the line: 0 where there are too
// few.
func slope(at, value []float64) (slope, deviation, noise float64) {
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
		return 0, 0, 0
	}
	slope = xy / xx
	if len(at) < 3 {
		return slope, 0, 0
	}
	var left float64
	for i := range at {
		d := value[i] - meanY - slope*(at[i]-meanX)
		left += d * d
	}
	noise = math.Sqrt(left / (n - 2))
	return slope, noise / math.Sqrt(xx), noise
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
