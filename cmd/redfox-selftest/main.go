package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/redfoxdb/redfox/internal/driver"
)

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// config is what the flags say.
type config struct {
	session driver.SessionOptions
	data    string
	tpch    string
	only    string
	random  int
	seed    uint64
	runs    int
	workers int
	large   bool
	soak    time.Duration
	every   time.Duration
	report  string
	timeout time.Duration
	keep    string
	verbose bool
}

func flags(errs io.Writer) (*flag.FlagSet, *config) {
	c := &config{}
	f := flag.NewFlagSet("redfox-selftest", flag.ContinueOnError)
	f.SetOutput(errs)
	f.StringVar(&c.session.Engine, "engine", driver.EngineAuto,
		"engine to test: gpu, cpu, go, or mixed, which then divides every table; auto is the best that the machine has")
	f.StringVar(&c.session.Device, "device", "", "number or UUID of the GPU")
	f.Int64Var(&c.session.DeviceMemory, "device-memory", 0,
		"bytes of the GPU's memory to use at most; 0 is what is free")
	f.IntVar(&c.session.Threads, "threads", 0, "threads; 0 is all cores")
	f.StringVar(&c.data, "data", "testdata", "folder of programs")
	f.StringVar(&c.tpch, "tpch", "", "folder of TPC-H Parquet files; those of testdata when empty")
	f.StringVar(&c.only, "only", "", "test the programs whose names contain this")
	f.IntVar(&c.random, "random", 0, "number of random programs")
	f.Uint64Var(&c.seed, "seed", 1, "seed of the first random program")
	f.IntVar(&c.runs, "runs", 2,
		"runs of each program, which must give the same bytes; all but the first are prepared, and every other one leaves its result on the GPU")
	f.IntVar(&c.workers, "parallel", 1, "programs that run at the same time")
	f.BoolVar(&c.large, "large", false, "test closures of millions of tuples, too")
	f.DurationVar(&c.soak, "soak", 0,
		"go on with all of it, mixed, in one process for this long, and look at memory")
	f.DurationVar(&c.every, "every", 15*time.Second, "how often a soak pauses to measure memory")
	f.StringVar(&c.report, "report", "", "file for what a soak has measured, as JSON")
	f.DurationVar(&c.timeout, "timeout", 2*time.Minute, "bound for each run")
	f.StringVar(&c.keep, "keep", "", "folder to write random programs to that fail, shrunk")
	f.BoolVar(&c.verbose, "v", false, "name each program")
	return f, c
}

// dividing are thresholds with which the GPU takes a part of the rows of any
// table, however few there are.
var dividing = driver.MixedSizes{Segment: 1, Segments: 8, Runs: 5, Always: true, Most: 5}

// execute runs the command and returns its exit code.
func execute(args []string, out, errs io.Writer) int {
	f, c := flags(errs)
	if err := f.Parse(args); err != nil || f.NArg() > 0 || c.runs < 1 || c.workers < 1 ||
		c.every <= 0 {
		if err == nil {
			fmt.Fprintln(errs,
				"redfox-selftest takes flags only, with -runs and -parallel of at least 1 and -every above 0; -help lists them")
		}
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	t, err := newTester(ctx, *c, out)
	if err != nil {
		fmt.Fprintln(errs, "redfox-selftest:", err)
		return 2
	}
	if c.soak > 0 {
		err = t.soakFor(ctx)
	} else {
		err = t.all(ctx)
	}
	if err = errors.Join(err, t.close()); err != nil {
		fmt.Fprintln(errs, "redfox-selftest:", err)
		return 2
	}
	if t.failures > 0 {
		return 1
	}
	return 0
}
