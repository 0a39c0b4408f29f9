package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestCompletion asks for completions as the scripts do.
func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		line []string
		want []string
	}{
		{nil, []string{"run", "check", "help"}},
		{[]string{"run", "--pr"}, []string{"--print", "--profile"}},
		{[]string{"run", "p.logic", "--mem"}, []string{"--memory"}},
		{[]string{"help"}, []string{"run", "functions", "types", "directives", "facts",
			"string:upper", "int:range"}},
	} {
		o := finish(t, redfoxProcess(t, t.TempDir(), append(c.line, completeFlag)...))
		got := strings.Fields(o.stdout)
		for _, want := range c.want {
			if o.code != 0 || !slices.Contains(got, want) {
				t.Errorf("completing %q: %s is not among %q", c.line, want, got)
			}
		}
	}
}

// TestCompletionScripts has each shell that is installed parse its script, and
// bash complete a command line with it.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		o := finish(t, redfoxProcess(t, t.TempDir(), "completion", shell))
		if o.code != 0 || !strings.Contains(o.stdout, "redfox") {
			t.Errorf("%s: %s", shell, o)
			continue
		}
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("%s is not installed: its script was printed, not parsed", shell)
			continue
		}
		file := write(t, t.TempDir(), "script", o.stdout)
		if out, err := exec.Command(shell, "-n", file).CombinedOutput(); err != nil {
			t.Errorf("%s does not parse its script: %v\n%s", shell, err, out)
		}
		if shell != "bash" {
			continue
		}
		line := `redfox() { echo "--print --profile"; }
source ` + file + `
COMP_WORDS=(redfox run --pri); COMP_CWORD=2
_redfox_complete; echo "${COMPREPLY[@]}"`
		out, err := exec.Command(shell, "-c", line).CombinedOutput()
		if err != nil || string(out) != "--print\n" {
			t.Errorf("bash completes --pri as %q: %v", out, err)
		}
		topic := `redfox() { echo "functions facts"; }
source ` + file + `
COMP_WORDS=(redfox help fu); COMP_CWORD=2
_redfox_complete; echo "${COMPREPLY[@]}"`
		if out, err := exec.Command(shell, "-c", topic).CombinedOutput(); err != nil ||
			string(out) != "functions\n" {
			t.Errorf("bash completes help fu as %q: %v", out, err)
		}
	}
}

// TestManual wants every command and flag in the manual page.
func TestManual(t *testing.T) {
	o := finish(t, redfoxProcess(t, t.TempDir(), "man"))
	if o.code != 0 || !strings.HasPrefix(o.stdout, ".nh\n.TH redfox 1") {
		t.Fatalf("this is no manual page:\n%s", o)
	}
	for _, cmd := range newApp(newConsole(os.Stdin, os.Stdout, os.Stderr)).Commands {
		if !strings.Contains(o.stdout, "\n.SH "+cmd.Name) {
			t.Errorf("the manual page lacks the command %s", cmd.Name)
		}
		for _, f := range cmd.Flags {
			if name := f.Names()[0]; !strings.Contains(o.stdout, `--`+name) {
				t.Errorf("the manual page lacks the flag --%s", name)
			}
		}
	}
}
