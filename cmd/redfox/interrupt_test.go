//go:build linux || darwin

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	tests "github.com/redfoxdb/redfox/internal/short"
)

// interrupted sends a signal to a process that runs long.logic in a folder, and
// returns how the process ended. The program comes through a pipe: once the
// process has opened it, it handles signals.
func interrupted(t *testing.T, cmd *exec.Cmd, program string, sig os.Signal) outcome {
	t.Helper()
	pipe := filepath.Join(cmd.Dir, "long.logic")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	// A process ignores the signals that its parent ignores, as below nohup. A
	// signal that the parent handles is not ignored.
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, sig)
	defer signal.Stop(handled)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteString(program); err != nil {
		t.Fatal(err)
	}
	w.Close()
	// The signal finds the process at work, as a rule. It may come at any time.
	time.Sleep(200 * time.Millisecond)
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code says how it ended
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// countForHours derives tuples for hours.
const countForHours = "n(0).\nn(y) <- n(x), x < 2000000000, y = x + 1.\n"

// TestInterrupt stops a run that would take hours: it ends, says so, exits with
// 130 and leaves no file.
func TestInterrupt(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		dir := t.TempDir()
		o := interrupted(t, redfoxProcess(t, dir, "run", "long.logic", "--out", "results"),
			countForHours, sig)
		if o.code != exitInterrupted || !strings.Contains(o.stderr, "interrupted") ||
			o.stdout != "" {
			t.Errorf("%v: got %v", sig, o)
		}
		if files := list(t, dir); files != "long.logic\n" {
			t.Errorf("%v: left files:\n%s", sig, files)
		}
	}
}

// TestInterruptDeaf interrupts the optimiser, which does not look whether it is
// to stop: it has a rule of a thousand atoms to order.
func TestInterruptDeaf(t *testing.T) {
	tests.Skip(t, "a rule of a thousand atoms")
	var rule strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&rule, ", q(x%d, x%d)", i, i+1)
	}
	cmd := redfoxProcess(t, t.TempDir(), "run", "long.logic", "--out", "results")
	o := interrupted(t, cmd, "q(1, 2).\np(x0, x1000) <- "+rule.String()[2:]+".\n", os.Interrupt)
	if o.code != exitInterrupted || o.stderr != "redfox: error: interrupted\n" {
		t.Errorf("got %v", o)
	}
}

// TestNoHangup holds that a run that is to outlive its terminal, as by nohup,
// does.
func TestNoHangup(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	redfox := redfoxProcess(t, t.TempDir(), "run")
	script := `trap "" HUP; exec "$0" run long.logic --timeout 1s`
	cmd := exec.Command("sh", "-c", script, redfox.Path)
	cmd.Dir, cmd.Env = redfox.Dir, redfox.Env
	o := interrupted(t, cmd, countForHours, syscall.SIGHUP)
	if o.code != exitEnvironment || !strings.Contains(o.stderr, "gave up after 1s") {
		t.Errorf("got %v", o)
	}
}
