package collector

import (
	goruntime "runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestPercent(t *testing.T) {
	g := growth{percent: 25, slack: 128 << 20}
	for _, one := range []struct{ live, want int64 }{
		{0, 3200}, {4 << 20, 3200}, {64 << 20, 200}, {128 << 20, 100}, {512 << 20, 25},
		{8 << 30, 25},
	} {
		if got := g.percentFor(one.live); got != one.want {
			t.Errorf("%d live bytes give %d percent, want %d", one.live, got, one.want)
		}
	}
}

// TestAllow wants the percent to follow the live bytes from one collection to
// the next.
func TestAllow(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	percent := func() int {
		p := debug.SetGCPercent(100)
		debug.SetGCPercent(p)
		return p
	}
	goruntime.GC()
	Allow(10, 256<<20)
	small := percent()
	if small < 1000 {
		t.Fatalf("a small heap has %d percent", small)
	}
	live := make([]byte, 256<<20)
	for range 1000 { // the finalizer runs some time after the collection
		goruntime.GC()
		if percent() < small/5 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if got := percent(); got > 110 || got < 10 {
		t.Errorf("%d bytes are live, and the percent is %d", len(live), got)
	}
	goruntime.KeepAlive(live)
}
