package main

import (
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestSummary prints the reports of recorded streams.
func TestSummary(t *testing.T) {
	datadriven.RunTest(t, "testdata/streams", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		s := newSummary(&out)
		if err := s.read(strings.NewReader(d.Input)); err != nil {
			t.Fatal(err)
		}
		s.print(3*time.Second, 5*time.Second)
		return out.String()
	})
}

// realPackages have one test each. The report must have the given texts.
var realPackages = []struct {
	name, body string
	want       []string
}{
	{"passes", `t.Log("left out: half of it")`,
		[]string{"ok    example.com/m/passes", "  half of it\n    example.com/m/passes TestM\n"}},
	{"skips", `t.Skip("no such device")`,
		[]string{"ok    example.com/m/skips", "  no such device\n    example.com/m/skips TestM\n"}},
	{"panics", `t.Run("sub", func(t *testing.T) { panic("out of ideas") })`,
		[]string{"\nexample.com/m/panics TestM/sub\n",
			"\nexample.com/m/panics TestM\npanic: out of ideas"}},
	{"apart", `done := make(chan bool); go func() { panic("nobody recovers") }(); <-done`,
		[]string{"\nexample.com/m/apart: the process ended while TestM ran\npanic: nobody recovers\n"}},
	{"exits", `t.Run("sub", func(*testing.T) { os.Exit(3) })`,
		[]string{"\nexample.com/m/exits: the process ended while TestM/sub ran\n"}},
	{"exits0", `os.Exit(0)`, []string{"panic: unexpected call to os.Exit(0) during test"}},
	{"killed", `p, _ := os.FindProcess(os.Getpid()); p.Kill(); select {}`,
		[]string{"\nexample.com/m/killed: the process ended while TestM ran\nsignal: killed\n"}},
	{"broken", `undefined()`,
		[]string{"\nexample.com/m/broken\n# example.com/m/broken",
			"m_test.go:10:28: undefined: undefined\n"}},
}

// hangs is a test that only its timeout ends. The other tests do not depend on
// theirs.
const hangs = `select {}`

// TestRealPackages runs packages that end in every way.
func TestRealPackages(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: no packages are built to see the report of their failures")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	if goruntime.GOOS == "windows" {
		t.Skip("a process cannot kill itself")
	}
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/m\n\ngo 1.24\n")
	for _, p := range realPackages {
		write(t, filepath.Join(dir, "all", p.name, "m_test.go"), testFile(p.body))
	}
	write(t, filepath.Join(dir, "hangs", "m_test.go"), testFile(hangs))

	var out, errs strings.Builder
	if code := run(&out, &errs, dir, []string{"./all/passes", "./all/skips"}); code != 0 ||
		!strings.Contains(out.String(), "\n1 tests passed, 0 failed, in ") {
		t.Errorf("exit code %d\n%s%s", code, out.String(), errs.String())
	}
	out.Reset()
	if code := run(&out, &errs, dir, []string{"./all/..."}); code != 1 {
		t.Errorf("exit code %d", code)
	}
	for _, p := range realPackages {
		for _, want := range p.want {
			if want = strings.ReplaceAll(want, "/m/", "/m/all/"); !strings.Contains(out.String(),
				want) {
				t.Errorf("%s: the report lacks %q", p.name, want)
			}
		}
	}
	if t.Failed() {
		t.Logf("%s%s", out.String(), errs.String())
	}
	out.Reset()
	code := run(&out, &errs, dir, []string{"-timeout=1s", "./hangs"})
	if _, failed, _ := strings.Cut(out.String(), "Failed:\n"); code != 1 ||
		!strings.Contains(failed, "panic: test timed out after 1s\n") {
		t.Errorf("exit code %d\n%s%s", code, out.String(), errs.String())
	}
	out.Reset()
	t.Setenv("PATH", "")
	if code := run(&out, &errs, dir, nil); code != 2 || out.Len() > 0 {
		t.Errorf("without go: exit code %d, %q", code, out.String())
	}
}

// testFile is a file with one test.
func testFile(body string) string {
	return "package m\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nvar _ = os.Exit\n\nfunc TestM(t *testing.T) { " + body + " }\n"
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
