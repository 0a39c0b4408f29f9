//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is the side of a pseudo-terminal where a user sits.
type terminal struct {
	t    *testing.T
	file *os.File
	text chan string
	seen string
}

// openTerminal opens a pseudo-terminal; the process is at its other side.
func openTerminal(t *testing.T) (*terminal, *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	size := &unix.Winsize{Row: 40, Col: 100}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, size); err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, file: master, text: make(chan string)}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			if n > 0 {
				term.text <- string(buf[:n])
			}
			if err != nil {
				close(term.text)
				return
			}
		}
	}()
	return term, slave
}

// typed types keys.
func (s *terminal) typed(keys string) {
	s.t.Helper()
	if _, err := s.file.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// until waits for a text, and returns what the terminal shows before it.
func (s *terminal) until(want string) string {
	s.t.Helper()
	before, ok := s.within(want, 2*time.Minute)
	if !ok {
		s.t.Fatalf("the terminal does not show %q: %q", want, s.seen)
	}
	return before
}

// within is until, for a time.
func (s *terminal) within(want string, d time.Duration) (before string, ok bool) {
	deadline := time.After(d)
	for {
		if before, after, ok := strings.Cut(s.seen, want); ok {
			s.seen = after
			return before, true
		}
		select {
		case text, ok := <-s.text:
			if !ok {
				return "", false
			}
			s.seen += text
		case <-deadline:
			return "", false
		}
	}
}

// TestPromptOnTerminal types at a terminal: lines that go on, completion,
// history, Ctrl-C at the prompt and during a run.
func TestPromptOnTerminal(t *testing.T) {
	term, slave := openTerminal(t)
	cmd := redfoxProcess(t, t.TempDir(), "repl", "--engine", "go", "--max-rounds", "none")
	cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+t.TempDir())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	term.until("redfox> ")
	term.typed("edge(1, 2). edge(2,\r")
	term.until(".. ")
	term.typed("3).\r")
	term.until("redfox> ")
	term.typed("reachable(x, y) <- edge(x, y).\r")
	term.until("redfox> ")
	term.typed("rea\t(1, x)?\r")
	if got := term.until("redfox> "); !strings.Contains(got, "(1 row)") {
		t.Errorf("completion: %q", got)
	}
	term.typed("edge(9, \x03")
	term.until("redfox> ")
	term.typed("\x1b[A\r") // the line before, by the key for up
	if got := term.until("redfox> "); !strings.Contains(got, "(1 row)") {
		t.Errorf("history: %q", got)
	}
	term.typed("n(0).\r")
	term.until("redfox> ")
	term.typed("_(x) <- m(x). m(x) <- n(x). m(x + 1) <- m(x), x < 2000000000.\r")
	term.until("2000000000.\r\n") // as it is echoed; from here on it runs
	// A key that comes before the run has begun stops nothing.
	stopped := false
	for range 100 {
		term.typed("\x03")
		if _, stopped = term.within("stopped", time.Second); stopped {
			break
		}
	}
	if !stopped {
		t.Fatal("Ctrl-C stops nothing")
	}
	term.typed("edge(1, 2)?\r")
	term.until("yes")
	term.until("redfox> ")
	term.typed("\x04")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
