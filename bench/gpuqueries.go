package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/internal/driver"
)

// queryBars are the bars of TPC-H's queries at scale factor 10, in seconds.
var queryBars = map[string]float64{"q01": 0.0015, "q06": 0.0005}

// tpchQueries measures TPC-H over the Parquet files of -tpch. The answers must
// be those of DuckDB.
func (s *gpuSuite) tpchQueries(ctx context.Context) error {
	r, err := s.runner("tpch")
	if err != nil || len(r.Queries) == 0 {
		return err
	}
	file := filepath.Join(s.tpch, "lineitem.parquet")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		fmt.Printf("TPC-H is left out: there is no %s\n", file)
		return nil
	}
	r.Runs = min(s.repeat, 3) // of DuckDB
	if err := r.Start(ctx); err != nil {
		return err
	}
	defer r.Close()
	var ours, theirs float64
	measured := 0
	for _, q := range r.Queries {
		question, err := r.Ask(ctx, q)
		if err != nil {
			s.fail(q.Name, err)
			continue
		}
		items := int64(0)
		for _, f := range question.Facts.Report().Files {
			items = max(items, f.Rows)
		}
		peer := question.Peers[0].Median
		j := &job{name: q.Name, program: measure.Sources(question.Query), output: "_", rows: items,
			unit: "items", peer: fmt.Sprintf("%s: %s", r.Report.Peers[0].Source,
				measure.FormatTime(peer)),
			check: func(res *driver.Result) error {
				return errors.Join(suite.SameRows(res.Rows("_"), question.Want), res.Err())
			}}
		if r.Report.Scale == 10 {
			j.bar = queryBars[q.Name]
		}
		for _, out := range s.measure(ctx, question.Facts, j) {
			ours, theirs = ours+out.Median, theirs+peer
			measured++
		}
	}
	if measured < len(r.All) || r.Report.Scale != 10 {
		return nil
	}
	return s.recordGPU("tpch-sf10/sum", ours, "DuckDB", theirs, "")
}
