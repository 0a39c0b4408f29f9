package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redfoxdb/redfox/internal/driver"
)

// soak runs all programs, mixed, in one process: several at a time, in one
// session, in one whose GPU memory is too small for all facts, and in sessions
// of their own; with results that stay on the GPU, with runs that repeat
// earlier ones, with facts that come and go, and with runs that are cancelled
// or find no memory. Now and then everything pauses, and what is held is
// measured. Wrong answers fail the test, and so does memory that grows.
type soak struct {
	*tester
	tight *driver.Session // with little of the GPU's memory
	cases []*soakCase
	// working is held for reading by work, and for writing by who measures.
	working sync.RWMutex
	begun   atomic.Int64 // pieces of work
	// patience bounds the time after which a run is cancelled.
	patience time.Duration

	mu     sync.Mutex
	kept   []keptResult // that lie on the GPU
	counts map[string]int
}

// soakCase is a program with facts, which the sessions share.
type soakCase struct {
	testCase
	mu   sync.RWMutex // held for reading by who runs it
	prog *driver.Program
	db   *driver.Database
	want expectation
	hot  atomic.Pointer[driver.Prepared] // in the session under test; nil before
	// refused says that the program or its facts are, so that there is nothing
	// to run.
	refused bool
}

// expectation is what a program gives: the checksum of its result, or its
// failure.
type expectation struct{ sum, failure string }

// keptResult is a result on the GPU.
type keptResult struct {
	of   *soakCase
	res  *driver.Result
	want expectation
}

const (
	// tightMemory is what the small session may take of the GPU's memory, in
	// bytes.
	tightMemory = 192 << 20
	// mostKept bounds the results that stay on the GPU.
	mostKept = 12
	// A program runs one time after the other as often as mostRepeats, but for
	// no longer than repeating if it has run as often as a graph of it takes.
	mostRepeats, fewRepeats = 24, 4
	repeating               = time.Second
	// A run is cancelled within mostPatience.
	mostPatience = 20 * time.Millisecond
)

// soakWork is what there is to do with a case. why says what is wrong, ""
// nothing.
type soakWork struct {
	name string
	do   func(s *soak, ctx context.Context, c *soakCase, rng *rand.Rand) (why string)
	// alone says that nobody else may use the facts meanwhile.
	alone bool
}

// soakWorks are equally likely.
var soakWorks = []soakWork{
	{"one run", (*soak).once, false},
	{"a run in little memory", (*soak).inLittle, false},
	{"repeated runs", (*soak).again, false},
	{"a result that stays", (*soak).keeps, false},
	{"a result that stayed", (*soak).takes, false},
	{"a session of its own", (*soak).apart, false},
	{"a cancelled run", (*soak).cancelled, false},
	{"facts loaded again", (*soak).reload, true},
}

// soakFor goes on for the time of the flags.
func (t *tester) soakFor(ctx context.Context) error {
	began := time.Now()
	end := began.Add(t.config.soak)
	s := &soak{tester: t, counts: map[string]int{}, patience: mostPatience}
	cases, err := t.cases()
	if err != nil {
		return err
	}
	little := t.session
	if little.Engine == driver.EngineGPU {
		little.DeviceMemory = tightMemory
	}
	if s.tight, err = driver.OpenSession(little); err != nil {
		return err
	}
	// Once each, which compiles most of the code, against another engine.
	if err := t.each(ctx, cases, began.Add(t.config.soak/3)); err != nil {
		return errors.Join(err, s.tight.Close())
	}
	for _, c := range cases {
		s.cases = append(s.cases, &soakCase{testCase: c})
	}
	stop, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	var group sync.WaitGroup
	for w := range t.workers {
		group.Go(func() { s.work(ctx, stop, newRandom(t.seed, w)) })
	}
	m := &measurements{began: began}
	for done := false; !done; {
		select {
		case <-stop.Done():
			group.Wait()
			done = true
		case <-time.After(t.every):
		}
		s.working.Lock()
		s.release(len(s.kept))
		held := t.held(t.tested, s.tight)
		s.working.Unlock()
		m.add(held, t.runCount)
		t.say(m.line())
	}
	err = errors.Join(context.Cause(ctx), s.close())
	return errors.Join(err, t.conclude(m, s))
}

// newRandom returns the choices of one of those that work.
func newRandom(seed uint64, worker int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(worker)))
}

