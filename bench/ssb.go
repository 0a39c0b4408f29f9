package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	queries "github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/internal/ssbgen"
)

// ssbFolder has the data of the Star Schema Benchmark, unless another one is
// named.
const ssbFolder = "bench/data/ssb"

// benchSSB measures the Star Schema Benchmark. Where there are no data in the
// folder that goes without saying, it makes those of scale factor 1.
func benchSSB(ctx context.Context, c config) error {
	if _, err := os.Stat(filepath.Join(c.ssb, "lineorder.parquet")); errors.Is(err,
		fs.ErrNotExist) && c.ssb == ssbFolder {
		c.out, c.sf = c.ssb, 1
		if err := generateSSB(ctx, c); err != nil {
			return err
		}
	}
	s, _ := queries.Find("ssb")
	return benchQueries(ctx, c, s, c.ssb)
}

// generateSSB makes data of the Star Schema Benchmark.
func generateSSB(ctx context.Context, c config) error {
	start := time.Now()
	if err := ssbgen.Generate(ctx, c.out,
		ssbgen.Options{Scale: c.sf, Seed: c.seed, Threads: c.threads}); err != nil {
		return err
	}
	fmt.Printf("%s: the Star Schema Benchmark at scale factor %g, in %s\n", c.out, c.sf,
		seconds(time.Since(start)))
	return nil
}
