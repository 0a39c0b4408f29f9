package main

import (
	"context"

	queries "github.com/redfoxdb/redfox/bench/suite"
)

// benchTPCH measures TPC-H.
func benchTPCH(ctx context.Context, c config) error {
	s, _ := queries.Find("tpch")
	return benchQueries(ctx, c, s, c.tpch)
}
