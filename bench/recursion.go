package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/internal/atomicfile"
	"github.com/redfoxdb/redfox/internal/driver"
)

// The bars of all rows: the first run of a process with cached code beside a
// hot one, the bytes of a tuple of two 32-bit values on the card, and how many
// times as fast as GPULog closures are.
const (
	firstTimes = 1.3
	tupleBytes = 24
	gpulogMean = 50
	// leastStored is the number of tuples from which the bar on their bytes
	// applies. With fewer, the buffers of a run dominate.
	leastStored = 10_000_000
)

// recursionRow is a measured work of the suite recursion. Times are in seconds.
type recursionRow struct {
	Work   string  `json:"work"`
	Answer string  `json:"answer"`
	Tuples int64   `json:"tuples"` // the sum of the numbers in the answer
	Rounds int64   `json:"rounds,omitempty"`
	Go     float64 `json:"go_seconds,omitempty"` // the go engine
	// Load and Prepare are of the process of the hot runs, which reads the
	// facts, plans, loads code from the cache, and copies the facts.
	Load    float64 `json:"load_seconds"`
	Prepare float64 `json:"prepare_seconds"`
	// Process is the whole time of a process of redfox run, with cached code
	// and without a record of an earlier run.
	Process float64       `json:"process_seconds,omitempty"`
	First   runCost       `json:"first"`  // the prepared run of such a process
	Second  runCost       `json:"second"` // the prepared run of the process after it
	Hot     measure.Times `json:"hot"`
	Last    runCost       `json:"last"` // the last hot run
	// Step is the time of a round, and Waiting the share of a hot run in which
	// no kernel runs.
	Step    float64 `json:"round_seconds,omitempty"`
	Waiting float64 `json:"waiting,omitempty"`
	Rate    float64 `json:"edges_per_second,omitempty"` // for generated graphs
	// Bytes and the field after it are bytes of memory for each tuple, of the
	// first run and of a hot one.
	Bytes    float64        `json:"bytes_per_tuple,omitempty"`
	HotBytes float64        `json:"hot_bytes_per_tuple,omitempty"`
	Other    float64        `json:"other_seconds,omitempty"`
	Source   string         `json:"other,omitempty"`
	Bars     []recursionBar `json:"bars,omitempty"`
	Failure  string         `json:"failure,omitempty"`

	work *recursionWork
}

// recursionBar is a bound that applies to runs on a GPU.
type recursionBar struct {
	What  string  `json:"what"`
	Value float64 `json:"value"`
	Bound float64 `json:"bound"`
	Met   bool    `json:"met"`
}

// recursionSuite is one run of the suite.
type recursionSuite struct {
	config
	engine string
	dir    string // the folder of facts and of the code cache
	begun  time.Time
	rows   []*recursionRow
	failed int
}