// conclude says what has grown, and writes the report.
func (t *tester) conclude(m *measurements, s *soak) error {
	trends := m.trends()
	for _, x := range trends {
		t.say(x)
		if x.Grows {
			t.fail(testCase{}, x.String())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.counts)) {
		t.say(fmt.Sprintf("%7d times %s", s.counts[name], name))
	}
	t.say(fmt.Sprintf("%d programs, %s", len(s.cases), t.summary()))
	if t.report == "" {
		return nil
	}
	return m.write(t.report, soakReport{
		Engine: t.session.Engine, Seconds: time.Since(t.started).Seconds(), Programs: len(s.cases),
		Parallel: t.workers,
		Runs:     t.runCount, Failures: t.failures, Passed: t.failures == 0, Work: s.counts,
		Trends: trends,
	})
}

// close gives back what the soak holds.
func (s *soak) close() error {
	s.release(len(s.kept))
	for _, c := range s.cases {
		if c.db != nil {
			s.tested.Forget(c.db)
		}
	}
	return s.tight.Close()
}

// work runs all cases once, with others, so that all facts are there, even if
// it is to stop meanwhile, and then does one thing after the other until it is
// to stop.
func (s *soak) work(ctx, stop context.Context, rng *rand.Rand) {
	for stop.Err() == nil || ctx.Err() == nil && int(s.begun.Load()) < len(s.cases) {
		c, w := s.cases[rng.IntN(len(s.cases))], soakWorks[rng.IntN(len(soakWorks))]
		if i := int(s.begun.Add(1)) - 1; i < len(s.cases) {
			c, w = s.cases[i], soakWorks[0]
		}
		s.working.RLock()
		if why := s.do(ctx, c, w, rng); why != "" && ctx.Err() == nil {
			s.fail(c.testCase, w.name+": "+why)
		}
		s.working.RUnlock()
	}
}

// do does something with a case, unless others keep it from that.
func (s *soak) do(ctx context.Context, c *soakCase, w soakWork, rng *rand.Rand) (why string) {
	if c.mu.TryLock() {
		why = s.open(ctx, c)
		if why != "" || c.refused || w.alone {
			defer c.mu.Unlock()
			if why != "" || c.refused {
				return why
			}
			s.count(w.name)
			return w.do(s, ctx, c, rng)
		}
		c.mu.Unlock()
	}
	if w.alone || !c.mu.TryRLock() {
		return ""
	}
	defer c.mu.RUnlock()
	if c.prog == nil { // it could not be opened, which has been said
		return ""
	}
	s.count(w.name)
	return w.do(s, ctx, c, rng)
}

func (s *soak) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
}

// open loads a case, if it is not, and finds out what it is to give.
func (s *soak) open(ctx context.Context, c *soakCase) (why string) {
	if c.prog != nil || c.refused {
		return ""
	}
	prog, db, err := c.load(ctx, s.tested)
	var wrong *driver.ProgramError
	switch {
	case errors.As(err, &wrong):
		c.refused = true
		return ""
	case err != nil:
		return err.Error()
	}
	if c.want, why = s.expect(s.run(ctx, s.reference, prog, db, 0, nil)); why != "" {
		return "the go engine: " + why
	}
	c.prog, c.db = prog, db
	return ""
}

// expect returns what an outcome is, or what is wrong with it.
func (s *soak) expect(o outcome) (got expectation, why string) {
	text, own := o.failure()
	switch {
	case !own:
		return got, o.err.Error()
	case o.err != nil:
		return expectation{failure: text}, ""
	}
	sum, err := checksum(o.res)
	if err != nil {
		return got, err.Error()
	}
	return expectation{sum: sum}, ""
}

// check returns in what an outcome differs from what is wanted, and gives it
// back.
func (s *soak) check(o outcome, want expectation) (why string) {
	if o.err == nil {
		defer o.res.Release()
		if ran := o.res.Stats.Engine; ran != s.session.Engine {
			return "it ran on engine " + ran
		}
	}
	got, why := s.expect(o)
	switch {
	case why != "":
		return why
	case got.failure != want.failure:
		return fmt.Sprintf("the failure is %q, not %q", got.failure, want.failure)
	case got.sum != want.sum:
		return "the result has other bytes than that of the go engine"
	}
	return ""
}

// checkLimited is check for a run that may find no memory.
func (s *soak) checkLimited(o outcome, want expectation) (why string) {
	var environment *driver.EnvironmentError
	if errors.As(o.err, &environment) && driver.IsOutOfMemory(o.err) {
		s.count("found no memory")
		return ""
	}
	return s.check(o, want)
}

// once runs a program in the session.
func (s *soak) once(ctx context.Context, c *soakCase, rng *rand.Rand) string {
	return s.check(s.run(ctx, s.tested, c.prog, c.db, rng.IntN(6), nil), c.want)
}

