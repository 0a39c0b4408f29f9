package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"time"

	"github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/internal/driver"
)

// hotLimit bounds the time of the repetitions of a query. There are at least
// three.
const hotLimit = 20 * time.Second

// Question is a query at the scale factor of the data, with its facts and the
// answer of DuckDB.
type Question struct {
	suite.Query
	Facts *driver.Database
	Load  float64       // seconds; 0 if the facts were loaded with others
	Want  *suite.Answer // nil if DuckDB is no peer
	Peers []PeerTimes
}

// Ask loads the facts of a query and puts the query to DuckDB.
func (r *Runner) Ask(ctx context.Context, q suite.Query) (*Question, error) {
	out := &Question{Facts: r.db}
	if r.db == nil {
		prog, err := r.Program(ctx, q)
		if err != nil {
			return nil, err
		}
		if out.Facts, out.Load, err = r.load(ctx, prog, nil); err != nil {
			return nil, err
		}
	}
	out.Query = r.Suite.At(q, r.Report.Scale)
	if r.peer == nil {
		return out, nil
	}
	runs := r.Runs
	if r.IsAgainst(DuckDBFiles) {
		runs = 0
	}
	took, answer, err := r.peer.Query(out.SQL, runs, hotLimit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", q.Name, err)
	}
	out.Want = answer
	out.Peers = []PeerTimes{{Peer: "DuckDB", Times: Summarise(took, answer.Processor)}}
	return out, nil
}

// Measure measures redfox on a question, and compares its answer with the one
// of DuckDB.
func (r *Runner) Measure(ctx context.Context, q *Question) (*Measurement, error) {
	m := &Measurement{Query: q.Name, Load: q.Load, Peers: q.Peers}
	goruntime.GC()
	if r.HotOnly || r.Run.Engine == driver.EngineMixed { // whose session outlives the query
		return m, r.repeated(ctx, q, m)
	}
	return m, WithCache(func() error {
		if err := r.repeated(ctx, q, m); err != nil || m.Engine == driver.EngineGo {
			return err
		}
		// An engine of its own finds the code that the other one left on disk.
		session, err := r.session()
		if err != nil {
			return err
		}
		_, res, compiled, err := r.first(ctx, session, q)
		if err == nil {
			m.Compile.Cached = compiled
			res.Release()
		}
		return errors.Join(err, session.Close())
	})
}

// cacheVariable names the folder of compiled code.
const cacheVariable = "REDFOX_CACHE"

// WithCache calls f with a cache of compiled code that is empty at first.
func WithCache(f func() error) error {
	dir, err := os.MkdirTemp("", "redfox-bench")
	if err != nil {
		return &driver.EnvironmentError{Message: "cannot make a folder for compiled code: " +
			err.Error(), Help: "name a folder that can be written with TMPDIR", Err: err}
	}
	defer os.RemoveAll(dir)
	old, was := os.LookupEnv(cacheVariable)
	os.Setenv(cacheVariable, dir)
	defer func() {
		if was {
			os.Setenv(cacheVariable, old)
		} else {
			os.Unsetenv(cacheVariable)
		}
	}()
	return f()
}

func (r *Runner) session() (*driver.Session, error) {
	return driver.OpenSession(driver.SessionOptions{Engine: r.Run.Engine, Device: r.Run.Device,
		DeviceMemory: r.Run.DeviceMemory, Threads: r.Run.Threads, Memory: r.Run.Memory})
}

// sessionOf returns the session of a query. On the mixed engine, all queries
// share a session, because the engine chooses what a GPU holds for all of them.
func (r *Runner) sessionOf() (*driver.Session, error) {
	if r.Run.Engine != driver.EngineMixed {
		return r.session()
	}
	var err error
	if r.mixed == nil {
		r.mixed, err = r.session()
	}
	return r.mixed, err
}

