package runtime

import (
	"errors"
	"testing"
)

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 1000: "1000 bytes", 1 << 10: "1 KiB", 1500: "1.5 KiB",
		1 << 20:    "1 MiB",
		1500 << 20: "1500 MiB", 1<<30 + 1: "1.0 GiB", 10 << 30: "10 GiB", 3 << 39: "1.5 TiB",
	} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestMemoryError(t *testing.T) {
	for want, e := range map[string]MemoryError{
		"out of memory: p needs 3 MiB more, and 98 MiB of the 100 MiB of --memory are in use; raise --memory or derive fewer tuples":                              {What: "p", Want: 3 << 20, Held: 98 << 20, Bound: 100 << 20},
		"out of memory: column x of s.tsv needs 8 bytes more, and 1 MiB of the 1 MiB of --memory are in use; raise --memory or load fewer facts":                  {What: "column x of s.tsv", Want: 8, Held: 1 << 20, Bound: 1 << 20, Loading: true},
		"out of memory of the GPU: p needs 1 MiB more, and 7 MiB of 8 MiB are in use; raise --device-memory, use --engine cpu, or derive fewer tuples":            {What: "p", Want: 1 << 20, Held: 7 << 20, Bound: 8 << 20, Device: true},
		"out of memory: p needs 1 MiB more, and the operating system refuses it after 7 MiB (no more); free memory or raise the limit of the process (ulimit -v)": {What: "p", Want: 1 << 20, Held: 7 << 20, System: errors.New("no more")},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
