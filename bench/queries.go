package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox"
	"github.com/redfoxdb/redfox/bench/measure"
	queries "github.com/redfoxdb/redfox/bench/suite"
)

// benchQueries measures the queries of a suite over the Parquet files of a
// folder, on each engine and in DuckDB, which must answer the same.
func benchQueries(ctx context.Context, c config, s *queries.Suite, dir string) error {
	all, err := s.Embedded()
	if err != nil {
		return err
	}
	peer, err := startPeer(ctx, c, s, dir)
	if err != nil {
		return err
	}
	defer peer.Close()
	engines := c.measured()
	sums := make([]time.Duration, len(engines)+1) // the peer's is the last
	ratios := make([][]float64, len(engines))     // peer's time / ours
	var rows []table.Row
	for _, q := range all {
		if !c.wants(q.Name, true) {
			continue
		}
		m, err := measureQuery(ctx, c, q, dir, engines, peer)
		if err != nil {
			return fmt.Errorf("%s: %w", q.Name, err)
		}
		for i, t := range m.ours {
			sums[i] += t
			ratios[i] = append(ratios[i], m.peer.Seconds()/t.Seconds())
		}
		sums[len(engines)] += m.peer
		rows = append(rows,
			append(table.Row{q.Name, m.rows, seconds(m.load)}, engineCells(m.ours, m.peer)...))
	}
	if len(rows) == 0 {
		return nil
	}
	if len(rows) == len(all) { // a sum of some is no figure
		if err := c.record(s.Name+"/sum",
			byEngine(engines, sums[:len(engines)], sums[len(engines)]), nil); err != nil {
			return err
		}
	}
	total := table.Row{"all", "", ""}
	mean := table.Row{"geometric mean", "", ""}
	for _, t := range sums {
		total, mean = append(total, seconds(t)), append(mean, "")
	}
	for i := range engines {
		total = append(total, fmt.Sprintf("%.1f", sums[len(engines)].Seconds()/sums[i].Seconds()))
		mean = append(mean, fmt.Sprintf("%.2f", measure.GeometricMean(ratios[i])))
	}
	report(fmt.Sprintf("%s from loaded columns beside DuckDB %s, %d threads, answers equal",
		s.Title, peer.Version, c.threads),
		engineHeader(engines, "query", "rows", "load"), append(rows, total, mean))
	return nil
}

// startPeer starts DuckDB with the tables of a suite.
func startPeer(ctx context.Context, c config, s *queries.Suite,
	dir string) (*queries.DuckDB, error) {
	peer, err := queries.StartDuckDB(ctx, c.python, c.threads)
	if err != nil {
		return nil, err
	}
	var tables []string
	for _, t := range s.Tables {
		tables = append(tables, t.Name)
	}
	if _, err := peer.Load(dir, tables...); err != nil {
		return nil, errors.Join(err, peer.Close())
	}
	return peer, nil
}

// sourcesOf returns the program of a query.
func sourcesOf(q queries.Query) (sources []redfox.Source) {
	for _, f := range q.Program {
		sources = append(sources, redfox.Text(f.Name, f.Text))
	}
	return sources
}

// compileQuery checks and plans a query.
func compileQuery(ctx context.Context, q queries.Query) (*redfox.Program, error) {
	return redfox.Compile(ctx, sourcesOf(q), redfox.Options{})
}

// queryTimes are medians of one query.
type queryTimes struct {
	rows int
	load time.Duration
	ours []time.Duration // for each engine
	peer time.Duration
}

func measureQuery(ctx context.Context, c config, q queries.Query, dir string, engines []string,
	peer *queries.DuckDB) (*queryTimes, error) {
	prog, err := compileQuery(ctx, q)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	db, err := prog.Load(ctx, redfox.NewFacts().Dir(dir), redfox.LoadOptions{Threads: c.threads})
	if err != nil {
		return nil, err
	}
	out := &queryTimes{load: time.Since(start)}
	theirs, want, err := peer.Query(q.SQL, c.repeat, 0)
	if err != nil {
		return nil, err
	}
	out.peer, out.rows = median(theirs), len(want.Rows)
	for _, engine := range engines {
		times, res, err := timeRuns(ctx, c, engine, c.repeat, prog, db)
		if err == nil {
			err = queries.SameRows(res.Rows("_"), want)
		}
		if err != nil {
			return nil, fmt.Errorf("engine %s: %w", engine, err)
		}
		out.ours = append(out.ours, median(times))
	}
	return out, nil
}
