package main

import (
	"context"
	"fmt"
	"time"

	"github.com/redfoxdb/redfox/internal/ssbgen"
)

// ssbFolder has the data of the Star Schema Benchmark, unless another one is named.
const ssbFolder = "bench/data/ssb"

// generateSSB makes data of the Star Schema Benchmark.
func generateSSB(ctx context.Context, c config) error {
	start := time.Now()
	if err := ssbgen.Generate(ctx, c.out, ssbgen.Options{Scale: c.sf, Seed: c.seed, Threads: c.threads}); err != nil {
		return err
	}
	fmt.Printf("%s: the Star Schema Benchmark at scale factor %g, in %s\n", c.out, c.sf, seconds(time.Since(start)))
	return nil
}
