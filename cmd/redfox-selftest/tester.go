package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/reference/randprog"
)

// tester compares two engines.
type tester struct {
	config
	reference *driver.Session // of the go engine
	tested    *driver.Session
	skipped   []string
	started   time.Time

	mu       sync.Mutex
	out      io.Writer
	programs int
	runCount int
	failures int
	engines  map[string]int // that ran, and how often
}

// say prints a line.
func (t *tester) say(what ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(t.out, what...)
}

func newTester(ctx context.Context, c config, out io.Writer) (*tester, error) {
	t := &tester{config: c, out: out, engines: map[string]int{}, started: time.Now()}
	if _, err := os.ReadDir(c.data); err != nil {
		return nil, fmt.Errorf("%w; -data names the folder testdata of the source tree", err)
	}
	t.session.Engine = driver.EngineFor(t.session.Engine, t.session.Device)
	if t.session.Engine == driver.EngineAuto || t.session.Engine == "" {
		best, _, err := driver.ChooseEngine(driver.EngineAuto)
		if err != nil {
			return nil, err
		}
		t.session.Engine = best.Name
	}
	var err error
	if t.reference,
		err = driver.OpenSession(driver.SessionOptions{Engine: driver.EngineGo,
		Threads: c.session.Threads}); err != nil {
		return nil, err
	}
	if t.tested, err = driver.OpenSession(t.session); err != nil {
		return nil, err
	}
	if t.session.Engine == driver.EngineMixed {
		t.tested.SetMixed(dividing)
	}
	return t, nil
}

func (t *tester) close() error { return errors.Join(t.reference.Close(), t.tested.Close()) }

// all tests every program once.
func (t *tester) all(ctx context.Context) error {
	cases, err := t.cases()
	if err != nil {
		return err
	}
	if err := t.each(ctx, cases, time.Time{}); err != nil {
		return err
	}
	for _, name := range t.skipped {
		t.say("left out:", name)
	}
	for _, name := range slices.Sorted(maps.Keys(t.engines)) {
		if name != t.session.Engine {
			t.fail(testCase{}, fmt.Sprintf("%d runs were on engine %s", t.engines[name], name))
		}
	}
	t.say(fmt.Sprintf("%d programs, %s", t.programs, t.summary()))
	return nil
}

// each tests programs, several at a time, until all are done or it is late; the
// zero time never comes.
func (t *tester) each(ctx context.Context, cases []testCase, late time.Time) error {
	work := make(chan testCase)
	var group sync.WaitGroup
	for range t.workers {
		group.Go(func() {
			for c := range work {
				if ctx.Err() == nil && (late.IsZero() || time.Now().Before(late)) {
					t.test(ctx, c)
				}
			}
		})
	}
	for _, c := range cases {
		work <- c
	}
	close(work)
	group.Wait()
	return context.Cause(ctx)
}

// summary says what was run.
func (t *tester) summary() string {
	return fmt.Sprintf("%d runs on engine %s, %d failures, %v%s", t.runCount, t.session.Engine,
		t.failures,
		time.Since(t.started).Round(time.Second), t.deviceText())
}

// deviceText says what of the GPU's memory was in use.
func (t *tester) deviceText() string {
	use := t.tested.DeviceUse()
	if use.Peak == 0 {
		return ""
	}
	return fmt.Sprintf("; of the GPU's memory at most %d MiB, now %d MiB, %d MiB of which are facts", use.Peak>>20, use.Held>>20, use.Resident>>20)
}

// fail prints one line of a program that fails, with how to see that again.
func (t *tester) fail(c testCase, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures++
	line := strings.Join(strings.Fields(why), " ")
	if len(line) > 1000 {
		line = line[:1000] + "..."
	}
	if c.name == "" {
		fmt.Fprintln(t.out, "FAIL", line)
		return
	}
	again := fmt.Sprintf("redfox-selftest -engine %s %s", t.session.Engine, c.again)
	fmt.Fprintf(t.out, "FAIL %s: %s; see it again with: %s\n", c.name, line, again)
}

// test compares the engines on a program.
func (t *tester) test(ctx context.Context, c testCase) {
	t.mu.Lock()
	t.programs++
	t.mu.Unlock()
	if t.verbose {
		t.say("test", c.name)
	}
	why := t.compare(ctx, c)
	if why == "" || ctx.Err() != nil {
		return
	}
	t.fail(c, why)
	if c.program != nil && t.keep != "" {
		small := randprog.Shrink(c.program, func(p *randprog.Program) bool {
			return t.compare(ctx, randomCase(p)) != ""
		})
		dir := filepath.Join(t.keep, fmt.Sprintf("random-program-%d", small.Seed))
		if err := small.Write(dir); err != nil {
			t.say("cannot keep it:", err)
			return
		}
		t.say("shrunk to", dir)
	}
}

