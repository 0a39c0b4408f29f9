package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redfoxdb/redfox"
	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/bench/suite"
)

// threadsOf resolves the value of --threads.
func threadsOf(n int) int { return cmp.Or(n, goruntime.NumCPU()) }

// do measures the queries and reports.
func (b *bench) do(ctx context.Context) (err error) {
	defer b.progress.done()
	limitHeap(b.run.Memory)
	if err := b.begin(); err != nil {
		return err
	}
	if b.isAgainst(againstDuckDB) || b.isAgainst(againstFiles) {
		if b.peer, err = b.startPeer(ctx); err != nil {
			return err
		}
		// How the peer ends does not matter.
		defer func() { _ = b.peer.Close() }()
	}
	if b.shared || b.passes {
		if err := b.loadAll(ctx); err != nil {
			return err
		}
	}
	if b.passes {
		return b.eachPassOff(ctx)
	}
	code := exitDone
	for i, q := range b.queries {
		b.progress.show(fmt.Sprintf("%s, %d of %d", q.Name, i+1, len(b.queries)))
		m, err := b.measure(ctx, q)
		var machine *suite.Error
		switch {
		case ctx.Err() != nil: // what has been measured is reported
			m = &measure.Measurement{Query: q.Name, Failure: context.Cause(ctx).Error()}
		case errors.As(err, &machine): // the other queries would fail, too
			return err
		case err != nil:
			m = &measure.Measurement{Query: q.Name, Failure: err.Error()}
			code = max(code, b.failed(q, err))
		}
		b.report.Queries = append(b.report.Queries, m)
		if ctx.Err() != nil {
			break
		}
		if len(b.report.Queries) == 1 {
			if err := b.published(); err != nil {
				return err
			}
		}
	}
	if ctx.Err() != nil && len(b.report.Queries) < 2 {
		return context.Cause(ctx)
	}
	// The array of the bandwidth measurement does not count as the queries'
	// memory.
	b.report.Peak = measure.PeakMemory()
	if b.run.Engine != redfox.EngineGPU {
		b.report.Bandwidth = measure.Bandwidth(b.threads)
	}
	b.report.Finish()
	b.progress.done()
	b.print()
	if err := b.writeFiles(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if code != exitDone {
		return &toldError{code}
	}
	return nil
}

// failed tells that a query failed, and returns the exit code for that. The
// others are measured nevertheless.
func (b *bench) failed(q suite.Query, err error) int {
	b.progress.done()
	var wrong *suite.Mismatch
	if errors.As(err, &wrong) {
		fmt.Fprintf(b.con.err, "redfox: %s: wrong answer: %v\n", q.Name, err)
		return exitProgram
	}
	fmt.Fprintf(b.con.err, "redfox: %s failed\n", q.Name)
	return b.con.report(fromSuite(err), os.Args)
}

// begin finds out where the suite runs.
func (b *bench) begin() error {
	r := &b.report
	r.Suite, r.Scale = b.suite.Name, b.scale
	r.Date = time.Now().UTC().Format(time.RFC3339)
	r.Machine = measure.ThisMachine()
	r.Redfox = redfox.Version()
	r.Engine, r.Threads, r.SharedFacts = b.run.Engine, b.threads, b.shared
	r.Rows = map[string]int64{}
	if b.run.Engine != redfox.EngineGPU {
		r.BandwidthBy = fmt.Sprintf("half a GiB read by %s", count(int64(b.threads), "thread"))
		return nil
	}
	devices, err := redfox.Devices()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(devices, func(d redfox.Device) bool {
		if b.run.Device == "" {
			return d.Usable
		}
		return b.run.Device == d.UUID || b.run.Device == strconv.Itoa(d.Number)
	})
	if i < 0 {
		return &redfox.EnvironmentError{Message: fmt.Sprintf("there is no GPU %q that can be used",
			b.run.Device), Help: "see redfox engines"}
	}
	r.Device, r.Driver = devices[i].Name, "CUDA "+devices[i].Driver
	r.Bandwidth, r.BandwidthBy = devices[i].Bandwidth, "as its maker states it"
	return nil
}

// startPeer starts DuckDB and loads the tables that the queries read.
func (b *bench) startPeer(ctx context.Context) (*suite.DuckDB, error) {
	files := b.isAgainst(againstFiles)
	how := "in the same run"
	if files {
		how = "a run of each query, from the files"
	} else {
		b.progress.show("loading DuckDB's tables")
	}
	peer, err := suite.StartDuckDB(ctx, b.python, b.threads)
	if err != nil {
		return nil, err
	}
	tables, err := b.tables(ctx)
	switch {
	case err != nil:
	case files:
		err = peer.Name(b.dir, tables...)
	default:
		_, err = peer.Load(b.dir, tables...)
	}
	if err != nil {
		return nil, errors.Join(err, peer.Close())
	}
	b.report.Peers = append(b.report.Peers,
		measure.Peer{Name: "DuckDB",
			Source: fmt.Sprintf("DuckDB %s, %s, %s", peer.Version,
				count(int64(b.threads), "thread"), how)})
	return peer, nil
}

// published adds the figures that others have published for the scale factor of
// the data.
func (b *bench) published() error {
	if !b.isAgainst(againstPublished) {
		return nil
	}
	list := suite.PublishedFor(b.suite.Name, b.report.Scale)
	if len(list) == 0 {
		var scales []string
		for _, s := range suite.PublishedScales(b.suite.Name) {
			scales = append(scales, suite.FormatScale(s))
		}
		return &redfox.EnvironmentError{
			Message: fmt.Sprintf("there are no published figures here for %s at scale factor %s",
				b.suite.Title, suite.FormatScale(b.report.Scale)),
			Help: "there are some for " + strings.Join(scales, ", ")}
	}
	for _, p := range list {
		peer := measure.Peer{Name: p.System, Source: p.Source}
		if len(p.Queries) == 0 && len(b.queries) == len(b.all) {
			peer.Sum = p.Total() / 1e3
		}
		b.report.Peers = append(b.report.Peers, peer)
	}
	return nil
}

// loadAll reads the facts of all queries at once.
func (b *bench) loadAll(ctx context.Context) error {
	b.progress.show("loading the facts of all queries")
	var reads []string
	var first *redfox.Program
	for _, q := range b.queries {
		prog, err := b.program(ctx, q)
		if err != nil {
			return err
		}
		if first == nil {
			first = prog
		}
		preds, err := prog.Reads()
		if err != nil {
			return err
		}
		reads = append(reads, preds...)
	}
	slices.Sort(reads)
	start := time.Now()
	db, err := first.Load(ctx, redfox.NewFacts().Dir(b.dir),
		redfox.LoadOptions{Threads: b.threads, Memory: b.run.Memory,
			Predicates: slices.Compact(reads)})
	if err != nil {
		return err
	}
	b.report.Load = time.Since(start).Seconds()
	b.db = db
	return b.loaded(db)
}

// loaded notes how large the tables are that were read, and that they are of
// the scale factor.
func (b *bench) loaded(db *redfox.Database) error {
	for _, f := range db.Report().Files {
		b.report.Rows[strings.TrimSuffix(filepath.Base(f.File), ".parquet")] = f.Rows
	}
	if b.scale == 0 {
		if b.report.Scale == 0 {
			b.report.Scale = b.suite.ScaleOf(b.report.Rows)
		}
		return nil
	}
	return b.suite.CheckScale(b.report.Rows, b.scale, b.dir)
}

// cacheVariable names the folder of compiled code.
const cacheVariable = "REDFOX_CACHE"

// withCache lets f run with a cache of compiled code that is empty at first.
func withCache(f func() error) error {
	dir, err := os.MkdirTemp("", "redfox-bench")
	if err != nil {
		return cannotWrite(os.TempDir(), err)
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

// measure measures a query and the peer, and compares the answers.
func (b *bench) measure(ctx context.Context, q suite.Query) (*measure.Measurement, error) {
	m := &measure.Measurement{Query: q.Name}
	db, err := b.facts(ctx, q, m)
	if err != nil {
		return nil, err
	}
	q = b.suite.At(q, b.report.Scale)
	var want *suite.Answer
	if b.peer != nil {
		runs := b.runs
		if b.isAgainst(againstFiles) {
			runs = 0
		}
		took, answer, err := b.peer.Query(q.SQL, runs, hotLimit)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.Name, err)
		}
		want = answer
		m.Peers = append(m.Peers,
			measure.PeerTimes{Peer: "DuckDB", Times: measure.Summarise(took, answer.Processor)})
	}
	if err := withCache(func() error { return b.ours(ctx, q, db, m, want) }); err != nil {
		return nil, err
	}
	m.Peers = append(m.Peers, b.publishedTimes(q)...)
	return m, nil
}

// publishedTimes returns what others have published of a query, if that is
// asked for.
func (b *bench) publishedTimes(q suite.Query) []measure.PeerTimes {
	if !b.isAgainst(againstPublished) {
		return nil
	}
	var out []measure.PeerTimes
	i := slices.IndexFunc(b.all, func(other suite.Query) bool { return other.Name == q.Name })
	for _, p := range suite.PublishedFor(b.suite.Name, b.report.Scale) {
		if ms := p.Of(i); ms > 0 {
			out = append(out,
				measure.PeerTimes{Peer: p.System, Times: measure.Times{Median: ms / 1e3}})
		}
	}
	return out
}

// ours measures redfox on a query.
func (b *bench) ours(ctx context.Context, q suite.Query, db *redfox.Database,
	m *measure.Measurement, want *suite.Answer) error {
	goruntime.GC()
	if err := b.repeated(ctx, q, db, m, want); err != nil {
		return err
	}
	if m.Engine == redfox.EngineGo {
		return nil
	}
	// An engine of its own finds what the other one has left on disk.
	session, err := b.session()
	if err != nil {
		return err
	}
	_, res, compiled, err := b.first(ctx, session, q, db)
	if err == nil {
		m.Compile.Cached = compiled
		res.Release()
	}
	return errors.Join(err, session.Close())
}

// facts returns the facts of a query, which are loaded for it unless they are
// shared.
func (b *bench) facts(ctx context.Context, q suite.Query,
	m *measure.Measurement) (*redfox.Database, error) {
	if b.db != nil {
		return b.db, nil
	}
	prog, err := b.program(ctx, q)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	db, err := prog.Load(ctx, redfox.NewFacts().Dir(b.dir),
		redfox.LoadOptions{Threads: b.threads, Memory: b.run.Memory})
	if err != nil {
		return nil, err
	}
	m.Load = time.Since(start).Seconds()
	return db, b.loaded(db)
}

func (b *bench) session() (*redfox.Session, error) {
	return redfox.OpenSession(redfox.SessionOptions{Engine: b.run.Engine, Device: b.run.Device,
		DeviceMemory: b.run.DeviceMemory,
		Threads:      b.threads, Memory: b.run.Memory})
}

// first compiles a query and runs it once. It returns the whole time and the
// parts of it that are compilation.
func (b *bench) first(ctx context.Context, session *redfox.Session, q suite.Query,
	db *redfox.Database) (*redfox.Prepared, *redfox.Result, measure.Compilation, error) {
	start := time.Now()
	prog, err := b.program(ctx, q)
	if err != nil {
		return nil, nil, measure.Compilation{}, err
	}
	compiled := measure.Compilation{FrontEnd: time.Since(start).Seconds()}
	res, err := session.Run(ctx, prog, db, b.run)
	if err != nil {
		return nil, nil, compiled, err
	}
	compiled.Plan, compiled.Code = res.Stats.Plan.Seconds(), res.Stats.Compile.Seconds()
	if d := res.Stats.Device; d != nil {
		compiled.Driver = d.Load.Seconds()
	}
	// The plan is kept, so this is the same query again.
	prepared, err := session.Prepare(ctx, prog, db, b.run)
	return prepared, res, compiled, err
}

// repeated measures the first run of a query, those after it, and one in which
// kernels are timed.
func (b *bench) repeated(ctx context.Context, q suite.Query, db *redfox.Database,
	m *measure.Measurement, want *suite.Answer) (err error) {
	session, err := b.session()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	start := time.Now()
	prepared, res, compiled, err := b.first(ctx, session, q, db)
	if err != nil {
		return err
	}
	if err := ordered(res); err != nil {
		return err
	}
	m.Cold, m.Compile.Cold = time.Since(start).Seconds(), compiled
	m.Engine, m.Rows, m.Bytes = res.Stats.Engine, res.Len("_"), prepared.FactBytes()
	if m.Engine != b.run.Engine {
		return &redfox.EnvironmentError{Message: fmt.Sprintf("%s ran on engine %s, not on %s",
			q.Name, m.Engine, b.run.Engine)}
	}
	if want != nil {
		if err := errors.Join(suite.SameRows(res.Rows("_"), want), res.Err()); err != nil {
			return err
		}
		m.Checked = "DuckDB " + b.peer.Version
	}
	if m.Hot, err = b.hot(ctx, prepared, b.run); err != nil {
		return err
	}
	profiled := b.run
	profiled.Profile = true
	if res, err = prepared.Run(ctx, profiled); err != nil {
		return err
	}
	profile(m, res.Stats)
	return nil
}

// hot repeats a query that has run.
func (b *bench) hot(ctx context.Context, prepared *redfox.Prepared,
	opts redfox.RunOptions) (measure.Times, error) {
	var took []time.Duration
	goruntime.GC()
	begin, used := time.Now(), measure.ProcessorTime()
	for i := range b.runs {
		if i >= 3 && time.Since(begin) > hotLimit {
			break
		}
		start := time.Now()
		res, err := prepared.Run(ctx, opts)
		if err == nil {
			err = ordered(res)
		}
		if err != nil {
			return measure.Times{}, err
		}
		took = append(took, time.Since(start))
	}
	return measure.Summarise(took, measure.ProcessorTime()-used), nil
}

// ordered brings an answer into its order, as columns: what the peer's time
// has, too.
func ordered(res *redfox.Result) error {
	columns, err := res.Arrow("_")
	if err != nil {
		return err
	}
	columns.Release()
	return nil
}

// profile copies what a run says of memory and kernels.
func profile(m *measure.Measurement, stats redfox.Stats) {
	m.PeakHost = stats.Peak
	if d := stats.Device; d != nil {
		m.PeakDevice, m.Launches, m.Waits = d.Peak, d.Launches, d.Waits
	}
	for _, k := range stats.Kernels {
		m.Kernels = append(m.Kernels,
			measure.Kernel{Name: k.Kernel, Rules: k.Rules, Calls: k.Calls, Rows: k.Rows,
				Kept: k.Kept, Bytes: k.Bytes,
				Seconds: cmp.Or(k.Device, k.Time).Seconds()})
	}
}
