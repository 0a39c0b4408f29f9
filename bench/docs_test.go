package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestPerformancePage holds that the page shows the figures of bench/figures.
func TestPerformancePage(t *testing.T) {
	t.Chdir("..")
	text, err := os.ReadFile(performancePage)
	if err != nil {
		t.Fatal(err)
	}
	page, err := renderPage(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if page != string(text) {
		t.Errorf("%s does not show the figures; write it with: go run ./bench docs",
			performancePage)
	}
	if _, err := renderPage(strings.Replace(page, "<!-- end -->", "", 2)); err == nil {
		t.Error("a page without the end of a table is rendered")
	}
}

// TestRecord replaces a row of a file, and keeps the others.
func TestRecord(t *testing.T) {
	c := config{figures: filepath.Join(t.TempDir(), "figures.json")}
	for _, r := range []struct {
		work   string
		times  map[string]float64
		source map[string]string
	}{
		{"tc/b", map[string]float64{"go": 1, "DuckDB": 0}, nil},
		{"tc/a",
			map[string]float64{"gpu": 0.123456, "GPULog": 2},
			map[string]string{"GPULog": "elsewhere"}},
		{"tc/b", map[string]float64{"cpu": 1499e-9}, nil},
	} {
		if err := c.record(r.work, r.times, r.source); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readFigures(c.figures)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Figures {
		if _, err := time.Parse(time.DateOnly, got.Figures[i].Date); err != nil {
			t.Error(err)
		}
		got.Figures[i].Date = ""
	}
	want := []figure{
		{"tc/a", "", map[string]float64{"gpu": 0.123, "GPULog": 2},
			map[string]string{"GPULog": "elsewhere"}},
		{"tc/b", "", map[string]float64{"cpu": 1.5e-6}, nil},
	}
	if !reflect.DeepEqual(got.Figures, want) {
		t.Errorf("got %v", got.Figures)
	}
	if err := os.WriteFile(c.figures, []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := c.record("tc/a", nil, nil); err == nil {
		t.Error("a damaged file is replaced")
	}
}
