package measure

import (
	"encoding/json"
	"io"
	"math"
	"slices"
	"time"
)

// Report holds the measurements of one run of a suite. Times are in seconds,
// sizes in bytes.
type Report struct {
	Suite   string  `json:"suite"`
	Scale   float64 `json:"scale_factor"`
	Date    string  `json:"date"` // RFC 3339
	Machine Machine `json:"machine"`
	Redfox  string  `json:"redfox"` // version
	Engine  string  `json:"engine"` // that was asked for
	// EngineDetail names the parts of the machine that the engine uses, such as
	// its compiler.
	EngineDetail string `json:"engine_detail"`
	Device       string `json:"device,omitempty"`
	Driver       string `json:"driver,omitempty"`
	Threads      int    `json:"threads"`
	// Bandwidth determines the floor, in bytes a second. BandwidthBy is its
	// origin.
	Bandwidth   float64 `json:"bandwidth"`
	BandwidthBy string  `json:"bandwidth_by"`
	// SharedFacts is true if the facts of all queries were loaded at once, in
	// Load.
	SharedFacts bool             `json:"shared_facts"`
	Load        float64          `json:"load_seconds,omitempty"`
	Rows        map[string]int64 `json:"table_rows"`
	Peers       []Peer           `json:"peers"`
	Queries     []*Measurement   `json:"queries"`
	// Sum and Mean are the sum and the geometric mean of the hot medians; 0 if
	// a query failed.
	Sum  float64 `json:"hot_sum_seconds,omitempty"`
	Mean float64 `json:"hot_geometric_mean_seconds,omitempty"`
	Peak int64   `json:"peak_process_bytes,omitempty"`
}

// Peer is a system that queries are measured against.
type Peer struct {
	Name   string `json:"name"`
	Source string `json:"source"` // version and threads, or where figures are from
	// Sum and Mean are over the peer's times of the queries that both ran.
	// Faster is the geometric mean of the ratios of the peer's times to ours.
	Sum    float64 `json:"sum_seconds,omitempty"`
	Mean   float64 `json:"geometric_mean_seconds,omitempty"`
	Faster float64 `json:"times_as_fast,omitempty"`
	// Frugal is the same ratio of processor times, which depend less on other
	// load of the machine.
	Frugal float64 `json:"times_as_frugal,omitempty"`
}

// Times are the times of repeated runs.
type Times struct {
	Runs   []float64 `json:"runs,omitempty"`
	Median float64   `json:"median"`
	Least  float64   `json:"least,omitempty"`
	Most   float64   `json:"most,omitempty"`
	// Processor is the mean processor time of a run, all threads together.
	Processor float64 `json:"processor,omitempty"`
}

// Measurement holds the times of one query.
type Measurement struct {
	Query  string `json:"query"`
	Engine string `json:"engine"` // that ran
	Rows   int64  `json:"rows"`   // of the answer
	// Checked names the peer that gave the same answer; "" if there was no
	// peer.
	Checked string  `json:"checked_by,omitempty"`
	Load    float64 `json:"load_seconds,omitempty"` // reading the query's columns from files
	// Cold is the time from the text of the query to its answer, with the facts
	// in memory and nothing compiled before.
	Cold    float64      `json:"cold_seconds"`
	Compile Compilations `json:"compile"`
	Hot     Times        `json:"hot_seconds"`
	Bytes   int64        `json:"bytes"`
	// Floor is the time to read the bytes once. Share is its share of the hot
	// median.
	Floor      float64     `json:"floor_seconds"`
	Share      float64     `json:"share_of_floor"`
	PeakHost   int64       `json:"peak_bytes"`
	PeakDevice int64       `json:"peak_device_bytes,omitempty"`
	Launches   int64       `json:"launches,omitempty"`
	Waits      int64       `json:"waits,omitempty"`
	Kernels    []Kernel    `json:"kernels,omitempty"`
	Peers      []PeerTimes `json:"peers,omitempty"`
	Failure    string      `json:"failure,omitempty"`
}

// Compilations are the times from the text of a query to code that is ready to
// run: with nothing compiled before, and with the cache on disk of an earlier
// process.
type Compilations struct {
	Cold   Compilation `json:"cold"`
	Cached Compilation `json:"cached"`
}