// outcome is what a run of a program gives.
type outcome struct {
	res *driver.Result
	err error
}

// failure is the text of a program's own failure; other errors are the
// engine's.
func (o outcome) failure() (text string, own bool) {
	var wrong *driver.ProgramError
	if errors.As(o.err, &wrong) {
		return wrong.Error(), true
	}
	return "", o.err == nil
}

// compare runs a program on both engines and returns in what they differ, "" if
// in nothing.
func (t *tester) compare(ctx context.Context, c testCase) string {
	prog, db, err := c.load(ctx, t.tested)
	var wrong *driver.ProgramError
	switch {
	case errors.As(err, &wrong):
		return "" // no engine sees a program or facts that are refused
	case err != nil:
		return err.Error()
	}
	defer t.tested.Forget(db)
	want := t.run(ctx, t.reference, prog, db, 0, nil)
	wantText, own := want.failure()
	if !own {
		return "the go engine fails: " + want.err.Error()
	}
	var first string
	var prepared *driver.Prepared
	for i := range t.runs {
		if i == 1 && want.err == nil {
			var err error
			if prepared, err = t.tested.Prepare(ctx, prog, db, driver.RunOptions{}); err != nil {
				return "cannot be prepared: " + err.Error()
			}
		}
		got := t.run(ctx, t.tested, prog, db, i, prepared)
		gotText, own := got.failure()
		switch {
		case !own:
			return got.err.Error()
		case gotText != wantText:
			return fmt.Sprintf("the failure is %q, not %q", gotText, wantText)
		case want.err != nil:
			continue
		}
		t.mu.Lock()
		t.engines[got.res.Stats.Engine]++
		t.mu.Unlock()
		if i == 0 {
			if why := difference(want.res, got.res); why != "" {
				return why
			}
		}
		sum, err := checksum(got.res)
		if err != nil {
			return err.Error()
		}
		if i == 0 {
			first = sum
		} else if sum != first {
			if why := difference(want.res, got.res); why != "" {
				return fmt.Sprintf("run %d: %s", i+1, why)
			}
			return fmt.Sprintf("run %d gives other bytes", i+1)
		}
		got.res.Release()
	}
	if c.program == nil || want.err != nil {
		return ""
	}
	return t.compareOne(ctx, c.program.Seed, prog, db, want.res)
}

// compareOne runs a program for one of its outputs alone, which has to be as it
// is among all.
func (t *tester) compareOne(ctx context.Context, seed uint64, prog *driver.Program,
	db *driver.Database, want *driver.Result) string {
	preds := want.Predicates()
	if len(preds) < 2 {
		return ""
	}
	one := preds[seed%uint64(len(preds))]
	got := t.runWith(ctx, t.tested, prog, db, driver.RunOptions{Outputs: []string{one}}, nil)
	if got.err != nil {
		return one + " alone: " + got.err.Error()
	}
	defer got.res.Release()
	if why := differentTuples(want, got.res, one); why != "" {
		return one + " alone differs: " + why
	}
	return ""
}

// run runs a program in a session. Odd runs leave their results on the GPU, and
// fetch them then.
func (t *tester) run(ctx context.Context, s *driver.Session, prog *driver.Program,
	db *driver.Database, number int, prepared *driver.Prepared) outcome {
	opts := driver.RunOptions{Resident: number%2 == 1, Profile: number%3 == 2}
	o := t.runWith(ctx, s, prog, db, opts, prepared)
	if o.err == nil && opts.Resident {
		o.err = o.res.Fetch(ctx)
	}
	return o
}

// runWith runs a program in a session.
func (t *tester) runWith(ctx context.Context, s *driver.Session, prog *driver.Program,
	db *driver.Database, opts driver.RunOptions, prepared *driver.Prepared) outcome {
	outer := ctx
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	if s != t.reference {
		t.mu.Lock()
		t.runCount++
		t.mu.Unlock()
	}
	var o outcome
	if prepared != nil {
		o.res, o.err = prepared.Run(ctx, opts)
	} else {
		o.res, o.err = s.Run(ctx, prog, db, opts)
	}
	if errors.Is(o.err, context.DeadlineExceeded) && outer.Err() == nil {
		o.err = fmt.Errorf("does not end within %v", t.timeout)
	}
	return o
}

// text renders a tuple for people.
func text(row []driver.Value) string {
	var b bytes.Buffer
	for i, v := range row {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, v)
	}
	return "(" + b.String() + ")"
}
