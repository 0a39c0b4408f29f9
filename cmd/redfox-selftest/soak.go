package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// What may be held at the end of a soak more than after its first round: the collector
// and the C library's allocator do not give back all that is free.
const (
	hostSlack   = 64 << 20
	deviceSlack = 0
)

// memory is what the process holds, in bytes.
type memory struct {
	heap     int64 // of Go, after a collection
	resident int64 // of the process, on Linux
	device   int64 // of the GPU
}

// held measures what is left when nothing runs and nothing refers to facts.
func (t *tester) held() memory {
	// Cleanups of what is collected first run before the second collection.
	for range 2 {
		goruntime.GC()
		time.Sleep(50 * time.Millisecond)
	}
	debug.FreeOSMemory()
	var stats goruntime.MemStats
	goruntime.ReadMemStats(&stats)
	return memory{heap: int64(stats.HeapAlloc), resident: processBytes(), device: t.tested.DeviceUse().Held}
}

// processBytes returns the memory that the process has, 0 where that can not be told.
func processBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

func (m memory) String() string {
	return fmt.Sprintf("heap %d MiB, process %d MiB, GPU %d MiB", m.heap>>20, m.resident>>20, m.device>>20)
}

// soak runs all programs in changing order for a time, and compares what memory is held
// after the first round with what is held at the end.
func (t *tester) soak(ctx context.Context) error {
	cases, err := t.cases()
	if err != nil {
		return err
	}
	order := rand.New(rand.NewPCG(t.seed, 0))
	end := time.Now().Add(t.config.soak)
	var warm memory
	rounds := 0
	for ; rounds < 2 || time.Now().Before(end); rounds++ {
		for _, c := range cases {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if rounds > 1 && time.Now().After(end) {
				break
			}
			t.test(ctx, c)
		}
		if rounds == 0 {
			warm = t.held()
			fmt.Fprintln(t.out, "after the first round:", warm)
		}
		order.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
	}
	last := t.held()
	fmt.Fprintln(t.out, "at the end:", last)
	for _, m := range []struct {
		what              string
		warm, last, slack int64
	}{
		{"the heap", warm.heap, last.heap, hostSlack},
		{"the process", warm.resident, last.resident, hostSlack + warm.resident/4},
		{"the GPU's memory", warm.device, last.device, deviceSlack},
	} {
		if m.last > m.warm+m.slack {
			t.fail(testCase{}, fmt.Sprintf("%s grew from %d to %d MiB", m.what, m.warm>>20, m.last>>20))
		}
	}
	fmt.Fprintf(t.out, "%d rounds of %d programs, %d runs on engine %s, %d failures, %v%s\n", rounds, len(cases), t.runCount, t.session.Engine,
		t.failures, time.Since(t.started).Round(time.Second), t.deviceText())
	return nil
}