// inLittle runs it where other facts have to leave.
func (s *soak) inLittle(ctx context.Context, c *soakCase, rng *rand.Rand) string {
	return s.checkLimited(s.run(ctx, s.tight, c.prog, c.db, rng.IntN(6), nil), c.want)
}

// again runs it many times, which become one graph.
func (s *soak) again(ctx context.Context, c *soakCase, rng *rand.Rand) string {
	if c.want.failure != "" {
		return s.once(ctx, c, rng)
	}
	hot := c.hot.Load()
	if hot == nil {
		var err error
		if hot, err = s.tested.Prepare(ctx, c.prog, c.db, driver.RunOptions{}); err != nil {
			return "cannot be prepared: " + err.Error()
		}
		c.hot.Store(hot)
	}
	began := time.Now()
	for i := range mostRepeats {
		if i >= fewRepeats && time.Since(began) > repeating {
			break
		}
		if why := s.check(s.run(ctx, s.tested, c.prog, c.db, 0, hot), c.want); why != "" {
			return fmt.Sprintf("run %d: %s", i+1, why)
		}
	}
	return ""
}

// keeps leaves a result on the GPU.
func (s *soak) keeps(ctx context.Context, c *soakCase, rng *rand.Rand) string {
	o := s.runWith(ctx, s.tested, c.prog, c.db, driver.RunOptions{Resident: true}, nil)
	if o.err != nil {
		return s.check(o, c.want)
	}
	s.mu.Lock()
	s.kept = append(s.kept, keptResult{c, o.res, c.want})
	over := len(s.kept) - mostKept
	s.mu.Unlock()
	s.release(over)
	return ""
}

// release gives back so many results unseen, by hand or by the collector.
func (s *soak) release(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range max(n, 0) {
		if i%2 == 0 {
			s.kept[0].res.Release()
		}
		s.kept = slices.Delete(s.kept, 0, 1)
	}
}

// takes looks at a result that was left on the GPU, of any program.
func (s *soak) takes(ctx context.Context, c *soakCase, rng *rand.Rand) string {
	s.mu.Lock()
	if len(s.kept) == 0 {
		s.mu.Unlock()
		return s.keeps(ctx, c, rng)
	}
	at := rng.IntN(len(s.kept))
	k := s.kept[at]
	s.kept = slices.Delete(s.kept, at, at+1)
	s.mu.Unlock()
	if why := s.check(outcome{k.res, k.res.Fetch(ctx)}, k.want); why != "" {
		return k.of.name + ", which was kept: " + why
	}
	return ""
}

// apart runs it in a session that is opened for it and closed, with a result
// still there.
func (s *soak) apart(ctx context.Context, c *soakCase, rng *rand.Rand) string {
	opts := s.session
	if opts.Engine == driver.EngineGPU {
		opts.DeviceMemory = []int64{0, 1 << 20, 16 << 20, 256 << 20}[rng.IntN(4)]
	}
	own, err := driver.OpenSession(opts)
	if err != nil {
		return err.Error()
	}
	why := ""
	for i := range 1 + rng.IntN(3) {
		if why = s.checkLimited(s.run(ctx, own, c.prog, c.db, i, nil), c.want); why != "" {
			break
		}
	}
	left := s.runWith(ctx, own, c.prog, c.db, driver.RunOptions{Resident: true}, nil)
	if err := own.Close(); err != nil && why == "" {
		why = "closing: " + err.Error()
	}
	if left.err == nil {
		left.res.Release()
	}
	return why
}

// cancelled runs it with a context that ends soon, at times too soon for it.
func (s *soak) cancelled(ctx context.Context, c *soakCase, rng *rand.Rand) string {
	short, cancel := context.WithTimeout(ctx, time.Duration(rng.Int64N(int64(s.patience))))
	defer cancel()
	o := s.runWith(short, s.tested, c.prog, c.db, driver.RunOptions{Resident: rng.IntN(2) == 0},
		nil)
	if short.Err() != nil && errors.Is(o.err, context.DeadlineExceeded) {
		s.count("was cancelled")
		return ""
	}
	if o.err == nil {
		o.err = o.res.Fetch(ctx)
	}
	return s.check(o, c.want)
}

// reload runs it over facts that are loaded again, and lets the session forget
// the others.
func (s *soak) reload(ctx context.Context, c *soakCase, rng *rand.Rand) string {
	prog, db, err := c.load(ctx, s.tested)
	if err != nil {
		return err.Error()
	}
	old := c.db
	c.prog, c.db = prog, db
	c.hot.Store(nil)
	if rng.IntN(2) == 0 { // or else the collector finds them
		s.tested.Forget(old)
		s.tight.Forget(old)
	}
	return s.once(ctx, c, rng)
}
