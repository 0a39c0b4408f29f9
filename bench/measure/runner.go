package measure

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/internal/driver"
)

// The peers of a Runner.
const (
	DuckDB      = "duckdb"       // over tables in memory
	DuckDBFiles = "duckdb-files" // over the files, once for each query
	Published   = "published"    // figures that others have published
)

// Runner measures queries of a suite over Parquet files. Its fields are set
// before the first call of a method.
type Runner struct {
	Suite   *suite.Suite
	All     []suite.Query // all queries of the suite
	Queries []suite.Query // the queries to measure
	Dir     string        // the folder of the data
	Scale   float64       // the scale factor of the data; 0 means by the numbers of rows
	Runs    int           // the number of hot runs of a query
	Compile driver.Options
	Run     driver.RunOptions
	Against []string // DuckDB, DuckDBFiles, Published
	Python  string   // the interpreter that has the module duckdb
	Off     []string // passes and steps that EachPassOff leaves out; nil: each optional pass
	Shared  bool     // load the facts of all queries at once
	// HotOnly omits cold and cached compilations and the profile.
	HotOnly  bool
	Progress func(text string)                // may be nil
	Failed   func(query suite.Query, e error) // may be nil

	// Report holds what was measured. The caller sets EngineDetail.
	Report Report

	db *driver.Database // the facts of all queries, if Shared
	// mixed is the session of all queries on the mixed engine.
	mixed *driver.Session
	peer  *suite.DuckDB // nil if DuckDB is no peer
	// otherScale is the error that the data have another scale factor.
	otherScale error
}

// IsAgainst reports whether a peer is asked for.
func (r *Runner) IsAgainst(peer string) bool { return slices.Contains(r.Against, peer) }

// MeasureAll measures all queries and completes the report. If ctx ends after
// the first query, it returns nil, and the report has the queries before.
func (r *Runner) MeasureAll(ctx context.Context) error {
	if err := r.Start(ctx); err != nil {
		return err
	}
	defer r.Close()
	for i, q := range r.Queries {
		r.show(fmt.Sprintf("%s, %d of %d", q.Name, i+1, len(r.Queries)))
		m, err := r.measure(ctx, q)
		switch {
		case ctx.Err() != nil:
			m = &Measurement{Query: q.Name, Failure: context.Cause(ctx).Error()}
		case r.otherScale != nil: // every query would fail
			return err
		case err != nil:
			m = &Measurement{Query: q.Name, Failure: err.Error()}
			if r.Failed != nil {
				r.Failed(q, err)
			}
		}
		r.Report.Queries = append(r.Report.Queries, m)
		if ctx.Err() != nil {
			break
		}
		if m.Failure != "" {
			continue
		}
		if err := r.AddPublished(m); err != nil {
			return err
		}
	}
	if ctx.Err() != nil && len(r.Report.Queries) < 2 {
		return context.Cause(ctx)
	}
	// The array of the bandwidth measurement does not count as the queries'
	// memory.
	r.Report.Peak = PeakMemory()
	if r.Run.Engine != driver.EngineGPU {
		r.Report.Bandwidth = Bandwidth(r.Run.Threads)
	}
	r.Report.Finish()
	return nil
}

// measure measures a query and its peers on the engine of the Runner.
func (r *Runner) measure(ctx context.Context, q suite.Query) (*Measurement, error) {
	question, err := r.Ask(ctx, q)
	if err != nil {
		return nil, err
	}
	return r.Measure(ctx, question)
}

// Start describes the machine in the report, starts DuckDB if it is a peer, and
// loads facts that queries share.
func (r *Runner) Start(ctx context.Context) error {
	if err := r.describe(); err != nil {
		return err
	}
	if r.IsAgainst(DuckDB) || r.IsAgainst(DuckDBFiles) {
		if err := r.startPeer(ctx); err != nil {
			return err
		}
	}
	if !r.Shared {
		return nil
	}
	if err := r.loadAll(ctx); err != nil {
		r.Close()
		return err
	}
	return nil
}

// Close ends the peer, and the session that queries share.
func (r *Runner) Close() {
	if r.peer != nil {
		_ = r.peer.Close() // all answers have arrived
	}
	if r.mixed != nil {
		_ = r.mixed.Close()
	}
}

func (r *Runner) show(text string) {
	if r.Progress != nil {
		r.Progress(text)
	}
}

// describe puts the machine and the run into the report.
func (r *Runner) describe() error {
	out := &r.Report
	out.Suite, out.Scale = r.Suite.Name, r.Scale
	out.Date = time.Now().UTC().Format(time.RFC3339)
	out.Machine = ThisMachine()
	out.Redfox = driver.Version()
	out.Engine, out.Threads, out.SharedFacts = r.Run.Engine, r.Run.Threads, r.Shared
	out.Rows = map[string]int64{}
	if r.Run.Engine != driver.EngineGPU {
		out.BandwidthBy = "half a GiB read by " + threads(r.Run.Threads)
		return nil
	}
	devices, err := driver.Devices()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(devices, func(d driver.Device) bool {
		if r.Run.Device == "" {
			return d.Usable
		}
		return r.Run.Device == d.UUID || r.Run.Device == strconv.Itoa(d.Number)
	})
	if i < 0 {
		return &driver.EnvironmentError{Message: fmt.Sprintf("there is no GPU %q that can be used",
			r.Run.Device), Help: "see redfox engines"}
	}
	out.Device, out.Driver = devices[i].Name, "CUDA "+devices[i].Driver
	out.Bandwidth, out.BandwidthBy = devices[i].Bandwidth, "as its maker states it"
	return nil
}

