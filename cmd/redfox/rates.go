package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/redfoxdb/redfox/internal/driver"
)

const (
	// leastRated is how many bytes of a file are read at least for their rate
	// to say something.
	leastRated = 16 << 20
	// mostCopied bounds what is read again to see how fast the system gives it.
	mostCopied = 64 << 20
)

// readRate returns the rate at which a file of facts was read, beside that at
// which the system gives its bytes to one thread; "" for little data, and for
// what is no file of the disk.
func readRate(f driver.FileReport) string {
	if f.Bytes < leastRated || f.Elapsed <= 0 {
		return ""
	}
	given := copyRate(f.File)
	if given <= 0 {
		return ""
	}
	rate := float64(f.Bytes) / f.Elapsed.Seconds()
	return fmt.Sprintf(" (%s/s, %.0f%% of the %s/s of a copy)", size(int64(rate)),
		100*rate/given, size(int64(given)))
}

// copyRate reads the first bytes of a file again, which the system keeps in
// memory if it can, and returns how many it gives in a second; 0 if it gives
// none.
func copyRate(path string) float64 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	block := make([]byte, 1<<20)
	start, n := time.Now(), 0
	for n < mostCopied {
		got, err := io.ReadFull(f, block)
		n += got
		if err != nil {
			break
		}
	}
	took := time.Since(start)
	if n == 0 || took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}
