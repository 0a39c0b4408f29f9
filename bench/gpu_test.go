package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/short"
)

// TestSuiteGPU runs the suite gpu over few rows on the go engine: its programs
// compile, and their answers are those that it expects.
func TestSuiteGPU(t *testing.T) {
	short.Skip(t, "the suite of GPUs on another engine")
	t.Chdir("..")
	file := filepath.Join(t.TempDir(), "gpu.json")
	c := config{engines: "go", threads: 2, repeat: 2, scale: 0.0003, json: file,
		graphs: testFile("graphs"), tpch: t.TempDir()}
	if err := benchGPU(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var m machine
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	rows := map[string]*outcome{}
	for _, o := range m.Rows {
		rows[o.Work] = o
	}
	for _, name := range []string{"wiki-Vote", "selects", "probe-1M", "probe-hash-100M", "group-1",
		"group-4", "group-1000", "group-1M", "group-100M", "reduce", "insert", "sort"} {
		switch o := rows[name]; {
		case o == nil:
			t.Errorf("there is no row %s", name)
		case len(o.Runs) != 2 || o.Median <= 0 || o.Rows == 0 || o.Bytes == 0 ||
			o.Ceiling == 0 || o.Bar != 0:
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// TestSuiteGPUSeesWrongAnswers holds that a row with a wrong answer fails, and
// the run with it, while others are measured.
func TestSuiteGPUSeesWrongAnswers(t *testing.T) {
	t.Chdir("..")
	old := closures
	defer func() { closures = old }()
	closures = []closure{{"OL.cedge", 146121, 1, 0, 0}, {"cal.cedge", 501755, 1, 0, 0}}
	file := filepath.Join(t.TempDir(), "gpu.json")
	err := benchGPU(context.Background(),
		config{engines: "go", threads: 2, repeat: 1, scale: 1, only: "OL.cedge,cal.cedge",
			json: file, graphs: testFile("graphs")})
	if err == nil || err.Error() != "1 rows failed" {
		t.Errorf("the error is %v", err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var m machine
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Rows) != 2 || m.Rows[0].Failure != "146120 tuples of tc, not 146121" ||
		m.Rows[1].Failure != "" {
		t.Errorf("%s", text)
	}
}

func TestWallTimes(t *testing.T) {
	const text = "goos: linux\n" +
		"BenchmarkCard/pairs/all-16 \t       2\t        40.20 Gpair/s\t      6690 wall-µs\t      6670 µs\n" +
		"BenchmarkCard/pairs/all-16 \t       2\t        40.10 Gpair/s\t      6700.5 wall-µs\t      6680 µs\nPASS\n"
	if got := wallTimes(text); !slices.Equal(got, []float64{0.00669, 0.0067005}) {
		t.Errorf("the times are %v", got)
	}
}

func TestRateBetweenSizes(t *testing.T) {
	for _, tt := range []struct{ bytes, want float64 }{
		{1, 161e9}, {8e6, 161e9}, {64e6, 76e9}, {1e13, 38e9},
	} {
		if got := at(gathers, tt.bytes); got < tt.want*0.999 || got > tt.want*1.001 {
			t.Errorf("%g bytes: %g, not %g", tt.bytes, got, tt.want)
		}
	}
	if got := at(gathers, 22.6e6); got < 105e9 || got > 116e9 { // the geometric mean
		t.Errorf("between 8 and 64 MB: %g", got)
	}
}
