package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// event is one line of `go test -json`, as `go doc test2json` describes it.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build output
	FailedBuild string // the ImportPath of what did not build
	Test        string
	Output      string
	Elapsed     float64
}

// unfinished is a test, or a package outside its tests, that has not ended yet.
type unfinished struct {
	test   string // empty for the package
	paused bool
	text   bytes.Buffer
}

// timing is how long the tests of a package took.
type timing struct {
	name    string
	seconds float64
}

// summary collects what the end of the report needs.
type summary struct {
	w       io.Writer
	open    map[string][]*unfinished    // by package, in the order of their first event
	builds  map[string]*strings.Builder // output of builds, by import path
	passed  int
	failed  int
	broken  map[string]bool     // packages with a failed test
	skipped map[string][]string // tests by reason
	timings []timing
	// failures has the names of what failed and how its text begins.
	failures []string
}

func newSummary(w io.Writer) *summary {
	return &summary{
		w:      w,
		open:   map[string][]*unfinished{},
		builds: map[string]*strings.Builder{},
		broken: map[string]bool{}, skipped: map[string][]string{},
	}
}

// read takes events until the run ends. It passes on lines that are no events.
func (s *summary) read(r io.Reader) error {
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
	for _, pkg := range slices.Sorted(maps.Keys(s.open)) { // go test itself ended
		s.finishPackage(event{Action: "fail", Package: pkg})
	}
	return lines.Err()
}

func (s *summary) take(e event) {
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.w, e.Output)
		if s.builds[e.ImportPath] == nil {
			s.builds[e.ImportPath] = &strings.Builder{}
		}
		s.builds[e.ImportPath].WriteString(e.Output)
	case "output":
		s.find(e).text.WriteString(e.Output)
	case "run", "cont":
		s.find(e).paused = false
	case "pause":
		s.find(e).paused = true
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.finishPackage(e)
		} else {
			s.finishTest(e)
		}
	}
}

// find returns what an event is about.
func (s *summary) find(e event) *unfinished {
	for _, u := range slices.Backward(s.open[e.Package]) {
		if u.test == e.Test {
			return u
		}
	}
	u := &unfinished{test: e.Test}
	s.open[e.Package] = append(s.open[e.Package], u)
	return u
}

func (s *summary) finishTest(e event) {
	u := s.find(e)
	s.open[e.Package] = slices.DeleteFunc(s.open[e.Package], func(o *unfinished) bool {
		return o == u
	})
	name, text := shortName(e.Package)+" "+e.Test, u.text.String()
	switch e.Action {
	case "fail":
		fmt.Fprint(s.w, withoutFraming(text))
		s.fail(name, text)
		s.broken[e.Package] = true
	case "pass":
		s.passed++
		for _, m := range leftOut.FindAllStringSubmatch(text, -1) {
			s.skipped[m[1]] = append(s.skipped[m[1]], name)
		}
	case "skip":
		reason := skipReason(text)
		s.skipped[reason] = append(s.skipped[reason], name)
	}
}

// finishPackage reports a package. Tests that are still open have no event of
// their own: the process ended before they did, and a panic, the stacks of a
// timeout or a signal are in the text of one of them.
func (s *summary) finishPackage(e event) {
	open := s.open[e.Package]
	delete(s.open, e.Package)
	name := shortName(e.Package)
	switch e.Action {
	case "fail":
		text := ""
		for _, u := range open {
			text += withoutFraming(u.text.String())
		}
		ended := ""
		if running := running(open); len(running) > 0 {
			ended = ": the process ended while " + strings.Join(running, ", ") + " ran"
		}
		fmt.Fprintf(s.w, "%sFAIL  %s  %.1fs%s\n", text, name, e.Elapsed, ended)
		if b := s.builds[e.FailedBuild]; b != nil {
			text = b.String() + text
		}
		if ended != "" || !s.broken[e.Package] {
			s.fail(name+ended, text)
		}
	case "pass":
		fmt.Fprintf(s.w, "ok    %s  %.1fs\n", name, e.Elapsed)
	default: // a package without tests
		return
	}
	s.timings = append(s.timings, timing{name, e.Elapsed})
}

// running returns the names of tests that ran when their process ended. A test
// whose subtest ran is not among them.
func running(open []*unfinished) (names []string) {
	for _, u := range open {
		inside := func(o *unfinished) bool {
			return !o.paused && strings.HasPrefix(o.test, u.test+"/")
		}
		if u.test != "" && !u.paused && !slices.ContainsFunc(open, inside) {
			names = append(names, u.test)
		}
	}
	return names
}

// shortName is a package's path inside of this module.
func shortName(pkg string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(pkg, "github.com/redfoxdb/redfox"), "/")
	if name == "" {
		return "."
	}
	return name
}

// fail notes a failure.
func (s *summary) fail(name, text string) {
	s.failed++
	s.failures = append(s.failures, name+"\n"+gist(withoutFraming(text)))
}

// mostLines is how many lines of a failure are repeated at the end.
const mostLines = 20

// fatal is how the report of a process that cannot go on begins.
var fatal = regexp.MustCompile(`(?m)^(panic: |fatal error: |signal: |SIG[A-Z]+: |WARNING: DATA RACE)`)

// gist returns the first lines of a failure, from a panic on if there is one.
func gist(text string) string {
	if at := fatal.FindStringIndex(text); at != nil {
		text = text[at[0]:]
	}
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[:min(len(lines), mostLines)], "")
}

// framing is what go test prints of the course of a test.
var framing = regexp.MustCompile(`(?m)^(=== (RUN|PAUSE|CONT|NAME) .*|FAIL|FAIL\t.*)\n`)

func withoutFraming(text string) string { return framing.ReplaceAllString(text, "") }

// logLine is where a test logged something: "    file_test.go:12: reason".
var logLine = regexp.MustCompile(`(?m)^ +[A-Za-z0-9_]+\.go:\d+: (.*)$`)

// leftOut is where a test logged that it ran fewer cases than it has.
var leftOut = regexp.MustCompile(`(?m)^ +[A-Za-z0-9_]+\.go:\d+: left out: (.*)$`)

// skipReason finds the last line that a skipped test logged.
func skipReason(text string) string {
	found := logLine.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return "no reason given"
	}
	return found[len(found)-1][1]
}

// print writes the end of the report.
func (s *summary) print(wall, processor time.Duration) {
	s.printSlowest()
	s.printSkipped()
	if len(s.failures) > 0 {
		fmt.Fprintln(s.w, "Failed:")
	}
	for _, f := range s.failures {
		fmt.Fprintln(s.w, strings.TrimSuffix(f, "\n"))
	}
	fmt.Fprintf(s.w, "%d tests passed, %d failed, in %v; %v of processor time.\n", s.passed,
		s.failed,
		wall.Round(100*time.Millisecond), processor.Round(100*time.Millisecond))
}

// The slowest packages are listed: at most mostTimings, each of at least
// leastTiming seconds.
const (
	mostTimings = 15
	leastTiming = 1.0
)

func (s *summary) printSlowest() {
	slices.SortStableFunc(s.timings, func(a, b timing) int {
		switch {
		case a.seconds > b.seconds:
			return -1
		case a.seconds < b.seconds:
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	fmt.Fprintln(s.w)
	for i, t := range s.timings[:min(len(s.timings), mostTimings)] {
		if t.seconds < leastTiming {
			break
		}
		if i == 0 {
			fmt.Fprintln(s.w, "Slowest packages:")
		}
		fmt.Fprintf(s.w, "%8.1fs  %s\n", t.seconds, t.name)
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
