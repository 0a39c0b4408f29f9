package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/redfoxdb/redfox/bench/measure"
)

// wallMetric is the unit of the benchmarks of primitives/service for the time
// from the first launch until the host sees the end of the last kernel.
const wallMetric = "wall-µs"

// kernels measures the kernels that sort pairs, without the engine: the lower
// bound of the row sort-pairs. The test program of primitives/service runs them
// and checks the answer.
func (s *gpuSuite) kernels(ctx context.Context) error {
	const name, n = "sort-pairs-kernels", 1 << 28
	if s.service == "" || !s.wants(name, true) {
		return nil
	}
	text, err := exec.CommandContext(ctx, s.service, "-test.run", "^$", "-test.bench",
		"^BenchmarkCard$/^pairs$/^all$", "-test.benchtime", "2x", "-test.count",
		strconv.Itoa(s.repeat)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, text)
	}
	var times []time.Duration
	for _, seconds := range wallTimes(string(text)) {
		times = append(times, fromSeconds(seconds))
	}
	if len(times) == 0 {
		return fmt.Errorf("%s: %s reports no time:\n%s", name, s.service, text)
	}
	s.add(s.outcome(&job{name: name, rows: n, unit: "pairs", bytes: n * 16,
		ceiling: pairsCeiling(n), bar: pairsBar}, measure.Summarise(times, 0), nil))
	return nil
}

// pairsBar is the longest acceptable time, in seconds, to sort 2^28 pairs.
const pairsBar = 0.008

// pairsCeiling is the shortest possible time to sort pairs of 32 bits at the
// rate of a copy.
func pairsCeiling(n int) ceiling {
	return ceiling{float64(n) * 16 * 4 / copyRate, "4 passes at 4.26 TB/s"}
}

// fromSeconds returns seconds as a duration.
func fromSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

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
