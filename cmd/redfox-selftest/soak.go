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

	"github.com/redfoxdb/redfox"
)

// What may be held at the end of a soak more than after its first round: the collector,
// the C library's allocator and the GPU's driver do not give back all that is free.
const (
	hostSlack = 64 << 20
	cardSlack = 256 << 20
)

// memory is what is in use, in bytes.
type memory struct {
	heap     int64 // of Go, after a collection
	resident int64 // of the process, on Linux
	device   int64 // of the GPU, by the engine's account
	card     int64 // of the GPU, by its driver and all processes
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
	return memory{heap: int64(stats.HeapAlloc), resident: processBytes(), device: t.tested.DeviceUse().Held, card: t.cardBytes()}
}

// cardBytes returns what is in use of the GPU, 0 if another engine is tested.
func (t *tester) cardBytes() int64 {
	if t.session.Engine != "gpu" {
		return 0
	}
	devices, err := redfox.Devices()
	if err != nil {
		return 0
	}
	for _, d := range devices {
		if d.Usable && (t.session.Device == "" || t.session.Device == d.UUID || t.session.Device == strconv.Itoa(d.Number)) {
			return d.Memory - d.Free
		}
	}
	return 0
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
	text := fmt.Sprintf("heap %d MiB, process %d MiB", m.heap>>20, m.resident>>20)
	if m.card > 0 {
		text += fmt.Sprintf(", engine on the GPU %d MiB, GPU in all %d MiB", m.device>>20, m.card>>20)
	}
	return text
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
		late := end
		if rounds < 2 { // whole ones
			late = time.Time{}
		}
		if err := t.each(ctx, cases, late); err != nil {
			return err
		}
		if rounds == 0 {
			warm = t.held()
			t.say("after the first round:", warm)
		}
		order.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
	}
	last := t.held()
	t.say("at the end:", last)
	for _, m := range []struct {
		what              string
		warm, last, slack int64
	}{
		{"the heap", warm.heap, last.heap, hostSlack},
		{"the process", warm.resident, last.resident, hostSlack + warm.resident/4},
		{"the engine's memory on the GPU", warm.device, last.device, 0},
		{"the GPU's memory", warm.card, last.card, cardSlack},
	} {
		if m.last > m.warm+m.slack {
			t.fail(testCase{}, fmt.Sprintf("%s grew from %d to %d MiB", m.what, m.warm>>20, m.last>>20))
		}
	}
	t.say(fmt.Sprintf("%d rounds of %d programs, %s", rounds, len(cases), t.summary()))
	return nil
}
