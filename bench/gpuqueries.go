package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/redfoxdb/redfox"
	queries "github.com/redfoxdb/redfox/bench/suite"
)

// tpchQueries measures TPC-H over the Parquet files of -tpch, beside DuckDB's
// answers and times. The bars are those of scale factor 10.
func (s *gpuSuite) tpchQueries(ctx context.Context) error {
	benchmark, _ := queries.Find("tpch")
	all, err := benchmark.Embedded()
	if err != nil {
		return err
	}
	var names []string
	for _, q := range all {
		names = append(names, q.Name)
	}
	if !s.wantsAny(names) {
		return nil
	}
	if _, err := os.Stat(filepath.Join(s.tpch, "lineitem.parquet")); errors.Is(err,
		fs.ErrNotExist) {
		fmt.Printf("TPC-H is left out: there is no %s\n", filepath.Join(s.tpch, "lineitem.parquet"))
		return nil
	}
	bars := map[string]time.Duration{"q01": 1500 * time.Microsecond, "q06": 500 * time.Microsecond}
	peer, err := startPeer(ctx, s.config, benchmark, s.tpch)
	if err != nil {
		return err
	}
	defer peer.Close()
	var ours, duckdb time.Duration
	measured, scale10 := 0, false
	for _, q := range all {
		if !s.wants(q.Name, true) {
			continue
		}
		prog, err := compileQuery(ctx, q)
		if err != nil {
			return err
		}
		db, err := prog.Load(ctx, redfox.NewFacts().Dir(s.tpch),
			redfox.LoadOptions{Threads: s.threads})
		if err != nil {
			return err
		}
		theirs, want, err := peer.Query(q.SQL, min(s.repeat, 3), 0)
		if err != nil {
			s.fail(q.Name, err)
			continue
		}
		items := int64(0)
		for _, f := range db.Report().Files {
			items = max(items, f.Rows)
		}
		j := &job{
			name: q.Name, program: sourcesOf(q), output: "_", rows: items, unit: "items",
			check: func(res *redfox.Result) error { return queries.SameRows(res.Rows("_"), want) },
			peer: fmt.Sprintf("DuckDB %s, %d threads, this machine: %s ms", peer.Version,
				s.threads, milli(median(theirs).Seconds())),
		}
		if items > 55e6 && items < 65e6 {
			j.bar, scale10 = bars[q.Name], true
		}
		if out := s.measure(ctx, db, j); len(out) == 1 {
			ours, duckdb = ours+fromSeconds(out[0].Median), duckdb+median(theirs)
			measured++
		}
	}
	if measured < len(all) || !scale10 || s.engine != "gpu" {
		return nil
	}
	return s.record("tpch-sf10/sum", map[string]time.Duration{"gpu": ours, "DuckDB": duckdb}, nil)
}

// fromSeconds returns seconds as a duration.
func fromSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