// first compiles a query and runs it once. It also returns the phases of the
// compilation.
func (r *Runner) first(ctx context.Context, session *driver.Session,
	q *Question) (*driver.Prepared, *driver.Result, Compilation, error) {
	start := time.Now()
	prog, err := r.Program(ctx, q.Query)
	if err != nil {
		return nil, nil, Compilation{}, err
	}
	compiled := Compilation{FrontEnd: time.Since(start).Seconds()}
	opts := r.Run
	opts.NoTiers = true // the hot runs have native code, so this one makes it
	res, err := session.Run(ctx, prog, q.Facts, opts)
	if err != nil {
		return nil, nil, compiled, err
	}
	compiled.Plan, compiled.Code = res.Stats.Plan.Seconds(), res.Stats.Compile.Seconds()
	if d := res.Stats.Device; d != nil {
		compiled.Driver = d.Load.Seconds()
	}
	// The session keeps the plan, so this prepares the same query.
	prepared, err := session.Prepare(ctx, prog, q.Facts, r.Run)
	return prepared, res, compiled, err
}

// repeated measures the first run of a query, the hot runs, and a run in which
// kernels are timed.
func (r *Runner) repeated(ctx context.Context, q *Question, m *Measurement) (err error) {
	session, err := r.sessionOf()
	if err != nil {
		return err
	}
	if session != r.mixed {
		defer func() { err = errors.Join(err, session.Close()) }()
	}
	start := time.Now()
	prepared, res, compiled, err := r.first(ctx, session, q)
	if err != nil {
		return err
	}
	if err := ordered(res); err != nil {
		return err
	}
	m.Cold, m.Compile.Cold = time.Since(start).Seconds(), compiled
	m.Engine, m.Rows, m.Bytes = res.Stats.Engine, res.Len("_"), prepared.FactBytes()
	if m.Engine != r.Run.Engine {
		return &driver.EnvironmentError{Message: fmt.Sprintf("%s ran on engine %s, not on %s",
			q.Name, m.Engine, r.Run.Engine)}
	}
	if q.Want != nil {
		if err := errors.Join(suite.SameRows(res.Rows("_"), q.Want), res.Err()); err != nil {
			return err
		}
		m.Checked = "DuckDB " + r.peer.Version
	}
	if m.Hot, err = hot(ctx, prepared, r.Run, r.Runs); err != nil || r.HotOnly {
		return err
	}
	profiled := r.Run
	profiled.Profile = true
	if res, err = prepared.Run(ctx, profiled); err != nil {
		return err
	}
	m.profile(res.Stats)
	return nil
}

// hot times repetitions of a query that has run.
func hot(ctx context.Context, prepared *driver.Prepared, opts driver.RunOptions,
	runs int) (Times, error) {
	var took []time.Duration
	goruntime.GC()
	begin, used := time.Now(), ProcessorTime()
	for i := range runs {
		if i >= 3 && time.Since(begin) > hotLimit {
			break
		}
		start := time.Now()
		res, err := prepared.Run(ctx, opts)
		if err == nil {
			err = ordered(res)
		}
		if err != nil {
			return Times{}, err
		}
		took = append(took, time.Since(start))
	}
	return Summarise(took, ProcessorTime()-used), nil
}

// ordered puts the columns of an answer in its order, which the times of the
// peer include.
func ordered(res *driver.Result) error {
	columns, err := res.Arrow("_")
	if err != nil {
		return err
	}
	columns.Release()
	return nil
}

// profile copies memory and kernels from the statistics of a run.
func (m *Measurement) profile(stats driver.Stats) {
	m.PeakHost = stats.Peak
	if d := stats.Device; d != nil {
		m.PeakDevice, m.Launches, m.Waits = d.Peak, d.Launches, d.Waits
	}
	m.Kernels = Kernels(stats)
}

// Kernels returns the kernels of a run in which kernels were timed.
func Kernels(stats driver.Stats) (out []Kernel) {
	for _, k := range stats.Kernels {
		out = append(out, Kernel{Name: k.Kernel, Rules: k.Rules, Calls: k.Calls, Rows: k.Rows,
			Kept: k.Kept, Bytes: k.Bytes, Seconds: cmp.Or(k.Device, k.Time).Seconds()})
	}
	return out
}
