package main

import (
	"context"
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

// firstBar is for the first result of a cold process on a GPU, and oursBar for what of it
// is not the driver's.
const (
	firstBar = 600 * time.Millisecond
	oursBar  = 150 * time.Millisecond
)

// processTimes are those of a process, from its start: until the last of its output is
// there, and until it has ended, in which the driver takes its context apart.
type processTimes struct{ result, end []time.Duration }

func (p *processTimes) add(result, end time.Duration) {
	p.result, p.end = append(p.result, result), append(p.end, end)
}

// cold measures the command line in processes of their own, with nothing compiled
// before and with what the process before left on disk. What a process takes that does
// nothing but open the driver and a context is measured beside; the rest is ours.
func (s *gpuSuite) cold(ctx context.Context) error {
	if s.redfox == "" || !s.wantsAny([]string{"cold", "cold-cached", "context"}) {
		return nil
	}
	// The first process on a machine also reads the driver from disk.
	var driver processTimes
	for i := range 4 {
		result, end, err := s.driverContext(ctx)
		if err != nil {
			fmt.Printf("the driver's own time is left out: %v\n", err)
			break
		}
		if i > 0 {
			driver.add(result, end)
		}
	}
	empty, err := os.MkdirTemp("", "redfox-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(empty)
	kept := filepath.Join(empty, "kept")
	var cold, cached processTimes
	for i := range min(s.repeat, 5) + 1 {
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
	s.addProcess("context", driver, processTimes{}, 0)
	s.addProcess("cold", cold, driver, firstBar)
	s.addProcess("cold-cached", cached, driver, firstBar)
	return nil
}

// addProcess adds rows of processes: until the result and until the end and, of both, what
// is left without the driver's own.
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

// process runs a small program in a process of its own, its cache in a folder.
func (s *gpuSuite) process(ctx context.Context, cache string) (result, end time.Duration, err error) {
	cmd := exec.CommandContext(ctx, s.redfox, "run", testFile(smallProgram...), "--facts", testFile("quickstart", "facts"),
		"--engine", s.engine, "--format", "tsv")
	cmd.Env = append(os.Environ(), "REDFOX_CACHE="+cache, "CUDA_CACHE_PATH="+filepath.Join(cache, "driver"))
	_, result, end, err = timedProcess(cmd)
	return result, end, err
}

// timedProcess runs a process that prints something, and returns what it prints.
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

// driverContext returns how long the driver takes from being opened to a context, and
// until a process that does nothing else has ended.
func (s *gpuSuite) driverContext(ctx context.Context) (result, end time.Duration, err error) {
	text, printed, ended, err := timedProcess(exec.CommandContext(ctx, s.python, "bench/driver_context.py"))
	if err != nil {
		return 0, 0, err
	}
	t, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	result = time.Duration(t * float64(time.Second)) // the interpreter's own start does not count
	return result, result + ended - printed, err
}
