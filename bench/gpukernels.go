package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// wallMetric is the unit in which the benchmarks of primitives/service report
// how long the host waits, from the first launch until the last kernel is done.
const wallMetric = "wall-µs"

// kernels measures the kernels that sort pairs by themselves, beside the row
// sort-pairs: the time in which the engine could number as many tuples. The
// test program of primitives/service has them, and looks at the answer.
func (s *gpuSuite) kernels(ctx context.Context) error {
	const name, n = "sort-pairs-kernels", 1 << 28
	if s.service == "" || !s.wants(name, true) {
		return nil
	}
	cmd := exec.CommandContext(ctx, s.service, "-test.run", "^$", "-test.bench",
		"^BenchmarkCard$/^pairs$/^all$",
		"-test.benchtime", "2x", "-test.count", strconv.Itoa(s.repeat))
	text, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, text)
	}
	out := &outcome{Work: name, Rows: n, Unit: "pairs", Bytes: n * 16,
		Seconds: wallTimes(string(text))}
	if len(out.Seconds) == 0 {
		return fmt.Errorf("%s: %s reports no time:\n%s", name, s.service, text)
	}
	out.summarise(pairsCeiling(n), pairsCeilingText, s.barOf(&job{bar: pairsBar}))
	s.add(out)
	return nil
}

// The least time of a sort of pairs of 32 bits by the rate of a copy, and the
// most that 2^28 of them are to take.
const (
	pairsCeilingText = "4 passes at 4.26 TB/s"
	pairsBar         = 8 * time.Millisecond
)

func pairsCeiling(n int) time.Duration { return atRate(float64(n)*16*4, copyRate) }

// wallTimes returns the seconds that benchmarks report as wallMetric.
func wallTimes(text string) (seconds []float64) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		for i := 1; i < len(fields); i++ {
			if fields[i] != wallMetric {
				continue
			}
			if t, err := strconv.ParseFloat(fields[i-1], 64); err == nil {
				seconds = append(seconds, t/1e6)
			}
		}
	}
	return seconds
}