// benchRecursion measures recursive programs on a GPU, or on the engine of
// -engines, in several processes. One or two processes compile the code (with
// -redfox, those of that command). The next one runs with the code but without
// a record, and then runs hot. The last one has the record of that run.
func benchRecursion(ctx context.Context, c config) error {
	s := &recursionSuite{config: c, engine: cmp.Or(c.engines, driver.EngineGPU),
		begun: time.Now()}
	var err error
	if s.dir, err = os.MkdirTemp("", "redfox-bench"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	return s.run(ctx, recursionWorks())
}

// run measures the selected works whose graphs exist, until the time of -limit
// is over.
func (s *recursionSuite) run(ctx context.Context, works []*recursionWork) error {
	if err := s.checkNames(works); err != nil {
		return err
	}
	var left []string
	for _, w := range works {
		if !s.wantsWork(w) {
			continue
		}
		if _, err := os.Stat(s.graphFile(w.graph)); w.graph != "" && err != nil {
			fmt.Fprintf(os.Stderr, "%s is left out: %v\n", w.name, err)
			continue
		}
		if s.limit > 0 && time.Since(s.begun) > s.limit {
			left = append(left, w.name)
			continue
		}
		r := &recursionRow{Work: w.name, Other: w.other, Source: w.source, work: w}
		if err := s.measure(ctx, w, r); err != nil {
			r.Failure = err.Error()
			s.failed++
		}
		s.rows = append(s.rows, r)
		fmt.Println(r.line())
		if err := errors.Join(s.write(), s.recordRow(r)); err != nil {
			return err
		}
	}
	s.print()
	if len(left) > 0 {
		fmt.Printf("left out after %v of -limit: %s\n", s.limit, strings.Join(left, ","))
	}
	if s.failed > 0 {
		return fmt.Errorf("%d rows failed", s.failed)
	}
	return nil
}

// checkNames returns an error if -only names something that is no work and no
// group.
func (s *recursionSuite) checkNames(works []*recursionWork) error {
	var groups []string
	for _, w := range works {
		if !slices.Contains(groups, w.group()) {
			groups = append(groups, w.group())
		}
	}
	for name := range strings.SplitSeq(s.only, ",") {
		if name != "" && !slices.Contains(groups, name) &&
			!slices.ContainsFunc(works, func(w *recursionWork) bool { return w.name == name }) {
			return fmt.Errorf("no row is called %q; the groups are %s", name,
				strings.Join(groups, ", "))
		}
	}
	return nil
}

// wantsWork reports whether -only names a work or its group.
func (s *recursionSuite) wantsWork(w *recursionWork) bool {
	return s.wants(w.name, !w.onDemand) || s.wants(w.group(), false)
}

// group returns the part of a name before the slash.
func (w *recursionWork) group() string {
	group, _, _ := strings.Cut(w.name, "/")
	return group
}

// measure measures a work and fills its row.
func (s *recursionSuite) measure(ctx context.Context, w *recursionWork, r *recursionRow) error {
	dir := filepath.Join(s.dir, "facts")
	defer os.RemoveAll(dir)
	if w.make != nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := w.make(w, dir, s.seed); err != nil {
			return err
		}
	}
	m := &recursionRun{recursionSuite: s, name: w.name, want: w.answer}
	if w.graph == "" && w.rounds == 0 && s.seed != 1 {
		m.want = ""
	}
	o := w.order(s.config, s.engine, dir)
	if s.besideGo || w.beside > 0 && !w.onDemand && s.engine != driver.EngineGo {
		plain := o
		plain.Engine = driver.EngineGo
		if !w.alone {
			plain.Hot = 1
		}
		e, err := m.process(ctx, plain)
		if err != nil {
			return err
		}
		r.Go = append([]runCost{e.First}, e.Hot...)[plain.Hot].Seconds
	}
	again, second := o, &ended{}
	again.Hot, again.Profile = s.repeat, true
	if !w.alone {
		if err := m.makeCode(ctx, o, r); err != nil {
			return err
		}
	}
	hot, err := m.process(ctx, again)
	if err != nil {
		return err
	}
	if !w.alone {
		if second, err = m.process(ctx, o); err != nil {
			return err
		}
	}
	r.fill(hot, second)
	if s.engine == driver.EngineGPU {
		r.judge(s.rows)
	}
	return nil
}

// recursionRun is a work that is being measured.
type recursionRun struct {
	*recursionSuite
	name string
	want string // the expected answer; "" means the first one
}

// accept compares an answer with the expected or the first one.
func (m *recursionRun) accept(system, answer string) error {
	if m.want == "" {
		m.want = answer
	}
	if answer != m.want {
		return fmt.Errorf("%s answers %q, not %q", system, answer, m.want)
	}
	return nil
}

// process executes an order in a process of its own.
func (m *recursionRun) process(ctx context.Context, o order) (*ended, error) {
	m.tell("%s on %s", m.name, o.Engine)
	e, err := o.process(ctx, m.cache())
	if err == nil {
		err = m.accept("engine "+o.Engine, e.Answer)
	}
	return e, err
}

// makeCode fills the cache with code but leaves no record of a run. If -redfox
// names the command and the facts are in files, that command compiles the code
// and then runs once more with it.
func (m *recursionRun) makeCode(ctx context.Context, o order, r *recursionRow) error {
	if m.redfox == "" || o.Graph != nil {
		if _, err := m.process(ctx, o); err != nil {
			return err
		}
		return m.forget()
	}
	ctx, stop := context.WithTimeout(ctx, processLimit)
	defer stop()
	for range 2 {
		m.tell("%s by %s", m.name, m.redfox)
		cmd := exec.CommandContext(ctx, m.redfox, o.arguments()...)
		cmd.Env = append(os.Environ(), "REDFOX_CACHE="+m.cache())
		text, took, _, err := timedProcess(cmd)
		if err = errors.Join(err, m.forget()); err != nil {
			return err
		}
		if err := m.accept(m.redfox, text); err != nil {
			return err
		}
		r.Process = took.Seconds()
	}
	return nil
}

// cache returns the folder of code and records.
func (s *recursionSuite) cache() string { return filepath.Join(s.dir, "cache") }

