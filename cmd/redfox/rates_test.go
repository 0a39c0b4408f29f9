package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/internal/driver"
)

// TestReadRate wants the rate of a long file beside that of a copy of it, and
// none of a short file or of one that is gone.
func TestReadRate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.tsv")
	if err := os.WriteFile(path, make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	f := driver.FileReport{File: path, Bytes: leastRated, Elapsed: 2 * time.Second}
	got := readRate(f)
	if !regexp.MustCompile(`^ \(8\.0 MiB/s, \d+% of the [\d.]+ [MG]iB/s of a copy\)$`).MatchString(got) {
		t.Errorf("got %q", got)
	}
	short, gone := f, f
	short.Bytes--
	gone.File += "x"
	if got := readRate(short) + readRate(gone); got != "" {
		t.Errorf("got %q", got)
	}
}
