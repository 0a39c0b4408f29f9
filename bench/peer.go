package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	queries "github.com/redfoxdb/redfox/bench/suite"
)

// peerWork is what the peer is asked beside the queries of benchmarks:
// statements, in which {file} is the file that the work is about. Only the
// query is timed.
type peerWork struct{ load, query string }

// loadEdges makes a table of a graph's edges.
const loadEdges = `create table edge as select distinct column0 as x, column1 as y
	from read_csv('{file}', delim='\t', header=false, columns={'column0': 'INT', 'column1': 'INT'})`

var (
	peerClosure = peerWork{loadEdges, `with recursive tc(x, y) as (
		select x, y from edge union select tc.x, edge.y from tc join edge on tc.y = edge.x)
		select count(*) from tc`}
	peerTriangles = peerWork{loadEdges, `select count(*) from edge a, edge b, edge c
		where a.y = b.x and a.x = c.x and b.y = c.y`}
	peerParquet = peerWork{query: `create or replace table t as select l_orderkey, l_linenumber, l_quantity,
		l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate from '{file}/lineitem.parquet'`}
	peerTSV = peerWork{query: `create or replace table t as from read_csv('{file}', delim='\t',
		header=false, columns={'x': 'BIGINT', 'y': 'BIGINT'})`}
)

// peerResult is how long the peer took, in the median, and what it answered.
type peerResult struct {
	version string
	time    time.Duration
	rows    [][]string
}

// duckdb has the peer do some work repeatedly.
func duckdb(ctx context.Context, c config, repeat int, work peerWork,
	file string) (*peerResult, error) {
	peer, err := queries.StartDuckDB(ctx, c.python, c.threads)
	if err != nil {
		return nil, err
	}
	defer peer.Close()
	file = strings.ReplaceAll(file, "'", "''")
	if work.load != "" {
		if _, err := peer.Execute(strings.ReplaceAll(work.load, "{file}", file)); err != nil {
			return nil, err
		}
	}
	out := &peerResult{version: peer.Version}
	var times []time.Duration
	for range repeat {
		took, answer, err := peer.Query(strings.ReplaceAll(work.query, "{file}", file), 0, 0)
		if err != nil {
			return nil, fmt.Errorf("%w, asked about %s", err, file)
		}
		times, out.rows = append(times, took...), answer.Rows
	}
	out.time = median(times)
	return out, nil
}
