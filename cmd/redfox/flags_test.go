package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/internal/driver"
)

func TestPermute(t *testing.T) {
	table := flags("facts", "print", "header", "limit")
	tests := []struct{ line, want, wantErr string }{
		{line: "p.logic", want: "-- p.logic"},
		{line: "p.logic --facts d", want: "--facts d -- p.logic"},
		{line: "--facts d p.logic", want: "--facts d -- p.logic"},
		{line: "p.logic --header q.logic --limit=3", want: "--header --limit=3 -- p.logic q.logic"},
		{line: "p.logic -facts d", want: "-facts d -- p.logic"},
		{line: "-p reach -", want: "-p reach -- -"},
		{line: "--header -- --facts", want: "--header -- --facts"},
		{line: "p.logic --limit -1", want: "--limit -1 -- p.logic"},
		{line: "p.logic --help", want: "--help -- p.logic"},
		{line: "p.logic --facts", wantErr: "flag --facts needs a value"},
		{line: "p.logic --fcats d", wantErr: "there is no flag --fcats; did you mean --facts?"},
		{line: "p.logic --zzzzzz=1", wantErr: "there is no flag --zzzzzz"},
	}
	for _, tt := range tests {
		got, err := permute(strings.Fields(tt.line), table)
		switch {
		case tt.wantErr != "":
			if err == nil || err.Error() != tt.wantErr {
				t.Errorf("%s: error %v, want %s", tt.line, err, tt.wantErr)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.line, err)
		case strings.Join(got, " ") != tt.want:
			t.Errorf("%s: got %s, want %s", tt.line, strings.Join(got, " "), tt.want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "1000": 1000, "4K": 4 << 10, "512M": 512 << 20, "512MB": 512 << 20,
		"1.5GiB": 3 << 29, "8g": 8 << 30, " 2 T ": 2 << 40,
	} {
		if got, err := parseSize("memory", text); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "G", "8X", "1e30", "NaN", "Inf", "MB"} {
		if got, err := parseSize("memory", text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 80498014: "80,498,014",
		-1234: "-1,234"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %s, want %s", n, got, want)
		}
	}
}

// TestEveryFlagIsUsed finds flags of the table that no command takes, and
// names that commands ask for and the table lacks.
func TestEveryFlagIsUsed(t *testing.T) {
	used := map[string]bool{"help": true}
	app := newApp(&console{})
	for _, cmd := range app.Commands {
		for _, f := range cmd.Flags {
			used[f.Names()[0]] = true
		}
	}
	for _, make := range flagTable {
		if name := make().Names()[0]; !used[name] {
			t.Errorf("no command takes --%s", name)
		}
	}
}

// TestReport checks that each kind of failure has its exit code and says what
// to do.
func TestReport(t *testing.T) {
	args := []string{"redfox", "run", "my program.logic", "--facts", "d"}
	tests := []struct {
		name string
		err  error
		code int
		want []string
	}{
		{"none", nil, exitDone, nil},
		{"interrupted", errInterrupted, exitInterrupted, []string{"interrupted"}},
		{"usage", &usageError{command: "run", message: "no program is named"}, exitEnvironment,
			[]string{"no program is named", "redfox help run"}},
		{"environment", &driver.EnvironmentError{Message: "cannot read x", Help: "look"},
			exitEnvironment, []string{"redfox: error: cannot read x; look"}},
		{"internal", &driver.InternalError{Phase: "sema", Err: errors.New("index out of range")},
			exitInternal,
			[]string{"internal error in sema: index out of range",
				"REDFOX_DEBUG=1 redfox run 'my program.logic' --facts d 2> redfox-bug.txt"}},
		{"panic", recovered("boom"), exitInternal,
			[]string{"internal error in the command line: boom"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			con := &console{err: &out}
			if got := con.report(tt.err, args); got != tt.code {
				t.Errorf("exit code %d, want %d", got, tt.code)
			}
			for _, want := range tt.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("got %q, want %q in it", out.String(), want)
				}
			}
		})
	}
}

// TestInternalDump checks that the command an internal error names does dump.
func TestInternalDump(t *testing.T) {
	t.Setenv(debugVariable, "1")
	var out bytes.Buffer
	con := &console{err: &out}
	con.report(recovered("boom"),
		[]string{"redfox", "run", "../../testdata/quickstart/reach.logic"})
	for _, want := range []string{"boom", "version: ", "command line: run ",
		"reach(x, z) <- reach(x, y), road(y, z).", "stack:", "TestInternalDump"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the dump lacks %q:\n%s", want, out.String())
		}
	}
}

// TestProgressIsQuiet checks that short runs and files get no progress line.
func TestProgressIsQuiet(t *testing.T) {
	for _, tt := range []struct {
		terminal bool
		since    time.Duration
		want     bool
	}{{true, 2 * time.Second, true}, {true, -time.Hour, false}, {false, 2 * time.Second, false}} {
		var out bytes.Buffer
		p := newProgress(&console{err: &out, errTerminal: tt.terminal})
		p.started = time.Now().Add(-tt.since)
		p.show("round 3")
		p.done()
		if got := strings.Contains(out.String(), "round 3"); got != tt.want {
			t.Errorf("terminal %v, after %v: shown is %v, want %v", tt.terminal, tt.since, got,
				tt.want)
		}
	}
}
