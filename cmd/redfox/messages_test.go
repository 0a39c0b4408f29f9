package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/diag"
)

// messageForms are what a line of standard error looks like: a place or
// "redfox", a severity and a message; what explains a message, indented; the
// figures of --stats; the document of --json.
var messageForms = []*regexp.Regexp{
	regexp.MustCompile(`^(redfox|[^:]+(:\d+){0,2}): (error|warning|note): \S`),
	regexp.MustCompile(`^redfox: internal error in \S`),
	regexp.MustCompile(`^ |^$`),
	regexp.MustCompile(`^\.\.\. and \d+ more$`),
	regexp.MustCompile(`^\d+ errors?, \d+ warnings?$`),
	regexp.MustCompile(`^(run|read|result|engine|time) +\S`),
	regexp.MustCompile(`^(\[\]?|\])$`),
}

// TestMessages checks that messages on standard error have one form, in all
// golden files of the command.
func TestMessages(t *testing.T) {
	lines := 0
	for path, text := range goldens(t) {
		for i, line := range strings.Split(text, "\n") {
			message, ok := strings.CutPrefix(line, "! ")
			if !ok {
				continue
			}
			lines++
			isForm := func(form *regexp.Regexp) bool { return form.MatchString(message) }
			if !slices.ContainsFunc(messageForms, isForm) {
				t.Errorf("%s:%d: %s", path, i+1, message)
			}
		}
	}
	if lines < 300 {
		t.Errorf("only %d lines of messages were found", lines)
	}
}

// goldens returns the golden files of the command by their paths.
func goldens(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[path] = string(text)
	}
	return out
}

var (
	advisedFlag = regexp.MustCompile(`(?:^|[^-\w])--([a-z][a-z-]*)`)
	// advisedCommand is a command and what follows in its clause.
	advisedCommand = regexp.MustCompile(`\bredfox ([a-z]+)([^;,()]*)`)
)

// predicates are words behind redfox where it is the subject of a sentence.
var predicates = []string{"does", "has", "is", "knows", "needs", "reads", "recognises", "that"}

// TestAdvice checks that the flags and commands which messages and texts of
// codes name exist. A flag that a message names after a command belongs to that
// command.
func TestAdvice(t *testing.T) {
	commands, flags := map[string]map[string]bool{}, map[string]bool{}
	for _, cmd := range newApp(&console{}).Commands {
		commands[cmd.Name] = map[string]bool{}
		for _, f := range cmd.Flags {
			flags[f.Names()[0]], commands[cmd.Name][f.Names()[0]] = true, true
		}
	}
	seen := 0
	check := func(where, text string) {
		for _, m := range advisedFlag.FindAllStringSubmatch(text, -1) {
			if seen++; !flags[m[1]] {
				t.Errorf("%s: there is no flag --%s: %s", where, m[1], text)
			}
		}
		for _, m := range advisedCommand.FindAllStringSubmatch(text, -1) {
			if slices.Contains(predicates, m[1]) {
				continue
			}
			if seen++; commands[m[1]] == nil {
				t.Errorf("%s: there is no command %s: %s", where, m[1], text)
			}
			for _, flag := range advisedFlag.FindAllStringSubmatch(m[2], -1) {
				if !commands[m[1]][flag[1]] {
					t.Errorf("%s: %s has no flag --%s: %s", where, m[1], flag[1], text)
				}
			}
		}
	}
	for _, code := range diag.Codes() {
		check(code.ID, code.When)
		check(code.ID, code.Fix)
	}
	for path, text := range goldens(t) {
		for _, line := range strings.Split(text, "\n") {
			message, ok := strings.CutPrefix(line, "! ")
			if refused := refusedName.FindString(message); ok {
				check(path, strings.TrimPrefix(message, refused))
			}
		}
	}
	if seen < 150 {
		t.Errorf("only %d flags and commands were found in advice", seen)
	}
}

// refusedName is the part of a message that names a flag or a command which
// does not exist.
var refusedName = regexp.MustCompile(`^redfox: error: there is no (flag|command) [^;]*`)
