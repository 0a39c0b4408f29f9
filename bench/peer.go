package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/bench/suite"
)

// peerWork is SQL for the peer. {file} stands for the file that the work reads.
// Only query is timed.
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
	peerCliques = peerWork{loadEdges, `with pair as materialized (
		select x, y from edge where x < y union select y, x from edge where y < x)
		select count(*) from pair a, pair b, pair c, pair d, pair e, pair f
		where a.x = b.x and a.y = c.x and b.y = c.y
		and d.x = a.x and e.x = a.y and f.x = b.y and d.y = e.y and d.y = f.y`}
	peerParquet = peerWork{query: `create or replace table t as select l_orderkey, l_linenumber, l_quantity,
		l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate from '{file}/lineitem.parquet'`}
	peerTSV = peerWork{query: `create or replace table t as from read_csv('{file}', delim='\t',
		header=false, columns={'x': 'BIGINT', 'y': 'BIGINT'})`}
)

// askPeer measures n runs of the work on DuckDB and stores the median in an
// entry. The answer must be count, unless that is negative.
func (e *entry) askPeer(ctx context.Context, c config, n int, w peerWork, file string,
	count int64) error {
	peer, err := suite.StartDuckDB(ctx, c.python, c.threads)
	if err != nil {
		return err
	}
	defer peer.Close()
	name := strings.NewReplacer("{file}", strings.ReplaceAll(file, "'", "''"))
	if w.load != "" {
		if err := peer.Execute(name.Replace(w.load)); err != nil {
			return err
		}
	}
	var seconds []float64
	for range n {
		took, answer, err := peer.Query(name.Replace(w.query), 0, 0)
		if err != nil {
			return fmt.Errorf("%w, asked about %s", err, file)
		}
		if got := answer.Rows[0][0]; count >= 0 && got != fmt.Sprint(count) {
			return fmt.Errorf("DuckDB counts %s, not %d", got, count)
		}
		seconds = append(seconds, took[0].Seconds())
	}
	e.peer, e.peerName = measure.Median(seconds), "DuckDB "+peer.Version
	return nil
}
