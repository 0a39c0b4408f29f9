package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
)

// asCommand, when set, makes the test binary behave as redfox, so that tests
// see what a user sees: processes, streams, signals, exit codes.
const asCommand = "REDFOX_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		dieAsAsked()
		code := execute(os.Args, newConsole(os.Stdin, os.Stdout, os.Stderr))
		if file := os.Getenv(peakVariable); file != "" {
			writePeak(file)
		}
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// redfoxProcess prepares a redfox process in a folder.
func redfoxProcess(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0] = "redfox"
	cmd.Dir = dir
	// Golden files must not depend on what this machine has.
	cmd.Env = append(os.Environ(), asCommand+"=1", "NO_COLOR=1", "REDFOX_CACHE=",
		"REDFOX_LLVM=libLLVM-none.so", "REDFOX_CUDA=libcuda-none.so")
	return cmd
}

// withLLVM lets a process see the machine's libLLVM, and skips the test where
// there is none.
func withLLVM(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	if _, _, err := driver.ChooseEngine("cpu"); err != nil {
		t.Skip(err)
	}
	cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool {
		return v == "REDFOX_LLVM=libLLVM-none.so"
	})
	return cmd
}

// outcome is what a process left behind.
type outcome struct {
	stdout, stderr string
	code           int
}

// String renders the streams as the golden files have them: standard output as
// it is, then standard error and the exit code if there is something to say.
func (o outcome) String() string {
	var b strings.Builder
	b.WriteString(o.stdout)
	for _, line := range strings.SplitAfter(o.stderr, "\n") {
		if line != "" {
			fmt.Fprintf(&b, "! %s", line)
		}
	}
	if o.code != 0 {
		fmt.Fprintf(&b, "[exit %d]\n", o.code)
	}
	return b.String()
}

// finish runs a process to its end.
func finish(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// words splits a command line as a shell does, as far as the tests need it:
// blanks separate, quotes of both kinds hold together, and # starts a comment.
func words(line string) []string {
	var out []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			if inWord {
				out = append(out, word.String())
				word.Reset()
				inWord = false
			}
		case r == '#' && !inWord:
			return out
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if inWord {
		out = append(out, word.String())
	}
	return out
}
