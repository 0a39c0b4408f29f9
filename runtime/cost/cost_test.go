package cost

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
)

// recorded is a kernel of a query on an H200.
type recorded struct {
	Query        string
	Microseconds float64
	Work
}

// readRecorded reads the kernels that were measured, by queries.
func readRecorded(t *testing.T) (queries [][]recorded) {
	t.Helper()
	f, err := os.Open("testdata/h200.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var k recorded
		if err := json.Unmarshal(lines.Bytes(), &k); err != nil {
			t.Fatal(err)
		}
		if n := len(queries); n == 0 || queries[n-1][0].Query != k.Query {
			queries = append(queries, nil)
		}
		queries[len(queries)-1] = append(queries[len(queries)-1], k)
	}
	return queries
}

// TestPredict holds predictions against what was measured: most are within
// 30 %, and they are neither short nor long on average.
func TestPredict(t *testing.T) {
	const tolerance, leastWithin, mostBias = 0.3, 0.9, 0.05
	within, all, logs := 0, 0, 0.0
	for _, query := range readRecorded(t) {
		var works []Work
		for _, k := range query {
			works = append(works, k.Work)
		}
		for i, p := range Predict(works, H200) {
			ratio := p.Total() * 1e6 / query[i].Microseconds
			all++
			logs += math.Log(ratio)
			if math.Abs(ratio-1) <= tolerance {
				within++
			} else {
				t.Logf("%s %s: predicted %.0f µs, measured %.0f µs", query[i].Query,
					query[i].Kernel, p.Total()*1e6, query[i].Microseconds)
			}
		}
	}
	share, mean := float64(within)/float64(all), math.Exp(logs/float64(all))
	t.Logf("%d of %d kernels within %.0f%%, geometric mean %.2f", within, all, 100*tolerance, mean)
	if all == 0 || share < leastWithin {
		t.Errorf("%d of %d kernels are within %.0f%%, want %.0f%% of them", within, all,
			100*tolerance, 100*leastWithin)
	}
	if math.Abs(math.Log(mean)) > mostBias {
		t.Errorf("the geometric mean of predicted and measured times is %.2f", mean)
	}
}

// TestScale scales the rates with the card: half the memory's rate doubles the
// time of bytes, and half the multiprocessors that of stages.
func TestScale(t *testing.T) {
	half := H200
	half.Bandwidth /= 2
	half.Processors /= 2
	whole, slow := H200.Rates(), half.Rates()
	if slow.Byte != 2*whole.Byte || slow.Step != 2*whole.Step || slow.Launch != whole.Launch {
		t.Errorf("half a card has the rates %+v", slow)
	}
}

// TestLevel finds where accesses end by the size of what they reach.
func TestLevel(t *testing.T) {
	for _, tt := range []struct {
		access Access
		want   string
	}{
		{Access{Kind: Probe, Bytes: 100 << 10}, "L1"},
		{Access{Kind: Atomic, Bytes: 100 << 10}, "L2"},
		{Access{Kind: Gather, Bytes: 20 << 20}, "L2"},
		{Access{Kind: Gather, Bytes: 1 << 30}, "memory"},
		{Access{Kind: Gather, Bytes: 1 << 30, Ordered: true}, "in order"},
	} {
		if got := H200.Level(tt.access); got != tt.want {
			t.Errorf("%+v ends in %s, want %s", tt.access, got, tt.want)
		}
	}
}

// TestExplain shows the parts of a prediction and the tables that take most of
// it.
func TestExplain(t *testing.T) {
	w := Work{Rows: 60e6, Read: 480e6, Steps: 120e6, Accesses: []Access{
		{To: "i0", Kind: Probe, Rows: 60e6, Bytes: 250e3},
		{To: "i1", Kind: Probe, Rows: 100, Bytes: 1e3},
	}}
	got := Explain(w, Predict([]Work{{}, w}, H200)[1], H200)
	for _, want := range []string{"launch ", "480.0 MB in order ", "stages ", "accesses ",
		"\n    60.0 M probes of i0, 250.0 kB, L2: "} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in %q", want, got)
		}
	}
	if strings.Contains(got, "i1") {
		t.Errorf("an access of no weight is shown: %q", got)
	}
}
