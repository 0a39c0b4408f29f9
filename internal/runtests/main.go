package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"
)

func main() { os.Exit(run(os.Stdout, os.Stderr, "", os.Args[1:])) }

// timeout is how long a package may take. A busy machine is no failure, so it
// only ends tests that hang. A -timeout in the arguments replaces it.
const timeout = "-timeout=60m"

// cheaper leaves out of the building of tests what `make check` does and what
// only debuggers read.
var cheaper = []string{"-vet=off", "-ldflags=-s -w"}

// run tests packages of the module in dir and returns the exit code.
func run(stdout, stderr io.Writer, dir string, args []string) int {
	cmd := exec.Command("go",
		append(slices.Concat([]string{"test", "-json", timeout}, cheaper), args...)...)
	cmd.Dir, cmd.Stderr = dir, stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(stderr, "runtests:", err)
		return 2
	}
	start := time.Now()
	s := newSummary(stdout)
	readErr := s.read(out)
	_, _ = io.Copy(io.Discard, out) // the rest of a stream that cannot be read
	err = cmd.Wait()
	// The processor time of a process includes that of children it waited for:
	// the compiler, the linker, and the tests.
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	s.print(time.Since(start), used)
	if readErr != nil {
		fmt.Fprintln(stderr, "runtests: reading the events of go test:", readErr)
	}
	if err != nil || readErr != nil || s.failed > 0 {
		return 1
	}
	return 0
}
