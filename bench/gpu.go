package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/internal/atomicfile"
	"github.com/redfoxdb/redfox/internal/driver"
)

// job is one row of the suite gpu: a program over facts on the device.
type job struct {
	name    string
	program []driver.Source
	output  string // the predicate that is computed; it stays on the device
	rows    int64  // the rows that the rate counts
	unit    string // the unit of the rows
	bytes   int64  // bytes of columns read and tuples written; 0 means the kernels' sum
	ceiling ceiling
	bar     float64 // seconds; 0 if there is none
	peer    string  // the figure of another system, with its origin
	check   func(*driver.Result) error
	// verify, if set, is a program that runs once over the same facts. Its
	// value of `_` must be verified.
	verify   []driver.Source
	verified int64
	// prepare, if set, computes what check and verify expect. It is called if
	// -only selects the job.
	prepare func(*job)
}

// ceiling is the shortest time that the measured rates of the card allow. The
// zero value means the time to read the bytes of the job.
type ceiling struct {
	seconds float64
	of      string // the name of the rate
}

// outcome is a measured job. Times are wall-clock seconds.
type outcome struct {
	Work  string `json:"work"`
	Rows  int64  `json:"rows"`
	Unit  string `json:"unit"`
	Bytes int64  `json:"bytes"`
	measure.Times
	Rate      float64  `json:"rows_per_second"`
	Bandwidth float64  `json:"bytes_per_second"`
	Ceiling   float64  `json:"ceiling_seconds,omitempty"`
	CeilingOf string   `json:"ceiling,omitempty"`
	Share     float64  `json:"share_of_ceiling,omitempty"`
	Bar       float64  `json:"bar_seconds,omitempty"`
	Met       bool     `json:"met,omitempty"`
	Peer      string   `json:"peer,omitempty"`
	Profile   *profile `json:"profile,omitempty"`
	Failure   string   `json:"failure,omitempty"`
}

// profile is one further run, in which kernels are timed.
type profile struct {
	Seconds  float64          `json:"seconds"`
	Prepare  float64          `json:"prepare_seconds"` // planning, code, copies of facts
	First    float64          `json:"first_seconds"`   // the first run after that
	Launches int64            `json:"launches"`
	Waits    int64            `json:"waits"`
	ToDevice int64            `json:"bytes_to_device"`
	Fetched  int64            `json:"bytes_from_device"`
	Peak     int64            `json:"peak_bytes"`
	Kernels  []measure.Kernel `json:"kernels"`
}

// machine is the content of the file of -json.
type machine struct {
	Date    string  `json:"date"`
	Engine  string  `json:"engine"`
	Scale   float64 `json:"scale"`
	Threads int     `json:"threads"`
	// name, driver, clocks, power, as nvidia-smi prints them
	Device string     `json:"device,omitempty"`
	Before string     `json:"clocks_before,omitempty"`
	After  string     `json:"clocks_after,omitempty"`
	Rows   []*outcome `json:"rows"`
}

// gpuSuite is one run of the suite.
type gpuSuite struct {
	config
	engine  string
	session *driver.Session
	machine machine
	failed  int
}

// benchGPU measures compiled programs over facts on the device, whose results
// stay on the device. Times are the wall-clock times of calls of Run.
func benchGPU(ctx context.Context, c config) (err error) {
	s := &gpuSuite{config: c, engine: cmp.Or(c.engines, driver.EngineGPU)}
	s.machine = machine{Date: time.Now().UTC().Format(time.RFC3339), Engine: s.engine,
		Scale: c.scale, Threads: c.threads, Before: nvidia(clocks), Device: nvidia(
			"name,driver_version,memory.total,clocks.max.sm,clocks.max.memory,power.limit")}
	// Measure other processes before this one opens the device.
	s.parts(ctx, s.cold, s.kernels)
	s.session, err = driver.OpenSession(driver.SessionOptions{Engine: s.engine,
		Threads: c.threads})
	if err != nil {
		return err
	}
	s.parts(ctx, s.closures, s.tpchQueries, s.samples, s.large, s.sorting)
	s.machine.After = nvidia(clocks)
	s.print()
	err = s.session.Close()
	if s.failed > 0 {
		err = errors.Join(err, fmt.Errorf("%d rows failed", s.failed))
	}
	return errors.Join(err, s.write())
}

// parts runs parts of the suite. A part that fails does not stop the others.
func (s *gpuSuite) parts(ctx context.Context, parts ...func(context.Context) error) {
	for _, part := range parts {
		if err := part(ctx); err != nil {
			s.fail("", err)
		}
	}
}

