package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// peerResult is what duckdb_peer.py prints.
type peerResult struct {
	Version string
	Load    float64
	Run     []float64
	Rows    [][]string
}

// runTime returns the median time of the peer's repetitions.
func (r *peerResult) runTime() time.Duration {
	var times []time.Duration
	for _, s := range r.Run {
		times = append(times, time.Duration(s*float64(time.Second)))
	}
	return median(times)
}

// duckdb runs a workload of duckdb_peer.py.
func duckdb(ctx context.Context, c config, repeat int, workload string, args ...string) (*peerResult, error) {
	argv := append([]string{"bench/duckdb_peer.py", workload, strconv.Itoa(c.threads), strconv.Itoa(repeat)}, args...)
	cmd := exec.CommandContext(ctx, c.python, argv...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the peer did not run: %w (does %s have the duckdb package?)", err, c.python)
	}
	var r peerResult
	if err := json.Unmarshal(out, &r); err != nil {
		return nil, fmt.Errorf("the peer's answer: %w", err)
	}
	return &r, nil
}