// forget removes the records of earlier runs from the cache.
func (s *recursionSuite) forget() error {
	records, err := filepath.Glob(filepath.Join(s.cache(), "*.record"))
	for _, file := range records {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// tell prints progress to standard error.
func (s *recursionSuite) tell(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%6.1f s  %s\n", time.Since(s.begun).Seconds(),
		fmt.Sprintf(format, args...))
}

// sumOf adds up the numbers of an answer.
func sumOf(answer string) (n int64) {
	for _, field := range strings.Fields(answer) {
		number, _ := strconv.ParseInt(field, 10, 64) // _ has only numbers
		n += number
	}
	return n
}

// fill copies the reports of two processes: the one of the hot runs and the one
// after it.
func (r *recursionRow) fill(hot, second *ended) {
	r.Answer, r.Tuples = strings.TrimSpace(hot.Answer), sumOf(hot.Answer)
	r.Load, r.Prepare = hot.Load, hot.Prepare
	var times []time.Duration
	for _, h := range hot.Hot {
		times = append(times, fromSeconds(h.Seconds))
	}
	r.Hot, r.Last = measure.Summarise(times, 0), hot.Hot[len(hot.Hot)-1]
	r.First, r.Second = hot.First, second.First
	r.Rounds = hot.Rounds
	if r.work.rounds > 0 {
		r.Rounds = r.work.rounds
	}
	if r.Rounds > 0 {
		r.Step = r.Hot.Median / float64(r.Rounds)
	}
	if hot.Device > 0 {
		r.Waiting = max(0, 1-hot.Device/r.Hot.Median)
	}
	if g := r.work.made; g != nil {
		r.Rate = float64(g.Edges) / r.Hot.Median
	}
	if r.work.stored && r.Tuples >= leastStored {
		r.Bytes = float64(r.First.Peak) / float64(r.Tuples)
		r.HotBytes = float64(r.Last.Peak) / float64(r.Tuples)
	}
}

// judge compares a row with its bars. Earlier rows may be bars.
func (r *recursionRow) judge(before []*recursionRow) {
	bar := func(what string, value, bound float64) {
		if value > 0 && bound > 0 {
			r.Bars = append(r.Bars, recursionBar{what, value, bound, value <= bound})
		}
	}
	bar("hot", r.Hot.Median, r.work.bar)
	bar("first/hot", r.First.Seconds/r.Hot.Median, firstTimes)
	bar("round", r.Step, r.work.perStep)
	bar("bytes", r.Bytes, tupleBytes)
	if r.Go > 0 && r.work.beside > 0 {
		bar("hot/go", r.Hot.Median/r.Go, 1/r.work.beside)
	}
	for _, other := range before {
		if other.Work == r.work.than && other.Failure == "" {
			bar("beside "+other.Work, r.Hot.Median/other.Hot.Median, r.work.times)
		}
	}
}

// verdict formats the results of the bars.
func (r *recursionRow) verdict() string {
	var parts []string
	for _, b := range r.Bars {
		text := fmt.Sprintf("%s %.3g <= %.3g", b.What, b.Value, b.Bound)
		switch b.What {
		case "hot":
			text = fmt.Sprintf("hot <= %s", measure.FormatTime(b.Bound))
		case "round":
			text = fmt.Sprintf("round <= %.3g us", b.Bound*1e6)
		}
		parts = append(parts, text+" "+verdictOf(b.Met))
	}
	return strings.Join(parts, "; ")
}

// verdictOf returns a word for a bar that is met or not.
func verdictOf(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}

// line formats a row for printing during the run.
func (r *recursionRow) line() string {
	if r.Failure != "" {
		return fmt.Sprintf("%-22s failed: %s", r.Work, r.Failure)
	}
	text := fmt.Sprintf("%-22s %s: hot %s (%s to %s), first %s", r.Work,
		strings.ReplaceAll(r.Answer, "\t", " "), measure.FormatTime(r.Hot.Median),
		measure.FormatTime(r.Hot.Least), measure.FormatTime(r.Hot.Most),
		measure.FormatTime(r.First.Seconds))
	for _, part := range []struct {
		name    string
		seconds float64
	}{{"second", r.Second.Seconds}, {"load", r.Load}, {"prepare", r.Prepare}, {"go", r.Go}} {
		text += blank(part.seconds > 0, ", %s %s", part.name, measure.FormatTime(part.seconds))
	}
	for _, run := range []struct {
		name string
		runCost
	}{{"first", r.First}, {"hot", r.Last}} {
		if run.Launches > 0 {
			text += fmt.Sprintf("; %s: %d launches, %d waits, %d enlarged, %d rounds on the device",
				run.name, run.Launches, run.Waits, run.Enlarged, run.Rounds)
		}
	}
	if r.First.Earlier || r.First.Guessed {
		text += "; the first run has a record"
	}
	if r.First.Compile > 0 {
		text += "; the first run makes code, in " + measure.FormatTime(r.First.Compile)
	}
	if v := r.verdict(); v != "" {
		text += "; " + v
	}
	return text
}

// print prints the table, the mean of all closures, and the exponent of sizes.
func (s *recursionSuite) print() {
	var rows []table.Row
	var means []float64
	for _, r := range s.rows {
		if r.Failure != "" {
			rows = append(rows, table.Row{r.Work, "failed"})
			continue
		}
		rows = append(rows, table.Row{r.Work, r.Tuples, blank(r.Rounds > 0, "%d", r.Rounds),
			blank(r.Go > 0, "%s", measure.FormatTime(r.Go)),
			blank(r.Process > 0, "%s", measure.FormatTime(r.Process)),
			measure.FormatTime(r.First.Seconds),
			blank(r.Second.Seconds > 0, "%s", measure.FormatTime(r.Second.Seconds)),
			measure.FormatTime(r.Hot.Median), blank(r.Step > 0, "%.3g", r.Step*1e6),
			blank(r.Waiting > 0, "%.0f %%", 100*r.Waiting),
			blank(r.Bytes > 0, "%.3g / %.3g", r.Bytes, r.HotBytes),
			blank(r.Rate > 0, "%.3g M", r.Rate/1e6),
			blank(r.Other > 0, "%s, %s", measure.FormatTime(r.Other), r.Source),
			blank(r.Other > 0, "%.2f", r.Other/r.Hot.Median), r.verdict()})
		if r.work.gpulog > 0 {
			means = append(means, r.work.gpulog/r.Hot.Median)
		}
	}
	title := fmt.Sprintf("recursion, engine %s, %d threads, medians of up to %d hot runs", s.engine,
		s.threads, s.repeat)
	if device := nvidia("name,driver_version"); device != "" {
		title += "\n" + device
	}
	report(title, table.Row{"program", "tuples", "rounds", "go", "process", "first", "second", "hot",
		"us/round", "waiting", "B/tuple", "edges/s", "others", "others/hot", "bars"}, rows)
	if mean := measure.GeometricMean(means); len(means) > 0 {
		fmt.Printf("GPULog/hot, geometric mean of %d closures: %.1f, bar %d %s\n", len(means), mean,
			gpulogMean, verdictOf(mean >= gpulogMean))
	}
	if small, large := s.ofScale(); small != large {
		power := exponent(small, large)
		fmt.Printf("%s to %s: the time is the size to the power of %.2f, bar %.1f %s\n", small.Work,
			large.Work, power, sizeExponent, verdictOf(power <= sizeExponent))
	}
}

// ofScale returns the smallest and the largest measured work of the group
// scaleGroup.
func (s *recursionSuite) ofScale() (small, large *recursionRow) {
	for _, r := range s.rows {
		if r.work.group() == scaleGroup && r.Failure == "" {
			if small == nil {
				small = r
			}
			large = r
		}
	}
	return small, large
}

// exponent returns the exponent k for which the time of a hot run grows as
// size^k. The size is the first number of the answer.
func exponent(small, large *recursionRow) float64 {
	size := func(r *recursionRow) float64 {
		first, _, _ := strings.Cut(r.Answer, "\t")
		return float64(sumOf(first))
	}
	return math.Log(large.Hot.Median/small.Hot.Median) / math.Log(size(large)/size(small))
}

// write writes the rows so far as JSON.
func (s *recursionSuite) write() error {
	if s.json == "" {
		return nil
	}
	text, err := json.MarshalIndent(struct {
		Date, Engine, Device string
		Threads              int
		Rows                 []*recursionRow
	}{time.Now().UTC().Format(time.RFC3339), s.engine, nvidia("name,driver_version"), s.threads,
		s.rows}, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(s.json, append(text, '\n'))
}

// recordRow puts a row into the file of -figures.
func (s *recursionSuite) recordRow(r *recursionRow) error {
	if r.Failure != "" {
		return nil
	}
	times := map[string]float64{s.engine: r.Hot.Median, "first run": r.First.Seconds,
		gpulog: r.work.gpulog}
	if r.Go > 0 {
		times[driver.EngineGo] = r.Go
	}
	sources := map[string]string{gpulog: "on such a card"}
	if r.Other > 0 {
		name, detail, _ := strings.Cut(r.Source, ", ")
		times[name], sources[name] = r.Other, detail
	}
	return s.record(r.Work, times, sources)
}
