package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/jedib0t/go-pretty/v6/table"
)

// benchMemory runs the command line in a process of its own and reads the
// largest resident set that the system saw.
func benchMemory(ctx context.Context, c config) error {
	bin, remove, err := buildCommand(ctx)
	if err != nil {
		return err
	}
	defer remove()
	var rows []table.Row
	for _, g := range graphs {
		if !c.wants(g.name, g.tc > 50e6 && !g.big) {
			continue
		}
		cmd := exec.CommandContext(ctx, bin, "run", testFile("graphs", "tc.logic"), "--format",
			"tsv",
			"--threads", fmt.Sprint(c.threads), "--fact",
			"edge="+filepath.Join(c.graphs, g.name+".tsv.gz"))
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		if got := strings.TrimSpace(string(out)); got != fmt.Sprint(g.tc) {
			return fmt.Errorf("%s: %s tuples, published are %d", g.name, got, g.tc)
		}
		usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		peak := float64(usage.Maxrss) * 1024
		rows = append(rows, table.Row{g.name, g.tc, fmt.Sprintf("%.0f MB", peak/1e6),
			fmt.Sprintf("%.1f", peak/float64(g.tc)),
			seconds(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())})
	}
	report("peak resident memory of redfox run, everything included",
		table.Row{"graph", "tuples", "peak", "bytes a tuple", "CPU time"}, rows)
	return nil
}
