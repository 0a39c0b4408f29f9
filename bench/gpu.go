package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox"
	"github.com/redfoxdb/redfox/internal/atomicfile"
)

// job is one row of the suite gpu: a program over facts that lie on the device.
type job struct {
	name    string
	program []redfox.Source
	output  string // the predicate that is computed, and stays on the device
	rows    int64  // what the rate counts, and its unit
	unit    string
	// bytes are those of the columns that are read and of the tuples that are
	// written; 0 takes what the kernels count.
	bytes int64
	// ceiling is the least time that the card's measured rates allow, and which
	// they are; 0 takes the reading of the bytes.
	ceiling   time.Duration
	ceilingOf string
	bar       time.Duration // at most so long; 0 if there is none
	peer      string        // another system's figure for the work, and where it is of
	check     func(*redfox.Result) error
	// verify, if set, is run once over the same facts; its value of `_` must be
	// this.
	verify   []redfox.Source
	verified int64
}

// outcome is what a job came to, as JSON has it.
type outcome struct {
	Work      string    `json:"work"`
	Rows      int64     `json:"rows"`
	Unit      string    `json:"unit"`
	Bytes     int64     `json:"bytes"`
	Seconds   []float64 `json:"seconds"` // of each run, wall clock
	Median    float64   `json:"median"`
	Low       float64   `json:"least"`
	High      float64   `json:"most"`
	Rate      float64   `json:"rows_per_second"`
	Bandwidth float64   `json:"bytes_per_second"`
	Ceiling   float64   `json:"ceiling_seconds,omitempty"`
	CeilingOf string    `json:"ceiling,omitempty"`
	Share     float64   `json:"share_of_ceiling,omitempty"`
	Bar       float64   `json:"bar_seconds,omitempty"`
	Met       bool      `json:"met,omitempty"`
	Peer      string    `json:"peer,omitempty"`
	Profile   *profile  `json:"profile,omitempty"`
	Failure   string    `json:"failure,omitempty"`
}

// profile is what one more run, in which kernels are timed, says of where time
// goes.
type profile struct {
	Seconds  float64         `json:"seconds"`
	Prepare  float64         `json:"prepare_seconds"` // planning, code, copies of facts
	First    float64         `json:"first_seconds"`   // the first run after that
	Launches int64           `json:"launches"`
	Waits    int64           `json:"waits"`
	ToDevice int64           `json:"bytes_to_device"`
	Fetched  int64           `json:"bytes_from_device"`
	Peak     int64           `json:"peak_bytes"`
	Kernels  []kernelProfile `json:"kernels"`
}

