package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	cmd := exec.Command("go", append([]string{"test", "-json"}, os.Args[1:]...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "runtests:", err)
		os.Exit(2)
	}
	start := time.Now()
	s := newSummary(os.Stdout)
	s.read(out)
	err = cmd.Wait()
	s.print(time.Since(start))
	if err != nil || s.failed > 0 {
		os.Exit(1)
	}
}

// event is one line of `go test -json`, as `go doc test2json` describes it.
type event struct {
	Action     string
	Package    string
	ImportPath string // of build output
	Test       string
	Output     string
	Elapsed    float64
}

// summary collects what is worth saying of a run.
type summary struct {
	w       io.Writer
	output  map[string]*bytes.Buffer // of each package and test that still runs
	passed  int
	failed  int
	broken  map[string]bool     // packages with a failed test
	skipped map[string][]string // tests by reason
	// failures has the names of what failed and how its text begins.
	failures []string
}

func newSummary(w io.Writer) *summary {
	return &summary{w: w, output: map[string]*bytes.Buffer{}, broken: map[string]bool{}, skipped: map[string][]string{}}
}

// read takes events until the run ends. Lines that are no events are passed on.
func (s *summary) read(r io.Reader) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(s.w, lines.Text())
			continue
		}
		s.take(e)
	}
}

func (s *summary) take(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.w, e.Output)
	case "output":
		if s.output[key] == nil {
			s.output[key] = &bytes.Buffer{}
		}
		s.output[key].WriteString(e.Output)
	case "pass", "fail", "skip":
		text := ""
		if b := s.output[key]; b != nil {
			text = b.String()
		}
		delete(s.output, key)
		s.finish(e, text)
	}
}

func (s *summary) finish(e event, text string) {
	name := strings.TrimPrefix(strings.TrimPrefix(e.Package, "github.com/redfoxdb/redfox"), "/")
	if name == "" {
		name = "."
	}
	switch {
	case e.Test == "" && e.Action == "fail":
		fmt.Fprintf(s.w, "%sFAIL  %s  %.1fs\n", withoutFraming(text), name, e.Elapsed)
		if !s.broken[e.Package] { // it did not build, or ended outside a test
			s.fail(name, text)
		}
	case e.Test == "" && e.Action == "pass":
		fmt.Fprintf(s.w, "ok    %s  %.1fs\n", name, e.Elapsed)
	case e.Test == "": // a package without tests
	case e.Action == "fail":
		fmt.Fprint(s.w, withoutFraming(text))
		s.fail(name+" "+e.Test, text)
		s.broken[e.Package] = true
	case e.Action == "pass":
		s.passed++
	case e.Action == "skip":
		reason := skipReason(text)
		s.skipped[reason] = append(s.skipped[reason], name+" "+e.Test)
	}
}

// fail notes a failure.
func (s *summary) fail(name, text string) {
	s.failed++
	lines := strings.SplitAfter(withoutFraming(text), "\n")
	s.failures = append(s.failures, name+"\n"+strings.Join(lines[:min(len(lines), mostLines)], ""))
}

// mostLines is how many lines of a failure are repeated at the end.
const mostLines = 20

// framing is what go test says of the course of a test.
var framing = regexp.MustCompile(`(?m)^(=== (RUN|PAUSE|CONT|NAME) .*|FAIL|FAIL\t.*)\n`)

func withoutFraming(text string) string { return framing.ReplaceAllString(text, "") }

// logLine is where a test logged something: "    file_test.go:12: reason".
var logLine = regexp.MustCompile(`(?m)^ +[A-Za-z0-9_]+\.go:\d+: (.*)$`)

// skipReason finds the last thing that a skipped test said.
func skipReason(text string) string {
	found := logLine.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return "no reason given"
	}
	return found[len(found)-1][1]
}

// print writes the end of the report.
func (s *summary) print(took time.Duration) {
	fmt.Fprintf(s.w, "\n%d tests passed, %d failed, in %v.\n", s.passed, s.failed, took.Round(100*time.Millisecond))
	s.printSkipped()
	if len(s.failures) > 0 {
		fmt.Fprintln(s.w, "Failed:")
	}
	for _, f := range s.failures {
		fmt.Fprintln(s.w, strings.TrimSuffix(f, "\n"))
	}
}

func (s *summary) printSkipped() {
	if len(s.skipped) == 0 {
		fmt.Fprintln(s.w, "Nothing was left out.")
		return
	}
	fmt.Fprintln(s.w, "Left out:")
	var reasons []string
	for reason := range s.skipped {
		reasons = append(reasons, reason)
	}
	slices.Sort(reasons)
	for _, reason := range reasons {
		fmt.Fprintf(s.w, "  %s\n", reason)
		tests := s.skipped[reason]
		slices.Sort(tests)
		for _, t := range tests[:min(len(tests), 4)] {
			fmt.Fprintf(s.w, "    %s\n", t)
		}
		if more := len(tests) - 4; more > 0 {
			fmt.Fprintf(s.w, "    and %d more\n", more)
		}
	}
}
