package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/graphgen"
	"github.com/redfoxdb/redfox/internal/reference/recursive"
)

// TestMain lets the test program be the process of an order, as bench is.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == onceName {
		main()
		return
	}
	os.Exit(m.Run())
}

// smallStratum is a work of two rules and ten rounds.
func smallStratum(answer string) *recursionWork {
	return &recursionWork{name: "rounds/2", rounds: 10, answer: answer, other: 1, source: "others",
		make: func(w *recursionWork, dir string, _ uint64) error {
			return w.writeStratum(recursive.Stratum{Rules: 2, Tokens: 3, Rounds: 10}, dir)
		}}
}

// TestSuiteRecursion runs works of the suite over little data on the engines of
// this machine. A stand-in for the command prints the right answer and keeps
// the records in mind.
func TestSuiteRecursion(t *testing.T) {
	t.Chdir("..")
	tc := &recursionWork{name: "tc/OL.cedge", program: []string{testFile("graphs", "tc.logic")},
		graph: "OL.cedge", answer: "146120\n"}
	missing := &recursionWork{name: "tc/none", graph: "none"}
	made := &recursionWork{name: "rmat/small", program: []string{testFile("graphs", "triangles.logic")},
		made: &graphgen.Graph{Kind: graphgen.RMAT, Bits: 8, Edges: 1 << 12}, alone: true}
	onDemand := &recursionWork{name: "tc/later", graph: "OL.cedge", onDemand: true}
	command := filepath.Join(t.TempDir(), "redfox")
	script := "#!/bin/sh\ncase \"$*\" in *OL.cedge*) echo 146120;; *) echo 33;; esac\n"
	if err := os.WriteFile(command, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{driver.EngineGo, driver.EngineCPU} {
		if _, _, err := driver.ChooseEngine(engine); err != nil {
			continue
		}
		file := filepath.Join(t.TempDir(), "recursion.json")
		figures := filepath.Join(t.TempDir(), "figures.json")
		c := config{threads: 2, repeat: 2, seed: 1, besideGo: true, json: file, figures: figures,
			redfox: command, graphs: testFile("graphs")}
		s := &recursionSuite{config: c, engine: engine, dir: t.TempDir(), begun: time.Now()}
		if err := s.run(context.Background(),
			[]*recursionWork{tc, missing, onDemand, smallStratum("33\n"), made}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var m struct{ Rows []*recursionRow }
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		if len(m.Rows) != 3 {
			t.Fatalf("engine %s: %s", engine, text)
		}
		for i, want := range []int64{146120, 33} {
			r := m.Rows[i]
			if r.Tuples != want || r.Go <= 0 || r.Process <= 0 || r.First.Seconds <= 0 ||
				r.Second.Seconds <= 0 || len(r.Hot.Runs) != 2 || len(r.Bars) > 0 {
				t.Errorf("engine %s: %+v", engine, r)
			}
		}
		if r := m.Rows[1]; r.Rounds != 10 || r.Step != r.Hot.Median/10 {
			t.Errorf("engine %s: %+v", engine, r)
		}
		if r := m.Rows[2]; r.Tuples == 0 || r.Rate != 4096/r.Hot.Median || r.Process > 0 ||
			r.Second.Seconds > 0 {
			t.Errorf("engine %s: %+v", engine, r)
		}
		f, err := readFigures(figures)
		if row := f.find("rounds/2"); err != nil || row == nil || row.Seconds[engine] <= 0 ||
			row.Seconds["others"] != 1 {
			t.Errorf("engine %s: the figures are %+v, %v", engine, f, err)
		}
	}
}

// TestSuiteRecursionSeesWrongAnswers holds that a row with a wrong answer
// fails, and the run with it, while others are measured.
func TestSuiteRecursionSeesWrongAnswers(t *testing.T) {
	t.Chdir("..")
	s := &recursionSuite{config: config{threads: 1, repeat: 1, seed: 1}, engine: driver.EngineGo,
		dir: t.TempDir(), begun: time.Now()}
	err := s.run(context.Background(), []*recursionWork{smallStratum("34\n"), smallStratum("33\n")})
	if err == nil || err.Error() != "1 rows failed" {
		t.Errorf("the error is %v", err)
	}
	if got := s.rows[0].Failure; got != `engine go answers "33\n", not "34\n"` {
		t.Errorf("the failure is %q", got)
	}
	if s.rows[1].Failure != "" {
		t.Errorf("the other row failed: %s", s.rows[1].Failure)
	}
}

// TestNamesOfRecursion refuses names that no row has.
func TestNamesOfRecursion(t *testing.T) {
	works := []*recursionWork{{name: "tc/a"}, {name: "tc/b"}, {name: "doop"}}
	for only, want := range map[string]string{"": "", "tc": "", "tc/b,doop": "",
		"doop,tc/c": `no row is called "tc/c"; the groups are tc, doop`} {
		s := &recursionSuite{config: config{only: only}}
		if err := s.checkNames(works); (err == nil) != (want == "") ||
			err != nil && err.Error() != want {
			t.Errorf("-only %q: %v", only, err)
		}
	}
}

// TestWorksOfRecursion selects works by their names and groups, and holds that
// names differ and programs exist.
func TestWorksOfRecursion(t *testing.T) {
	t.Chdir("..")
	s := &recursionSuite{config: config{only: "tc,rounds/10-400"}}
	names, selected := map[string]bool{}, 0
	for _, w := range recursionWorks() {
		if names[w.name] {
			t.Errorf("two works are called %s", w.name)
		}
		names[w.name] = true
		if s.wantsWork(w) {
			selected++
		}
		for _, file := range w.program {
			if _, err := os.Stat(file); err != nil {
				t.Error(err)
			}
		}
		sources := 0
		for _, has := range []bool{w.graph != "", w.made != nil, w.make != nil} {
			if has {
				sources++
			}
		}
		if title := w.title(); strings.Contains(title, "%") || !strings.HasSuffix(title, ", hot") ||
			len(title) < 15 {
			t.Errorf("%s has the title %q", w.name, title)
		}
		if sources != 1 {
			t.Errorf("%s has %d sources of facts", w.name, sources)
		}
	}
	if selected != len(closures)+1 {
		t.Errorf("%d works are selected", selected)
	}
	for _, w := range recursionWorks() {
		if w.than != "" && !names[w.than] {
			t.Errorf("%s stands beside %s, which is no work", w.name, w.than)
		}
	}
}

// TestJudge compares a row with each of its bars.
func TestJudge(t *testing.T) {
	before := &recursionRow{Work: "uniform", work: &recursionWork{}}
	before.Hot.Median = 1
	r := &recursionRow{Work: "skewed", Tuples: 20e6, First: runCost{Seconds: 2.5},
		work: &recursionWork{bar: 1, perStep: 0.1, than: "uniform", times: 1.5}}
	r.Hot.Median, r.Step, r.Bytes = 2, 0.05, 25
	r.judge([]*recursionRow{before})
	var got []string
	for _, b := range r.Bars {
		got = append(got, fmt.Sprintf("%s %v", b.What, b.Met))
	}
	if text := strings.Join(got, ", "); text !=
		"hot false, first/hot true, round true, bytes false, beside uniform false" {
		t.Error(text)
	}
	if text := r.verdict(); text != "hot <= 1 s MISSED; first/hot 1.25 <= 1.3 met; "+
		"round <= 1e+05 us met; bytes 25 <= 24 MISSED; beside uniform 2 <= 1.5 MISSED" {
		t.Error(text)
	}
}

// TestExponent finds the power of a row beside another one, by the first number
// of their answers.
func TestExponent(t *testing.T) {
	s := &recursionSuite{}
	for i, answer := range []string{"100\t7", "1000\t9", "10000\t5"} {
		r := &recursionRow{Answer: answer, work: &recursionWork{name: fmt.Sprint("scale/", i)}}
		r.Hot.Median = math.Pow(10, float64(2*i))
		s.rows = append(s.rows, r)
	}
	s.rows[1].Failure = "it failed"
	small, large := s.ofScale()
	if small != s.rows[0] || large != s.rows[2] || exponent(small, large) != 2 {
		t.Errorf("%v, %v", small, large)
	}
}

func TestLoopRounds(t *testing.T) {
	stats := driver.Stats{Kernels: []driver.KernelStats{{Block: "a", Calls: 1}, {Block: "b", Calls: 7},
		{Block: "b", Calls: 9}, {Block: "c", Calls: 4}}}
	if got := loopRounds(stats); got != 13 {
		t.Errorf("%d rounds, not 13", got)
	}
}

func TestForgetRecords(t *testing.T) {
	s := &recursionSuite{dir: t.TempDir()}
	cache := filepath.Join(s.dir, "cache")
	if err := os.Mkdir(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.record", "a.kernel"} {
		if err := os.WriteFile(filepath.Join(cache, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.forget(); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(cache)
	if err != nil || len(files) != 1 || files[0].Name() != "a.kernel" {
		t.Errorf("%v, %v", files, err)
	}
}
