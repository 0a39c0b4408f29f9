package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox"
)

// benchLatency times the way from LogiQL to PTX: with nothing compiled before, and
// with the kernels in the cache on disk. The first compilation of a process opens
// libLLVM and stands apart.
func benchLatency(ctx context.Context, c config) error {
	old, had := os.LookupEnv("REDFOX_CACHE")
	defer func() {
		if had {
			os.Setenv("REDFOX_CACHE", old)
		} else {
			os.Unsetenv("REDFOX_CACHE")
		}
	}()
	var rows []table.Row
	for _, q := range []string{"q1", "q3", "q6"} {
		if !c.wants(q, true) {
			continue
		}
		// Facts tell the optimiser which predicates are columns of one table.
		prog, err := compile(ctx, testFile("tpch", q+".logic"))
		if err != nil {
			return err
		}
		db, err := prog.Load(ctx, redfox.NewFacts().Dir(c.tpch), redfox.LoadOptions{Threads: c.threads})
		if err != nil {
			return err
		}
		for _, facts := range []*redfox.Database{nil, db} {
			row, err := measureLatency(ctx, c, q, facts)
			if err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
			rows = append(rows, row)
		}
	}
	report("from LogiQL to PTX for sm_90, in one process",
		table.Row{"query", "planned for", "bytes of PTX", "first", "cold", "cached"}, rows)
	return nil
}

// measureLatency compiles a query repeatedly, each time with a new cache and then
// again with what is in it.
func measureLatency(ctx context.Context, c config, query string, facts *redfox.Database) (table.Row, error) {
	var first time.Duration
	var size int64
	var cold, cached []time.Duration
	for i := range c.repeat + 1 {
		dir, err := os.MkdirTemp("", "redfox-bench")
		if err != nil {
			return nil, err
		}
		os.Setenv("REDFOX_CACHE", dir)
		t, n, err := emitPTX(ctx, query, facts)
		var u time.Duration
		var m int64
		if err == nil {
			u, m, err = emitPTX(ctx, query, facts)
		}
		os.RemoveAll(dir)
		switch {
		case err != nil:
			return nil, err
		case n != m:
			return nil, fmt.Errorf("%d bytes of PTX, and %d from the cache", n, m)
		case i == 0:
			first, size = t, n
			continue
		}
		cold, cached = append(cold, t), append(cached, u)
	}
	planned := "any facts"
	if facts != nil {
		planned = "these facts"
	}
	return table.Row{query, planned, size, milliseconds(first), milliseconds(median(cold)), milliseconds(median(cached))}, nil
}

// emitPTX compiles a query of TPC-H and returns the time and the length of the PTX.
func emitPTX(ctx context.Context, query string, facts *redfox.Database) (time.Duration, int64, error) {
	start := time.Now()
	prog, err := compile(ctx, testFile("tpch", query+".logic"))
	if err != nil {
		return 0, 0, err
	}
	var size counter
	err = prog.Emit(&size, redfox.StagePTX, redfox.EmitOptions{Facts: facts, Target: "gpu:sm_90"})
	return time.Since(start), int64(size), err
}

// counter counts what is written to it.
type counter int64

var _ io.Writer = (*counter)(nil)

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// milliseconds renders a short time.
func milliseconds(d time.Duration) string { return fmt.Sprintf("%.3g ms", d.Seconds()*1e3) }
