package main

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/malloc"
)

// TestSoak does all there is to do, on each engine that the machine has.
func TestSoak(t *testing.T) {
	for _, e := range driver.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			if !e.Available {
				t.Skip(e.Detail)
			}
			file := filepath.Join(t.TempDir(), "soak.json")
			out, code := run("-engine", e.Name, "-only", "constraint", "-random", "3", "-soak",
				"1s", "-every", "250ms", "-parallel", "3", "-report", file)
			if code != 0 || !strings.Contains(out, " 0 failures") ||
				!strings.Contains(out, "the heap was looked at too seldom to tell: ") {
				t.Errorf("exit code %d:\n%s", code, out)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var r soakReport
			if err := json.Unmarshal(text, &r); err != nil {
				t.Fatal(err)
			}
			if !r.Passed || r.Engine != e.Name || len(r.Measurements) == 0 ||
				len(r.Trends) != len(quantities) || r.Measurements[0].Heap == 0 || r.Runs == 0 {
				t.Errorf("%s", text)
			}
			if len(r.Work) == 0 {
				t.Error("nothing was done")
			}
		})
	}
}

// TestSoakFinds has expectations that no run meets.
func TestSoakFinds(t *testing.T) {
	for _, w := range soakWorks {
		var out strings.Builder
		c := config{data: "../../testdata", runs: 1, timeout: time.Hour,
			session: driver.SessionOptions{Engine: "go"}, only: "quickstart"}
		tested, err := newTester(t.Context(), c, &out)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := tested.cases()
		if err != nil {
			t.Fatal(err)
		}
		// A run ends before it is cancelled, or else there is nothing to look
		// at.
		s := &soak{tester: tested, tight: tested.tested, counts: map[string]int{},
			patience: time.Hour}
		wrong := &soakCase{testCase: cases[0]}
		if why := s.open(t.Context(), wrong); why != "" {
			t.Fatal(why)
		}
		wrong.want.sum = "another"
		why := ""
		for range 100 { // what is cancelled is not looked at, and what is kept only later
			if why = s.do(t.Context(), wrong, w, newRandom(1, 2)); why != "" {
				break
			}
			if len(s.kept) > 0 {
				why = s.do(t.Context(), wrong, soakWorks[4], newRandom(1, 2))
				break
			}
		}
		if !strings.Contains(why, "has other bytes") {
			t.Errorf("%s: %q", w.name, why)
		}
		if err := tested.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestMemory has C's allocator, Go and the process say what they have, where
// that can be told.
func TestMemory(t *testing.T) {
	tested, err := newTester(t.Context(),
		config{data: "../../testdata", session: driver.SessionOptions{Engine: "go"}}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer tested.close()
	m := tested.held()
	if m.Heap <= 0 || m.Go <= m.Heap {
		t.Errorf("%+v", m)
	}
	if _, told := malloc.Look(); told &&
		(m.C <= 0 || m.Process < m.Heap || m.Process-m.Private-m.Files-m.Shared > 1<<20) {
		t.Errorf("%+v", m)
	}
}

// TestTrends has memory that grows, that is noisy, and that grows only at
// first.
func TestTrends(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		name  string
		heap  func(i int) float64
		grows bool
	}{
		{"constant", func(int) float64 { return 100 }, false},
		{"line", func(i int) float64 { return 100 + 4*float64(i) }, true},
		{"short", func(i int) float64 { return 100 + 40*float64(i) }, false},
		{"slow line", func(i int) float64 { return 100 + float64(i)/4 }, false},
		{"noise", func(i int) float64 { return 100 + 300*float64(i*7919%13)/13 }, false},
		{"noisy line", func(i int) float64 {
			return 100 + 20*float64(i) + 300*float64(i*7919%13)/13
		}, true},
		{"warming", func(i int) float64 { return 100 + 50*math.Min(float64(i), 12) }, false},
	} {
		var m measurements
		measured := 40
		if tt.name == "short" {
			measured = fewest - 1
		}
		for i := range measured {
			m.all = append(m.all,
				measurement{15 * float64(i), 1000 * i, memory{Heap: int64(mib * tt.heap(i))}})
		}
		got := m.trends()
		if told := !strings.Contains(got[0].String(), "too seldom"); told == (tt.name == "short") {
			t.Errorf("%s: %v", tt.name, got[0])
		}
		if got[0].Grows != tt.grows || got[1].Grows || got[0].What != "the heap" {
			t.Errorf("%s: %+v", tt.name, got[0])
		}
		if tt.name == "line" && (math.Abs(got[0].PerRun-4*mib/1000) > 1 || got[0].Noise > 1) {
			t.Errorf("%s: %+v", tt.name, got[0])
		}
	}
	if at, by, noise := slope([]float64{1, 2, 3, 4}, []float64{3, 5, 7, 9}); at != 2 || by != 0 ||
		noise != 0 {
		t.Errorf("a line has slope %v ± %v, and noise %v", at, by, noise)
	}
	if _, _, noise := slope([]float64{1, 2, 3, 4}, []float64{1, -1, -1, 1}); noise != math.Sqrt2 {
		t.Errorf("noise of 1 at two degrees of freedom is %v", noise)
	}
	if at, by, noise := slope([]float64{1}, []float64{3}); at != 0 || by != 0 || noise != 0 {
		t.Errorf("a point has slope %v ± %v, and noise %v", at, by, noise)
	}
}