type kernelProfile struct {
	Kernel  string  `json:"kernel"`
	Block   string  `json:"block"`
	Calls   int64   `json:"calls"`
	Rows    int64   `json:"rows"`
	Kept    int64   `json:"kept"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
}

// machine is where the suite ran.
type machine struct {
	Date    string  `json:"date"`
	Engine  string  `json:"engine"`
	Scale   float64 `json:"scale"`
	Threads int     `json:"threads"`
	// name, driver, clocks, power, as nvidia-smi has them
	Device string     `json:"device,omitempty"`
	Before string     `json:"clocks_before,omitempty"`
	After  string     `json:"clocks_after,omitempty"`
	Rows   []*outcome `json:"rows"`
}

// gpuSuite is one run of the suite.
type gpuSuite struct {
	config
	engine  string
	session *redfox.Session
	machine machine
	failed  int
}

// benchGPU measures what is hot and resident: facts on the device, code
// compiled, results left there; wall clock round a call of Run.
func benchGPU(ctx context.Context, c config) (err error) {
	s := &gpuSuite{config: c, engine: "gpu"}
	if c.engines != "" {
		s.engine = c.engines
	}
	s.machine = machine{Date: time.Now().UTC().Format(time.RFC3339), Engine: s.engine,
		Scale: c.scale, Threads: c.threads,
		Device: nvidia("name,driver_version,memory.total,clocks.max.sm,clocks.max.memory,power.limit"), Before: nvidia(clocks)}
	// Cold processes come before this one has the device open.
	if err := s.cold(ctx); err != nil {
		s.fail("", err)
	}
	if err := s.kernels(ctx); err != nil {
		s.fail("", err)
	}
	if s.session,
		err = redfox.OpenSession(redfox.SessionOptions{Engine: s.engine,
		Threads: c.threads}); err != nil {
		return err
	}
	parts := []func(context.Context) error{s.closures, s.tpchQueries, s.samples, s.large, s.sorting}
	for _, part := range parts {
		if err := part(ctx); err != nil {
			s.fail("", err)
		}
	}
	s.machine.After = nvidia(clocks)
	s.print()
	err = s.session.Close()
	if s.failed > 0 {
		err = errors.Join(err, fmt.Errorf("%d rows failed", s.failed))
	}
	return errors.Join(err, s.write())
}

// clocks are what nvidia-smi is asked about the card's state.
const clocks = "clocks.sm,clocks.mem,temperature.gpu,power.draw"

// nvidia asks nvidia-smi; it returns "" if there is none.
func nvidia(what string) string {
	out, err := exec.Command("nvidia-smi", "--query-gpu="+what, "--format=csv,noheader").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// fail records a row that could not be measured; the others go on.
func (s *gpuSuite) fail(name string, err error) {
	s.failed++
	fmt.Fprintf(os.Stderr, "bench gpu: %s: %v\n", name, err)
	if name != "" {
		s.machine.Rows = append(s.machine.Rows, &outcome{Work: name, Failure: err.Error()})
	}
}

// measure runs the jobs that are wanted over the same facts, and forgets these.
// It returns the outcomes of jobs that succeed.
func (s *gpuSuite) measure(ctx context.Context, db *redfox.Database,
	jobs ...*job) (done []*outcome) {
	for _, j := range jobs {
		if !s.wants(j.name, true) {
			continue
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

// add keeps a row and says what it is, so that a run that is cut short has said
// something.
func (s *gpuSuite) add(out *outcome) {
	s.machine.Rows = append(s.machine.Rows, out)
	fmt.Printf("%-24s %9.4g ms (%.4g to %.4g)", out.Work, out.Median*1e3, out.Low*1e3, out.High*1e3)
	if p := out.Profile; p != nil {
		fmt.Printf(", prepared in %.3g s, first %.4g ms, profiled %.4g ms: %d launches, %d waits, %d bytes back, peak %.3g GB\n",
			p.Prepare, p.First*1e3, p.Seconds*1e3, p.Launches, p.Waits, p.Fetched,
			float64(p.Peak)/1e9)
		for _, k := range p.Kernels {
			if k.Calls > 0 {
				fmt.Printf("    %-16s %-6s %6d calls %12d rows %12d kept %9.3g GB %9.4g ms\n",
					k.Kernel, k.Block, k.Calls, k.Rows, k.Kept, float64(k.Bytes)/1e9, k.Seconds*1e3)
			}
		}
	} else {
		fmt.Println()
	}
	if err := s.write(); err != nil {
		fmt.Fprintf(os.Stderr, "bench gpu: %v\n", err)
	}
}

// longRun is the time from which a run is repeated three times only.
const longRun = time.Second

// one measures a job.
func (s *gpuSuite) one(ctx context.Context, db *redfox.Database, j *job) (*outcome, error) {
	prog, err := redfox.Compile(ctx, j.program, redfox.Options{})
	if err != nil {
		return nil, err
	}
	opts := redfox.RunOptions{Outputs: []string{j.output}, Resident: true}
	start := time.Now()
	prepared, err := s.session.Prepare(ctx, prog, db, opts)
	if err != nil {
		return nil, err
	}
	p := &profile{Prepare: time.Since(start).Seconds()}
	run := func(opts redfox.RunOptions) (time.Duration, *redfox.Result, error) {
		start := time.Now()
		res, err := prepared.Run(ctx, opts)
		took := time.Since(start)
		if err == nil {
			err = j.check(res)
		}
		if err != nil {
			return 0, nil, err
		}
		res.Release()
		return took, res, nil
	}
	first, _, err := run(opts)
	if err != nil {
		return nil, err
	}
	p.First = first.Seconds()
	profiled := opts
	profiled.Profile = true
	took, res, err := run(profiled)
	if err != nil {
		return nil, err
	}
	p.Seconds = took.Seconds()
	out := &outcome{Work: j.name, Rows: j.rows, Unit: j.unit, Bytes: j.bytes, Profile: p,
		Peer: j.peer}
	p.take(res.Stats)
	if out.Bytes == 0 {
		for _, k := range p.Kernels {
			out.Bytes += k.Bytes
		}
	}
	repeat := s.repeat
	if took > longRun {
		repeat = min(repeat, 3)
	}
	for range repeat {
		took, _, err := run(opts)
		if err != nil {
			return nil, err
		}
		out.Seconds = append(out.Seconds, took.Seconds())
	}
	if j.verify != nil {
		if err := s.verify(ctx, db, j); err != nil {
			return nil, err
		}
	}
	if j.ceiling == 0 {
		j.ceiling, j.ceilingOf = atRate(float64(out.Bytes), readRate), readText
	}
	out.summarise(j.ceiling, j.ceilingOf, s.barOf(j))
	return out, nil
}

// barOf returns what a row is held against: bars are for a whole run on a GPU.
func (s *gpuSuite) barOf(j *job) time.Duration {
	if s.scale != 1 || s.engine != "gpu" {
		return 0
	}
	return j.bar
}

// verify runs the program that proves an answer.
func (s *gpuSuite) verify(ctx context.Context, db *redfox.Database, j *job) error {
	prog, err := redfox.Compile(ctx, j.verify, redfox.Options{})
	if err != nil {
		return err
	}
	res, err := s.session.Run(ctx, prog, db, redfox.RunOptions{Outputs: []string{"_"}})
	if err != nil {
		return err
	}
	return wantValue("_", j.verified)(res)
}

// take copies what a run says of its kernels.
func (p *profile) take(stats redfox.Stats) {
	if d := stats.Device; d != nil {
		p.Launches, p.Waits, p.ToDevice, p.Fetched, p.Peak = d.Launches, d.Waits, d.ToDevice.Bytes,
			d.FromDevice.Bytes, d.Peak
	}
	for _, k := range stats.Kernels {
		took := k.Device
		if took == 0 {
			took = k.Time
		}
		p.Kernels = append(p.Kernels,
			kernelProfile{k.Kernel, k.Block, k.Calls, k.Rows, k.Kept, k.Bytes, took.Seconds()})
	}
}

// summarise fills in what follows from the times.
func (o *outcome) summarise(ceiling time.Duration, ceilingOf string, bar time.Duration) {
	sorted := slices.Sorted(slices.Values(o.Seconds))
	o.Median, o.Low, o.High = (sorted[(len(sorted)-1)/2]+sorted[len(sorted)/2])/2, sorted[0],
		sorted[len(sorted)-1]
	o.Rate, o.Bandwidth = float64(o.Rows)/o.Median, float64(o.Bytes)/o.Median
	o.Ceiling, o.CeilingOf = ceiling.Seconds(), ceilingOf
	o.Share = o.Ceiling / o.Median
	o.Bar = bar.Seconds()
	o.Met = bar > 0 && o.Median <= o.Bar
}

// wantValue checks the one value of a nullary functional predicate.
func wantValue(pred string, want int64) func(*redfox.Result) error {
	return func(res *redfox.Result) error {
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
func wantRows(pred string, want int64) func(*redfox.Result) error {
	return func(res *redfox.Result) error {
		if got := res.Len(pred); got != want {
			return fmt.Errorf("%d tuples of %s, not %d", got, pred, want)
		}
		return nil
	}
}

// print shows the table.
func (s *gpuSuite) print() {
	var rows []table.Row
	for _, o := range s.machine.Rows {
		if o.Failure != "" {
			rows = append(rows, table.Row{o.Work, "failed: " + o.Failure})
			continue
		}
		row := table.Row{o.Work, blank(o.Rows > 0, "%.6g", float64(o.Rows)/1e6),
			blank(o.Bytes > 0, "%.4g", float64(o.Bytes)/1e9),
			milli(o.Median), milli(o.Low) + " to " + milli(o.High),
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

// blank formats what is there.
func blank(there bool, format string, values ...any) string {
	if !there {
		return ""
	}
	return fmt.Sprintf(format, values...)
}

// milli renders seconds as milliseconds, with four significant digits.
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