// threads renders a number of threads.
func threads(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", n)
}

// startPeer starts DuckDB with the tables that the queries read.
func (r *Runner) startPeer(ctx context.Context) error {
	how := "in the same run"
	if r.IsAgainst(DuckDBFiles) {
		how = "a run of each query, from the files"
	} else {
		r.show("loading DuckDB's tables")
	}
	peer, err := suite.StartDuckDB(ctx, r.Python, r.Run.Threads)
	if err != nil {
		return err
	}
	tables, err := r.Tables(ctx)
	switch {
	case err != nil:
	case r.IsAgainst(DuckDBFiles):
		err = peer.Name(r.Dir, tables...)
	default:
		err = peer.Load(r.Dir, tables...)
	}
	if err != nil {
		return errors.Join(err, peer.Close())
	}
	r.peer = peer
	r.Report.Peers = append(r.Report.Peers, Peer{Name: "DuckDB",
		Source: fmt.Sprintf("DuckDB %s, %s, %s", peer.Version, threads(r.Run.Threads), how)})
	return nil
}

// AddPublished adds published times for the scale factor of the data to a
// measurement, and their systems to the report.
func (r *Runner) AddPublished(m *Measurement) error {
	if !r.IsAgainst(Published) {
		return nil
	}
	list := suite.PublishedFor(r.Suite.Name, r.Report.Scale)
	if len(list) == 0 {
		var scales []string
		for _, s := range suite.PublishedScales(r.Suite.Name) {
			scales = append(scales, suite.FormatScale(s))
		}
		return &driver.EnvironmentError{
			Message: fmt.Sprintf("there are no published figures here for %s at scale factor %s",
				r.Suite.Title, suite.FormatScale(r.Report.Scale)),
			Help: "there are some for " + strings.Join(scales, ", ")}
	}
	query := slices.Index(suite.Names(r.All), m.Query)
	for _, p := range list {
		if !slices.ContainsFunc(r.Report.Peers, func(q Peer) bool { return q.Name == p.System }) {
			peer := Peer{Name: p.System, Source: p.Source}
			if len(p.Queries) == 0 && len(r.Queries) == len(r.All) {
				peer.Sum = p.Total() / 1e3
			}
			r.Report.Peers = append(r.Report.Peers, peer)
		}
		if ms := p.Of(query); ms > 0 {
			m.Peers = append(m.Peers, PeerTimes{Peer: p.System, Times: Times{Median: ms / 1e3}})
		}
	}
	return nil
}

// Program compiles the text of a query.
func (r *Runner) Program(ctx context.Context, q suite.Query) (*driver.Program, error) {
	return driver.Compile(ctx, Sources(q), r.Compile)
}

// Sources returns the text of a query.
func Sources(q suite.Query) (sources []driver.Source) {
	for _, f := range q.Program {
		sources = append(sources, driver.Text(f.Name, f.Text))
	}
	return sources
}

// reads lists the predicates that the queries read from files, sorted.
func (r *Runner) reads(ctx context.Context) ([]string, error) {
	var out []string
	for _, q := range r.Queries {
		prog, err := r.Program(ctx, q)
		if err != nil {
			return nil, err
		}
		preds, err := prog.Reads()
		if err != nil {
			return nil, err
		}
		out = append(out, preds...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Tables lists the tables of the suite that the queries read.
func (r *Runner) Tables(ctx context.Context) ([]string, error) {
	preds, err := r.reads(ctx)
	var out []string
	for _, pred := range preds {
		// The text of a query may hold facts of other predicates.
		table, _, _ := strings.Cut(pred, ":")
		if r.Suite.HasTable(table) && !slices.Contains(out, table) {
			out = append(out, table)
		}
	}
	slices.Sort(out)
	return out, err
}

// loadAll loads the facts of all queries at once.
func (r *Runner) loadAll(ctx context.Context) error {
	r.show("loading the facts of all queries")
	reads, err := r.reads(ctx)
	if err != nil {
		return err
	}
	first, err := r.Program(ctx, r.Queries[0])
	if err != nil {
		return err
	}
	r.db, r.Report.Load, err = r.load(ctx, first, reads)
	return err
}

// load loads the facts of a program from the data, or of certain predicates,
// and checks that the data have the scale factor. It returns the seconds that
// loading took.
func (r *Runner) load(ctx context.Context, prog *driver.Program,
	preds []string) (*driver.Database, float64, error) {
	start := time.Now()
	db, err := prog.Load(ctx, driver.NewFacts().Dir(r.Dir), driver.LoadOptions{
		Threads: r.Run.Threads, Memory: r.Run.Memory, Predicates: preds})
	if err != nil {
		return nil, 0, err
	}
	took := time.Since(start).Seconds()
	for _, f := range db.Report().Files {
		r.Report.Rows[strings.TrimSuffix(filepath.Base(f.File), ".parquet")] = f.Rows
	}
	if r.Scale != 0 {
		r.otherScale = r.Suite.CheckScale(r.Report.Rows, r.Scale, r.Dir)
		return db, took, r.otherScale
	}
	if r.Report.Scale == 0 {
		r.Report.Scale = r.Suite.ScaleOf(r.Report.Rows)
	}
	return db, took, nil
}
