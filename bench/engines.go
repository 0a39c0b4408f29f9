package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox"
)

// measured returns the engines that suites run on, by their names: those that
// were asked for, or all that this machine has, the slowest first.
func (c config) measured() []string {
	if c.engines != "" {
		return strings.Split(c.engines, ",")
	}
	var names []string
	for _, e := range redfox.Engines() {
		if e.Available {
			names = append(names, e.Name)
		}
	}
	slices.Reverse(names)
	return names
}

// timeRuns runs a program repeatedly over loaded facts and returns the times
// and the last answer. Where several runs are asked for, one before them is not
// counted, in which plans are optimised and code is generated.
func timeRuns(ctx context.Context, c config, engine string, repeat int, prog *redfox.Program,
	db *redfox.Database) ([]time.Duration, *redfox.Result, error) {
	opts := redfox.RunOptions{Engine: engine, Threads: c.threads, Outputs: []string{"_"}}
	var res *redfox.Result
	run := func() (err error) {
		res, err = prog.RunOn(ctx, db, opts)
		return err
	}
	if c.repeat > 1 {
		if err := run(); err != nil {
			return nil, nil, err
		}
	}
	times, err := repeatTimed(repeat, run)
	if err != nil {
		return nil, nil, err
	}
	return times, res, nil
}

// engineHeader is the header of a table with a column of times for each engine
// and the peer, and how many times as fast as the peer each engine is.
func engineHeader(engines []string, first ...any) table.Row {
	row := table.Row(first)
	for _, e := range engines {
		row = append(row, e)
	}
	row = append(row, "DuckDB")
	for _, e := range engines {
		row = append(row, "DuckDB/"+e)
	}
	return row
}

// engineCells are the cells under engineHeader; peer is 0 where it did not run.
func engineCells(ours []time.Duration, peer time.Duration) table.Row {
	var row table.Row
	for _, t := range ours {
		row = append(row, seconds(t))
	}
	if peer == 0 {
		return append(row, "not run")
	}
	row = append(row, seconds(peer))
	for _, t := range ours {
		row = append(row, fmt.Sprintf("%.1f", peer.Seconds()/t.Seconds()))
	}
	return row
}

// benchCPU measures the engines beside one another and the peer, on the
// closures and queries that tell most about them.
func benchCPU(ctx context.Context, c config) error {
	if c.only == "" {
		c.only = "q01,q03,q06,cti,SF.cedge"
	}
	if err := benchTPCH(ctx, c); err != nil {
		return err
	}
	return benchTC(ctx, c)
}
