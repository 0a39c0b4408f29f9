package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/graphgen"
)

// order is what a process of the command once does: it runs a program over
// facts, and again as often as is asked for.
type order struct {
	Program []string          // files
	Clauses string            // further ones
	Facts   string            // a folder, or ""
	Files   map[string]string // of facts, by predicate
	Graph   *graphgen.Graph   // that the process makes, as the facts of edge, or nil
	Engine  string
	Threads int
	Hot     int  // runs after the first one
	Profile bool // a further run, in which kernels are timed
}

// ended is what such a process reports. Times are in seconds.
type ended struct {
	Answer  string  // the tuples of _, as TSV
	Load    float64 // the facts
	Prepare float64 // planning, making and loading code, copying facts
	First   runCost
	Hot     []runCost
	// The profiled run tells the largest number of calls of a kernel of each
	// loop, added up, and the time in which the device was at work.
	Rounds int64
	Device float64
}

// runCost is what a run takes. Engines that have no device have no launches and
// waits.
type runCost struct {
	Seconds  float64
	Compile  float64 `json:",omitempty"`
	Peak     int64   // bytes, on the device if there is one
	Launches int64
	Waits    int64
	Enlarged int64
	Rounds   int64 // that the device ran by itself
	Earlier  bool  // the sizes are those of a run over the same facts
	Guessed  bool  // they follow those of a run over other facts
}

// processLimit bounds the time of a process that runs a program.
const processLimit = 3 * time.Minute

// hotLimit bounds the time of the runs after the first one. At least one of
// them is made.
const hotLimit = 3 * time.Second

// process carries out an order in a process of its own.
func (o order) process(ctx context.Context, cache string) (*ended, error) {
	ctx, stop := context.WithTimeout(ctx, processLimit)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, onceName)
	cmd.Env = append(os.Environ(), "REDFOX_CACHE="+cache)
	cmd.Stdin = bytes.NewReader(text)
	var failure strings.Builder
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("the process took longer than %v", processLimit)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(failure.String()))
	}
	e := &ended{}
	return e, json.Unmarshal(out, e)
}

// once carries out the order on standard input and reports on standard output.
func once(ctx context.Context, _ config) error {
	var o order
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		return err
	}
	e, err := o.carryOut(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(e)
}

// sources are the texts of the program.
func (o order) sources() ([]driver.Source, error) {
	sources, err := driver.ReadSources(o.Program...)
	if err == nil && o.Clauses != "" {
		sources = append(sources, driver.Text("clauses", o.Clauses))
	}
	return sources, err
}

// carryOut runs the program in this process.
func (o order) carryOut(ctx context.Context) (e *ended, err error) {
	sources, err := o.sources()
	if err != nil {
		return nil, err
	}
	prog, err := driver.Compile(ctx, sources, driver.Options{})
	if err != nil {
		return nil, err
	}
	s, err := driver.OpenSession(driver.SessionOptions{Engine: o.Engine, Threads: o.Threads})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	facts := driver.NewFacts()
	if o.Facts != "" {
		facts.Dir(o.Facts)
	}
	for _, pred := range slices.Sorted(maps.Keys(o.Files)) {
		facts.File(pred, o.Files[pred])
	}
	if o.Graph != nil {
		from, to, err := o.Graph.Make(o.Threads)
		if err != nil {
			return nil, err
		}
		facts.Columns("edge", from, to)
	}
	e = &ended{}
	start := time.Now()
	db, err := s.Load(ctx, prog, facts, driver.LoadOptions{})
	if err != nil {
		return nil, err
	}
	e.Load = time.Since(start).Seconds()
	start = time.Now()
	opts := driver.RunOptions{Outputs: []string{"_"}}
	prepared, err := s.Prepare(ctx, prog, db, opts)
	if err != nil {
		return nil, err
	}
	e.Prepare = time.Since(start).Seconds()
	var answer bytes.Buffer
	e.First, err = runPrepared(ctx, prepared, opts, &answer)
	if err != nil {
		return nil, err
	}
	e.Answer = answer.String()
	if err := e.again(ctx, o, prepared, opts); err != nil {
		return nil, err
	}
	return e, nil
}

// again makes the runs after the first one. Their answers must be equal to its.
func (e *ended) again(ctx context.Context, o order, prepared *driver.Prepared,
	opts driver.RunOptions) error {
	equal := func(answer *bytes.Buffer) error {
		if got := answer.String(); got != e.Answer {
			return fmt.Errorf("a later run answers %q, the first one %q", got, e.Answer)
		}
		return nil
	}
	for begun := time.Now(); len(e.Hot) < o.Hot && (len(e.Hot) == 0 ||
		time.Since(begun) < hotLimit); {
		var answer bytes.Buffer
		cost, err := runPrepared(ctx, prepared, opts, &answer)
		if err = errors.Join(err, equal(&answer)); err != nil {
			return err
		}
		e.Hot = append(e.Hot, cost)
	}
	if !o.Profile {
		return nil
	}
	var tracer driver.Tracer
	opts.Profile, opts.Trace = true, tracer.Add
	opts.NoDecompose = true // else calls of a kernel are no rounds
	res, err := prepared.Run(ctx, opts)
	if err != nil {
		return err
	}
	e.Rounds = loopRounds(res.Stats)
	for _, span := range tracer.Spans() {
		if span.Track == "kernels" {
			e.Device += span.Duration.Seconds()
		}
	}
	return nil
}

// runPrepared measures a run, and writes its answer.
func runPrepared(ctx context.Context, prepared *driver.Prepared, opts driver.RunOptions,
	answer *bytes.Buffer) (cost runCost, err error) {
	start := time.Now()
	res, err := prepared.Run(ctx, opts)
	if err != nil {
		return cost, err
	}
	cost = runCost{Seconds: time.Since(start).Seconds(), Peak: res.Stats.Peak,
		Compile: res.Stats.Compile.Seconds()}
	if d := res.Stats.Device; d != nil {
		cost.Peak, cost.Launches, cost.Waits = d.Peak, d.Launches, d.Waits
		cost.Enlarged, cost.Rounds = d.Enlarged, d.Rounds
		cost.Earlier = d.Origin == driver.EarlierRun || d.Origin == driver.EarlierProcess
		cost.Guessed = d.Origin == driver.OtherFacts
	}
	return cost, res.Write(answer, "_", driver.TSV, driver.WriteOptions{})
}

// loopRounds returns the rounds of all loops of a run: of each block, the
// largest number of calls of a kernel, if it is more than one.
func loopRounds(stats driver.Stats) (n int64) {
	most := map[string]int64{}
	for _, k := range stats.Kernels {
		most[k.Block] = max(most[k.Block], k.Calls)
	}
	for _, calls := range most {
		if calls > 1 {
			n += calls
		}
	}
	return n
}
