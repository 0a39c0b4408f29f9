package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// smallProgram is what a cold process runs.
var smallProgram = []string{"quickstart", "reach.logic"}

// firstBar is for the first result of a cold process on a GPU, and oursBar for
// what of it is not the driver's.
const (
	firstBar = 600 * time.Millisecond
	oursBar  = 150 * time.Millisecond
)

// processTimes are those of a process, from its start: until the last of its
// output is there, and until it has ended, in which the driver takes its
// context apart.
type processTimes struct{ result, end []time.Duration }

func (p *processTimes) add(result, end time.Duration) {
	p.result, p.end = append(p.result, result), append(p.end, end)
}

// driverSettings are what a process that runs one program has the driver read
// (redfox.StartEngine, package cuda), on which the time of a context depends.
var driverSettings = []string{"CUDA_DEVICE_MAX_CONNECTIONS=2", "CUDA_MODULE_LOADING=EAGER"}

// cold measures the command line in processes of their own, with nothing
// compiled before and with what the process before left on disk. Between them
// come processes that do nothing but open the driver and a context, with the
// driver's own settings and with those that the command line has it read; what
// is left without the time of the latter is ours.
func (s *gpuSuite) cold(ctx context.Context) error {
	if s.redfox == "" || !s.wantsAny([]string{"cold", "cold-cached", "context"}) {
		return nil
	}
	empty, err := os.MkdirTemp("", "redfox-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(empty)
	kept := filepath.Join(empty, "kept")
	var byDefault, driver, cold, cached processTimes
	var compiles []time.Duration
	// The first processes on a machine also read the driver from disk.
	for i := range min(s.repeat, 9) + 1 {
		if err := cmp.Or(s.driverContext(ctx, i > 0, &byDefault),
			s.driverContext(ctx, i > 0, &driver, driverSettings...)); err != nil && i == 0 {
			fmt.Printf("the driver's own time is left out: %v\n", err)
		}
		took, err := s.driverCompiles(ctx, filepath.Join(empty, strconv.Itoa(i)+"-profiled"))
		if err != nil {
			s.fail("cold", err)
			return nil
		}
		if i > 0 && took > 0 {
			compiles = append(compiles, took)
		}
		for _, dir := range []string{filepath.Join(empty, strconv.Itoa(i)), kept} {
			result, end, err := s.process(ctx, dir)
			switch {
			case err != nil:
				s.fail("cold", err)
				return nil
			case i == 0:
			case dir == kept:
				cached.add(result, end)
			default:
				cold.add(result, end)
			}
		}
	}
	if s.engine == "gpu" {
		err := s.record("cold",
			map[string]time.Duration{"gpu": median(cold.result),
				"opening the driver and a context": median(driver.result)}, nil)
		if err != nil {
			return err
		}
	}
	s.addProcess("context", byDefault, processTimes{}, 0)
	s.addProcess("context-alike", driver, processTimes{}, 0)
	s.addProcess("cold", cold, driver, firstBar)
	if len(compiles) > 0 {
		s.addTimes("cold-driver-compiles", compiles, 0)
	}
	s.addProcess("cold-cached", cached, driver, firstBar)
	return nil
}

// addProcess adds rows of processes: until the result and until the end and, of
// both, what is left without the driver's own.
func (s *gpuSuite) addProcess(name string, all, driver processTimes, bar time.Duration) {
	for _, row := range []struct {
		name          string
		times, driver []time.Duration
	}{{name, all.result, driver.result}, {name + "-ended", all.end, driver.end}} {
		if len(row.times) == 0 {
			continue
		}
		s.addTimes(row.name, row.times, bar)
		if len(row.driver) == 0 {
			continue
		}
		for i := range row.times {
			row.times[i] -= median(row.driver)
		}
		s.addTimes(row.name+"-ours", row.times, oursBar)
	}
}

// addTimes adds a row that is only times.
func (s *gpuSuite) addTimes(name string, times []time.Duration, bar time.Duration) {
	out := &outcome{Work: name}
	for _, t := range times {
		out.Seconds = append(out.Seconds, t.Seconds())
	}
	if s.engine != "gpu" {
		bar = 0
	}
	out.summarise(0, "", bar)
	s.add(out)
}

// driverCompiles returns, of a process with nothing compiled before, how long
// the driver compiles PTX and loads what it has made while nothing else is left
// to be done. That is part of what counts as ours.
func (s *gpuSuite) driverCompiles(ctx context.Context, cache string) (time.Duration, error) {
	if err := os.Mkdir(cache, 0o777); err != nil {
		return 0, err
	}
	file := filepath.Join(cache, "profile.json")
	if _, _, err := s.process(ctx, cache, "--profile", file); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	var trace struct {
		Events []struct {
			Name     string  `json:"name"`
			Duration float64 `json:"dur"` // in microseconds
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal(text, &trace); err != nil {
		return 0, err
	}
	for _, e := range trace.Events {
		if e.Name == "load code" {
			return time.Duration(e.Duration * float64(time.Microsecond)), nil
		}
	}
	return 0, nil // of an engine without a driver
}

// process runs a small program in a process of its own, its cache in a folder.
func (s *gpuSuite) process(ctx context.Context, cache string,
	flags ...string) (result, end time.Duration, err error) {
	args := []string{"run", testFile(smallProgram...), "--facts", testFile("quickstart", "facts"),
		"--engine", s.engine, "--format", "tsv"}
	cmd := exec.CommandContext(ctx, s.redfox, append(args, flags...)...)
	cmd.Env = append(os.Environ(), "REDFOX_CACHE="+cache,
		"CUDA_CACHE_PATH="+filepath.Join(cache, "driver"))
	_, result, end, err = timedProcess(cmd)
	return result, end, err
}

// timedProcess runs a process that prints something, and returns what it
// prints.
func timedProcess(cmd *exec.Cmd) (text string, result, end time.Duration, err error) {
	var failure strings.Builder
	cmd.Stderr = &failure
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return "", 0, 0, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return "", 0, 0, err
	}
	var out strings.Builder
	buffer := make([]byte, 1<<16)
	for err == nil {
		var n int
		if n, err = pipe.Read(buffer); n > 0 {
			result = time.Since(start)
			out.Write(buffer[:n])
		}
	}
	err = cmd.Wait()
	end = time.Since(start)
	switch {
	case err != nil:
		return "", 0, 0, fmt.Errorf("%w: %s", err, failure.String())
	case strings.TrimSpace(out.String()) == "":
		return "", 0, 0, errors.New("it printed nothing")
	}
	return out.String(), result, end, nil
}

// driverContext measures how long the driver takes from being opened to a
// context, and until a process that does nothing else has ended, with variables
// of the driver's. The times are added to others if they count.
func (s *gpuSuite) driverContext(ctx context.Context, counts bool, to *processTimes,
	settings ...string) error {
	cmd := exec.CommandContext(ctx, s.python, "bench/driver_context.py")
	cmd.Env = append(os.Environ(), settings...)
	text, printed, ended, err := timedProcess(cmd)
	if err != nil {
		return err
	}
	t, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err == nil && counts {
		// the interpreter's own start does not count
		result := time.Duration(t * float64(time.Second))
		to.add(result, result+ended-printed)
	}
	return err
}