// recordGPU writes a row to the file of -figures, if the engine is gpu.
func (s *gpuSuite) recordGPU(work string, seconds float64, peer string, theirs float64,
	source string) error {
	if s.engine != driver.EngineGPU {
		return nil
	}
	return s.record(work, map[string]float64{driver.EngineGPU: seconds, peer: theirs},
		map[string]string{peer: source})
}

// clocks lists the fields of nvidia-smi for the state of the card.
const clocks = "clocks.sm,clocks.mem,temperature.gpu,power.draw"

// nvidia returns fields of nvidia-smi, or "" if that is not installed.
func nvidia(what string) string {
	out, err := exec.Command("nvidia-smi", "--query-gpu="+what, "--format=csv,noheader").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// fail records a row that could not be measured.
func (s *gpuSuite) fail(name string, err error) {
	s.failed++
	fmt.Fprintf(os.Stderr, "bench gpu: %s: %v\n", name, err)
	if name != "" {
		s.machine.Rows = append(s.machine.Rows, &outcome{Work: name, Failure: err.Error()})
	}
}

// measure measures the jobs that -only selects over the same facts, and then
// removes the facts from the device. It returns the outcomes of the jobs that
// succeed.
func (s *gpuSuite) measure(ctx context.Context, db *driver.Database,
	jobs ...*job) (done []*outcome) {
	for _, j := range jobs {
		if !s.wants(j.name, true) {
			continue
		}
		if j.prepare != nil {
			j.prepare(j)
		}
		out, err := s.one(ctx, db, j)
		if err != nil {
			s.fail(j.name, err)
			continue
		}
		s.add(out)
		done = append(done, out)
	}
	s.session.Forget(db)
	return done
}

// add appends a row and prints it at once, so that an interrupted run has
// printed its rows.
func (s *gpuSuite) add(out *outcome) {
	s.machine.Rows = append(s.machine.Rows, out)
	fmt.Printf("%-24s %9.4g ms (%.4g to %.4g)", out.Work, out.Median*1e3, out.Least*1e3, out.Most*1e3)
	if p := out.Profile; p != nil {
		fmt.Printf(", prepared in %.3g s, first %.4g ms, profiled %.4g ms: %d launches, %d waits, %d bytes back, peak %.3g GB",
			p.Prepare, p.First*1e3, p.Seconds*1e3, p.Launches, p.Waits, p.Fetched,
			float64(p.Peak)/1e9)
		for _, k := range p.Kernels {
			if k.Calls > 0 {
				fmt.Printf("\n    %-16s %6d calls %12d rows %12d kept %9.3g GB %9.4g ms",
					k.Name, k.Calls, k.Rows, k.Kept, float64(k.Bytes)/1e9, k.Seconds*1e3)
			}
		}
	}
	fmt.Println()
	if err := s.write(); err != nil {
		fmt.Fprintf(os.Stderr, "bench gpu: %v\n", err)
	}
}

// longRun is the time above which a run is repeated only three times.
const longRun = time.Second

// one measures a job.
func (s *gpuSuite) one(ctx context.Context, db *driver.Database, j *job) (*outcome, error) {
	prog, err := driver.Compile(ctx, j.program, driver.Options{})
	if err != nil {
		return nil, err
	}
	opts := driver.RunOptions{Outputs: []string{j.output}, Resident: true}
	start := time.Now()
	prepared, err := s.session.Prepare(ctx, prog, db, opts)
	if err != nil {
		return nil, err
	}
	p := &profile{Prepare: time.Since(start).Seconds()}
	var stats driver.Stats
	run := func(opts driver.RunOptions) (time.Duration, error) {
		start := time.Now()
		res, err := prepared.Run(ctx, opts)
		took := time.Since(start)
		if err != nil {
			return 0, err
		}
		stats = res.Stats
		defer res.Release()
		return took, j.check(res)
	}
	first, err := run(opts)
	if err != nil {
		return nil, err
	}
	profiled := opts
	profiled.Profile = true
	took, err := run(profiled)
	if err != nil {
		return nil, err
	}
	p.First, p.Seconds, p.Kernels = first.Seconds(), took.Seconds(), measure.Kernels(stats)
	if d := stats.Device; d != nil {
		p.Launches, p.Waits, p.ToDevice, p.Fetched, p.Peak = d.Launches, d.Waits,
			d.ToDevice.Bytes, d.FromDevice.Bytes, d.Peak
	}
	n := s.repeat
	if took > longRun {
		n = min(n, 3)
	}
	var times []time.Duration
	for range n {
		took, err := run(opts)
		if err != nil {
			return nil, err
		}
		times = append(times, took)
	}
	if j.verify != nil {
		if err := s.verify(ctx, db, j); err != nil {
			return nil, err
		}
	}
	out := s.outcome(j, measure.Summarise(times, 0), p.Kernels)
	out.Profile = p
	return out, nil
}

// verify runs the program that verifies an answer.
func (s *gpuSuite) verify(ctx context.Context, db *driver.Database, j *job) error {
	prog, err := driver.Compile(ctx, j.verify, driver.Options{})
	if err != nil {
		return err
	}
	res, err := s.session.Run(ctx, prog, db, driver.RunOptions{Outputs: []string{"_"}})
	if err != nil {
		return err
	}
	return wantValue("_", j.verified)(res)
}

// outcome returns the row of a job with these times. The bar applies only to a
// whole run on a GPU.
func (s *gpuSuite) outcome(j *job, times measure.Times, kernels []measure.Kernel) *outcome {
	o := &outcome{Work: j.name, Rows: j.rows, Unit: j.unit, Bytes: j.bytes, Times: times,
		Peer: j.peer}
	if o.Bytes == 0 {
		for _, k := range kernels {
			o.Bytes += k.Bytes
		}
	}
	limit := j.ceiling
	if limit == (ceiling{}) && o.Bytes > 0 {
		limit = readAll(o.Bytes)
	}
	o.Rate, o.Bandwidth = float64(o.Rows)/o.Median, float64(o.Bytes)/o.Median
	o.Ceiling, o.CeilingOf, o.Share = limit.seconds, limit.of, limit.seconds/o.Median
	if s.scale == 1 && s.engine == driver.EngineGPU {
		o.Bar, o.Met = j.bar, j.bar > 0 && o.Median <= j.bar
	}
	return o
}

// wantValue checks the one value of a nullary functional predicate.
func wantValue(pred string, want int64) func(*driver.Result) error {
	return func(res *driver.Result) error {
		got, err := scalarInt(res, pred)
		if err := errors.Join(err, res.Err()); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%s is %d, not %d", pred, got, want)
		}
		return nil
	}
}

