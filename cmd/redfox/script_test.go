package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs the command lines of testdata and compares what they print.
//
//	file NAME    writes its input to a file in the folder of the test
//	cut NAME N   cuts a file to its first N bytes, for N below 0 by -N bytes
//	flip NAME N  changes byte N of a file, for N below 0 counted from its end
//	link NAME TO makes a symbolic link
//	cat NAME     shows a file
//	ls           lists the folder, folders with their files
//	run          runs each line of its input, which starts with redfox;
//	             "< NAME" at the end of a line is standard input; head=N shows
//	             only the first N lines of standard output; cd=NAME runs them in
//	             a folder of the test's
//
// Lines of standard error come after those of standard output and start with "!
// "; an exit code other than 0 is shown. Times on standard error, and with the
// argument times on standard output, are shown as "T", and so are sizes;
// checksums are shown as "SUM", and the folder of the test as "DIR". No process
// has a libLLVM.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		dir := t.TempDir()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			name := func() string {
				a := d.CmdArgs[0]
				return filepath.Join(dir, filepath.FromSlash(
					strings.Join(append([]string{a.Key}, a.Vals...), "=")))
			}
			switch d.Cmd {
			case "file":
				if err := os.MkdirAll(filepath.Dir(name()), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name(), []byte(d.Input+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				return ""
			case "link":
				if err := os.Symlink(d.CmdArgs[1].Key, name()); err != nil {
					t.Fatal(err)
				}
				return ""
			case "cut", "flip":
				n, err := strconv.Atoi(d.CmdArgs[1].Key)
				if err != nil {
					t.Fatal(err)
				}
				data, err := os.ReadFile(name())
				if err != nil {
					t.Fatal(err)
				}
				if n < 0 {
					n += len(data)
				}
				if d.Cmd == "cut" {
					data = data[:n]
				} else {
					data[n] ^= 2
				}
				if err := os.WriteFile(name(), data, 0o644); err != nil {
					t.Fatal(err)
				}
				return ""
			case "cat":
				text, err := os.ReadFile(name())
				if err != nil {
					t.Fatal(err)
				}
				return string(text)
			case "ls":
				return list(t, dir)
			case "run":
				var out strings.Builder
				head := -1
				d.MaybeScanArgs(t, "head", &head)
				cd := ""
				d.MaybeScanArgs(t, "cd", &cd)
				for _, line := range strings.Split(d.Input, "\n") {
					o := runLine(t, filepath.Join(dir, cd), line)
					o.stderr = scrub(o.stderr)
					if d.HasArg("times") {
						o.stdout = scrub(o.stdout)
					}
					if lines := strings.SplitAfter(o.stdout, "\n"); head >= 0 && head < len(lines) {
						o.stdout = strings.Join(lines[:head], "")
					}
					out.WriteString(strings.ReplaceAll(o.String(), dir, "DIR"))
				}
				return out.String()
			}
			d.Fatalf(t, "unknown directive %s", d.Cmd)
			return ""
		})
	})
}

// runLine runs one command line.
func runLine(t *testing.T, dir, line string) outcome {
	t.Helper()
	line, input, hasInput := strings.Cut(line, " < ")
	args := words(line)
	if len(args) == 0 || args[0] != "redfox" {
		t.Fatalf("%q does not start with redfox", line)
	}
	cmd := redfoxProcess(t, dir, args[1:]...)
	if hasInput {
		f, err := os.Open(filepath.Join(dir, input))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd.Stdin = f
	}
	return finish(t, cmd)
}

// timing is a time or a rate, or a size that depends on the machine.
var timing = regexp.MustCompile(`\b\d+(\.\d+)?(ns|µs|ms|s|m\d+(\.\d+)?s| MB/s| ([KMG]i)?B)\b|\b\d+ of its \d+ bytes`)

// checksum is the beginning of a checksum, of files that differ from version to
// version.
var checksum = regexp.MustCompile(`\b[0-9a-f]{12}\.\.\.`)

// hotSpot is the mark of the costliest command, which differs from run to run.
var hotSpot = regexp.MustCompile(`  ◄ hot spot, \d+% of the commands' time`)

// scrub replaces what differs from run to run.
func scrub(text string) string {
	text = hotSpot.ReplaceAllString(text, "")
	return checksum.ReplaceAllString(timing.ReplaceAllString(text, "T"), "SUM")
}

// list renders the files below a folder, one a line.
func list(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		out.WriteString(filepath.ToSlash(rel) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
