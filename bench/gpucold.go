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

	"github.com/redfoxdb/redfox/bench/measure"
)

// smallProgram is the program of a cold process.
var smallProgram = []string{"quickstart", "reach.logic"}

// The bars of the first result of a cold process on a GPU, in seconds: of all
// of it, and of the part that is not the driver's.
const (
	firstBar = 0.6
	oursBar  = 0.15
)

// processTimes are times from the start of a process until the last of its
// output, and until its end. In between, the driver destroys its context.
type processTimes struct{ result, end []time.Duration }

func (p *processTimes) add(result, end time.Duration) {
	p.result, p.end = append(p.result, result), append(p.end, end)
}

// driverSettings are the driver's variables that redfox sets in a process for
// one program (redfox.StartEngine). The time to make a context depends on them.
var driverSettings = []string{"CUDA_DEVICE_MAX_CONNECTIONS=2", "CUDA_MODULE_LOADING=EAGER"}

// cold measures new processes of redfox run: with nothing compiled before, and
// with the cache of the process before. Between them it measures processes that
// only create a context, with the default settings of the driver and with those
// of redfox. The difference to the latter is the time of redfox itself.
func (s *gpuSuite) cold(ctx context.Context) error {
	if s.redfox == "" || !s.wantsAny("cold", "cold-cached", "context") {
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
	if err := s.recordGPU("cold", median(cold.result), "opening the driver and a context",
		median(driver.result), ""); err != nil {
		return err
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

// addProcess adds rows of processes: until the result, until the end, and both
// without the driver's own time.
func (s *gpuSuite) addProcess(name string, all, driver processTimes, bar float64) {
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
			row.times[i] -= fromSeconds(median(row.driver))
		}
		s.addTimes(row.name+"-ours", row.times, oursBar)
	}
}

// addTimes adds a row that consists of times alone.
func (s *gpuSuite) addTimes(name string, times []time.Duration, bar float64) {
	s.add(s.outcome(&job{name: name, bar: bar}, measure.Summarise(times, 0), nil))
}

// median returns the median in seconds, or 0 if there are no times.
func median(times []time.Duration) float64 { return measure.Summarise(times, 0).Median }

// driverCompiles returns the time in which a process with nothing compiled
// before only waits for the driver to compile PTX and load the code. That time
// is part of the time of redfox.
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
	return 0, nil // the engine has no driver
}

// process runs a small program in a new process with a folder for its cache.
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

// timedProcess runs a process and returns its output, which must not be empty.
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

// driverContext measures a process that only opens the driver and creates a
// context, with the given environment variables. If counts is set, it adds the
// times.
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
		// Exclude the start of the interpreter.
		result := time.Duration(t * float64(time.Second))
		to.add(result, result+ended-printed)
	}
	return err
}
