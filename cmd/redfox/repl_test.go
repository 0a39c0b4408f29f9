//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"
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

// TestTableOnTerminal prints more rows than a terminal shows, and all of them
// where it is told to.
func TestTableOnTerminal(t *testing.T) {
	dir := t.TempDir()
	var rows strings.Builder
	for i := range 1050 {
		fmt.Fprintln(&rows, i)
	}
	write(t, dir, "n.tsv", rows.String())
	write(t, dir, "derived.logic", "n(x) -> int(x). m(x) <- n(x).")
	write(t, dir, "query.logic", "n(x) -> int(x). _(x) <- n(x).")
	for _, c := range []struct {
		args []string
		rows int
		note string
	}{
		{[]string{"query.logic"}, 40, "1,010 tuples of _ more; --limit 0 prints all"},
		{[]string{"derived.logic"}, 20, "1,030 tuples of m more; --limit 0 prints all"},
		{[]string{"query.logic", "--limit", "0"}, 1050, ""},
		{[]string{"query.logic", "--limit", "50"}, 50, ""},
		{[]string{"query.logic", "--format", "tsv"}, 1050, ""},
	} {
		term, slave := openTerminal(t)
		args := append([]string{"run", "--engine", "go", "--facts", "."}, c.args...)
		cmd := redfoxProcess(t, dir, args...)
		cmd.Stdout, cmd.Stderr = slave, slave
		ended := make(chan error, 1)
		go func() {
			ended <- cmd.Run()
			fmt.Fprint(slave, "the end")
		}()
		text := term.until("the end")
		if err := <-ended; err != nil {
			t.Error(err)
		}
		slave.Close()
		shown := 0
		for line := range strings.Lines(text) {
			if _, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
				shown++
			}
		}
		noted := strings.Contains(text, "more; --limit")
		if shown != c.rows || !strings.Contains(text, c.note) || noted != (c.note != "") {
			t.Errorf("%q: %d rows, want %d and %q:\n%s", c.args, shown, c.rows, c.note, text)
		}
	}
	cmd := redfoxProcess(t, dir, "run", "--engine", "go", "--facts", ".", "derived.logic")
	if out := finish(t, cmd); !strings.Contains(out.stdout, "\n1049\n") || out.stderr != "" {
		t.Errorf("a pipe gets %d bytes, and %s", len(out.stdout), out.stderr)
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