// wantRows checks the number of a predicate's tuples, which stay on the device.
func wantRows(pred string, want int64) func(*driver.Result) error {
	return func(res *driver.Result) error {
		if got := res.Len(pred); got != want {
			return fmt.Errorf("%d tuples of %s, not %d", got, pred, want)
		}
		return nil
	}
}

// print prints the table.
func (s *gpuSuite) print() {
	var rows []table.Row
	for _, o := range s.machine.Rows {
		if o.Failure != "" {
			rows = append(rows, table.Row{o.Work, "failed: " + o.Failure})
			continue
		}
		row := table.Row{o.Work, blank(o.Rows > 0, "%.6g", float64(o.Rows)/1e6),
			blank(o.Bytes > 0, "%.4g", float64(o.Bytes)/1e9),
			milli(o.Median), milli(o.Least) + " to " + milli(o.Most),
			blank(o.Rows > 0, "%.3g G %s/s", o.Rate/1e9, o.Unit),
			blank(o.Bytes > 0, "%.3g", o.Bandwidth/1e12)}
		row = append(row, blank(o.Ceiling > 0, "%s, %s", milli(o.Ceiling), o.CeilingOf),
			blank(o.Ceiling > 0, "%.0f %%", 100*o.Share))
		verdict := map[bool]string{true: "met", false: "missed"}[o.Met]
		rows = append(rows, append(row, blank(o.Bar > 0, "%s %s", milli(o.Bar), verdict), o.Peer))
	}
	title := fmt.Sprintf("engine %s, hot and resident, medians of %d, answers checked, scale %g",
		s.engine, s.repeat, s.scale)
	if s.machine.Device != "" {
		title += "\n" + s.machine.Device + "; at the end " + s.machine.After
	}
	report(title,
		table.Row{"work", "M rows", "GB", "ms", "spread", "rate", "TB/s", "ceiling", "share", "bar",
			"others"}, rows)
}

// blank formats values, or returns "" unless they are known (there).
func blank(there bool, format string, values ...any) string {
	if !there {
		return ""
	}
	return fmt.Sprintf(format, values...)
}

// milli formats seconds as milliseconds with four significant digits.
func milli(s float64) string { return fmt.Sprintf("%.4g", s*1e3) }

// write writes the rows so far as JSON.
func (s *gpuSuite) write() error {
	if s.json == "" {
		return nil
	}
	text, err := json.MarshalIndent(s.machine, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(s.json, append(text, '\n'))
}
