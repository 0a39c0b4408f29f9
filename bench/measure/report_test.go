package measure

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"
)

// example is a report of two queries and a failure, beside a peer that is
// measured and one of which only a sum is known.
func example() *Report {
	return &Report{
		Suite: "tpch", Scale: 1, Engine: "go", Threads: 2, Bandwidth: 20e9,
		Machine: Machine{CPU: "A & B <C>", Cores: 2},
		Peers:   []Peer{{Name: "DuckDB", Source: "measured"}, {Name: "other", Source: "a paper"}},
		Queries: []*Measurement{
			{Query: "q01", Hot: Times{Median: 0.004, Processor: 0.008}, Bytes: 40e6,
				Peers: []PeerTimes{{Peer: "DuckDB",
					Times: Times{Median: 0.016, Processor: 0.024}}}},
			{Query: "q02", Hot: Times{Median: 0.001}, Bytes: 1e6,
				Peers: []PeerTimes{{Peer: "DuckDB", Times: Times{Median: 0.001}}}},
		},
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

func TestFinish(t *testing.T) {
	r := example()
	r.Finish()
	q, p := r.Queries[0], r.Peers[0]
	if !near(q.Floor, 0.002) || !near(q.Share, 0.5) || !near(q.Peers[0].Faster, 4) {
		t.Errorf("q01: %+v", q)
	}
	if !near(r.Sum, 0.005) || !near(r.Mean, 0.002) || !near(p.Sum, 0.017) || !near(p.Mean, 0.004) ||
		!near(p.Faster, 2) || !near(p.Frugal, 3) {
		t.Errorf("sum %g, mean %g, peer %+v", r.Sum, r.Mean, p)
	}
	if r.Peers[1].Sum != 0 {
		t.Errorf("a peer without times: %+v", r.Peers[1])
	}
	r = example()
	r.Queries = append(r.Queries, &Measurement{Query: "q03", Failure: "no"})
	r.Finish()
	if r.Sum != 0 || r.Mean != 0 {
		t.Errorf("with a failure the sum is %g", r.Sum)
	}
}

func TestCompilation(t *testing.T) {
	for want, c := range map[string]Compilation{
		"":              {},
		"30 ms":         {FrontEnd: 0.004, Plan: 0.006, Code: 0.020},
		"30 ms + 80 ms": {FrontEnd: 0.004, Plan: 0.006, Code: 0.100, Driver: 0.080},
	} {
		if got := c.String(); got != want {
			t.Errorf("%+v is %q, want %q", c, got, want)
		}
	}
}

func TestSummarise(t *testing.T) {
	ms := func(list ...int) (out []time.Duration) {
		for _, n := range list {
			out = append(out, time.Duration(n)*time.Millisecond)
		}
		return out
	}
	if got := Summarise(ms(5, 1, 9), 30*time.Millisecond); got.Median != 0.005 ||
		got.Least != 0.001 || got.Most != 0.009 || got.Runs[0] != 0.005 || got.Processor != 0.01 {
		t.Errorf("%+v", got)
	}
	if got := Summarise(ms(4, 1, 9, 2), 0); !near(got.Median, 0.003) {
		t.Errorf("of four: %+v", got)
	}
	if got := Summarise(nil, 0); got.Median != 0 {
		t.Errorf("of none: %+v", got)
	}
}

// TestJSON reads what is written, and holds that zeros which mean that nothing
// is known are left out.
func TestJSON(t *testing.T) {
	r := example()
	r.Finish()
	var out bytes.Buffer
	if err := r.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var again Report
	d := json.NewDecoder(bytes.NewReader(out.Bytes()))
	d.DisallowUnknownFields()
	if err := d.Decode(&again); err != nil {
		t.Fatal(err)
	}
	var second bytes.Buffer
	if err := again.WriteJSON(&second); err != nil || out.String() != second.String() {
		t.Errorf("%v\n%s\n%s", err, out.String(), second.String())
	}
	for _, none := range []string{"device", "failure", "launches", "checked_by"} {
		if strings.Contains(out.String(), `"`+none+`"`) {
			t.Errorf("there is %s in\n%s", none, out.String())
		}
	}
}

// TestSVG parses a chart as XML, and looks for the bars: two queries and the
// mean, ours and those of the peer that has times.
func TestSVG(t *testing.T) {
	r := example()
	r.Finish()
	var out bytes.Buffer
	if err := r.WriteSVG(&out); err != nil {
		t.Fatal(err)
	}
	bars, text := map[string]int{}, ""
	d := xml.NewDecoder(&out)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				if token.Name.Local == "rect" && a.Name.Local == "fill" {
					bars[a.Value]++
				}
			}
		case xml.CharData:
			text += string(token) + "|"
		}
	}
	// One of each colour is in the legend.
	if bars[barColors[0]] != 4 || bars[barColors[1]] != 4 || bars[barColors[2]] != 0 {
		t.Errorf("bars by colour: %v", bars)
	}
	for _, want := range []string{"TPC-H, scale factor 1", "A & B <C>", "|q02|", "|mean|",
		"|16 ms|", "|100 µs|", "|100 ms|"} {
		if !strings.Contains(text, want) {
			t.Errorf("the chart lacks %q: %s", want, text)
		}
	}
	if err := (&Report{Suite: "tpch"}).WriteSVG(io.Discard); err != nil {
		t.Errorf("without queries: %v", err)
	}
}

func TestFormatTime(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0 s", 12.3e-9: "0.0123 µs", 1e-6: "1 µs", 123.4e-6: "123 µs", 0.99949e-3: "999 µs",
		0.9996e-3: "1 ms",
		12.34e-3:  "12.3 ms", 0.1: "100 ms", 1: "1 s", 1.234: "1.23 s", 99.97: "100 s",
		120: "120 s",
	} {
		if got := FormatTime(seconds); got != want {
			t.Errorf("%g: %s, not %s", seconds, got, want)
		}
	}
}

func TestProcessorTime(t *testing.T) {
	before := ProcessorTime()
	if before == 0 {
		t.Skip("the system does not tell")
	}
	words := make([]uint64, 1000)
	for ProcessorTime() == before { // it goes on in steps of the system's clock
		words[0] += total(words)
	}
	if took := ProcessorTime() - before; took < 0 || took > time.Minute {
		t.Errorf("a little work takes %v", took)
	}
}

func TestBandwidth(t *testing.T) {
	if testing.Short() {
		t.Skip("reads gigabytes")
	}
	if got := Bandwidth(1); got < 0.1e9 || got > 1e12 {
		t.Errorf("%g bytes a second", got)
	}
	if got := total([]uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}); got != 66 {
		t.Errorf("the sum is %d", got)
	}
}