// Compilation holds the times of the phases of one compilation.
type Compilation struct {
	FrontEnd float64 `json:"front_end_seconds"`
	Plan     float64 `json:"plan_seconds"`
	Code     float64 `json:"code_seconds"` // all of it
	// Driver is the part of Code in which a GPU's driver compiles PTX and loads
	// the machine code.
	Driver float64 `json:"driver_seconds,omitempty"`
}

// Total returns the whole time.
func (c Compilation) Total() float64 { return c.FrontEnd + c.Plan + c.Code }

// String returns the time as tables show it, with the time of a GPU's driver
// apart. It is empty if there was no compilation.
func (c Compilation) String() string {
	switch own := c.Total() - c.Driver; {
	case c.Total() == 0:
		return ""
	case c.Driver > 0:
		return FormatTime(own) + " + " + FormatTime(c.Driver)
	default:
		return FormatTime(own)
	}
}

// Kernel holds the work of a kernel in a run in which kernels were timed. Hot
// runs do not time kernels.
type Kernel struct {
	Name string `json:"kernel"`
	// Rules are the rules that it serves, as file:line.
	Rules   []string `json:"rules,omitempty"`
	Calls   int64    `json:"calls"`
	Rows    int64    `json:"rows"`
	Kept    int64    `json:"kept"`
	Bytes   int64    `json:"bytes"`
	Seconds float64  `json:"seconds"`
}

// PeerTimes are the times of a peer for a query.
type PeerTimes struct {
	Peer string `json:"peer"`
	Times
	// Faster is the ratio of the peer's time to ours.
	Faster float64 `json:"times_as_fast,omitempty"`
}

// Summarise returns times with their median. processor is the processor time of
// all runs together, 0 if it is not known.
func Summarise(times []time.Duration, processor time.Duration) Times {
	var t Times
	for _, d := range times {
		t.Runs = append(t.Runs, d.Seconds())
	}
	if len(t.Runs) == 0 {
		return t
	}
	t.Processor = processor.Seconds() / float64(len(t.Runs))
	t.Least, t.Median, t.Most = slices.Min(t.Runs), Median(t.Runs), slices.Max(t.Runs)
	return t
}

// Median returns the middle of a list, or the mean of the two in the middle.
// The list must not be empty.
func Median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// GeometricMean returns the geometric mean of positive numbers, 0 if there are
// none.
func GeometricMean(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range list {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(list)))
}

// Finish computes floors, shares, ratios and sums from the measurements.
func (r *Report) Finish() {
	var hot []float64
	failed := false
	theirs, ratios, processor := map[string][]float64{}, map[string][]float64{},
		map[string][]float64{}
	for _, m := range r.Queries {
		if m.Failure != "" {
			failed = true
			continue
		}
		if r.Bandwidth > 0 {
			m.Floor = float64(m.Bytes) / r.Bandwidth
			m.Share = m.Floor / m.Hot.Median
		}
		hot = append(hot, m.Hot.Median)
		for i := range m.Peers {
			p := &m.Peers[i]
			if p.Median <= 0 {
				continue
			}
			p.Faster = p.Median / m.Hot.Median
			theirs[p.Peer] = append(theirs[p.Peer], p.Median)
			ratios[p.Peer] = append(ratios[p.Peer], p.Faster)
			if p.Processor > 0 && m.Hot.Processor > 0 {
				processor[p.Peer] = append(processor[p.Peer], p.Processor/m.Hot.Processor)
			}
		}
	}
	if !failed {
		r.Sum, r.Mean = sum(hot), GeometricMean(hot)
	}
	for i := range r.Peers {
		p := &r.Peers[i]
		if len(theirs[p.Name]) > 0 {
			p.Sum, p.Mean, p.Faster = sum(theirs[p.Name]), GeometricMean(theirs[p.Name]),
				GeometricMean(ratios[p.Name])
			p.Frugal = GeometricMean(processor[p.Name])
		}
	}
}

func sum(list []float64) float64 {
	s := 0.0
	for _, x := range list {
		s += x
	}
	return s
}

// WriteJSON writes the report.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
