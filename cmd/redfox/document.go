package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/driver"
)

// document is what a command with --json has to say. It is written once, when
// the command ends: one array of diagnostics, whatever happened.
type document struct {
	mu       sync.Mutex // an interrupt reports from its own goroutine
	found    []*driver.Diagnostic
	line     []byte // of what is printed, without its end yet
	toOutput bool   // standard output, not standard error
}

// asksForDocument reports whether a command line has --json. It looks at the
// arguments themselves, so that a mistake in other flags is reported as JSON,
// too.
func asksForDocument(args []string) bool {
	for _, a := range args[1:] {
		switch name, value, _ := strings.Cut(strings.TrimLeft(a, "-"), "="); {
		case a == "--":
			return false
		case strings.HasPrefix(a, "-") && name == "json" && value != "false" && value != "0":
			return true
		}
	}
	return false
}

// collect makes the console keep what it would print to standard error for one
// document. The command check writes that to standard output, as its result.
func (con *console) collect(args []string) {
	command := slices.IndexFunc(args[1:], func(a string) bool { return !strings.HasPrefix(a, "-") })
	con.document = &document{toOutput: command >= 0 && args[1:][command] == "check"}
	con.talk, con.err = con.err, con.document
	con.errTerminal = false
}

// Write takes text that a command prints for people: a line is a note, an
// indented one explains the note before it.
func (d *document) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.line = append(d.line, p...)
	for {
		i := slices.Index(d.line, '\n')
		if i < 0 {
			return len(p), nil
		}
		d.note(string(d.line[:i]))
		d.line = d.line[i+1:]
	}
}

func (d *document) note(line string) {
	text := strings.TrimSpace(line)
	last := len(d.found) - 1
	switch {
	case text == "":
	case strings.HasPrefix(line, " ") && last >= 0:
		d.found[last].Notes = append(d.found[last].Notes, text)
	default:
		text = strings.TrimPrefix(strings.TrimPrefix(text, "redfox: "), "note: ")
		text = strings.Replace(text, ": note: ", ": ", 1) // behind a place
		d.found = append(d.found, &driver.Diagnostic{Severity: diag.Note, Message: text})
	}
}

func (d *document) add(ds ...*driver.Diagnostic) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.found = append(d.found, ds...)
}

// writeDocument writes what was collected, and what the command failed with, as
// one array. It returns the exit code.
func (con *console) writeDocument(err error, args []string) int {
	d := con.document
	d.add(diagnosticsOf(err, args)...)
	d.mu.Lock()
	defer d.mu.Unlock()
	to := con.talk
	if d.toOutput {
		to = con.out
	}
	failed := diag.JSON(to, d.found)
	if flushed := con.out.Flush(); failed == nil && d.toOutput {
		failed = flushed
	}
	if failed != nil {
		if d.toOutput { // standard error has no document, then
			fmt.Fprintf(con.talk, "redfox: error: %v\n", &outputError{failed})
		}
		if exitCode(err) == exitDone {
			return exitEnvironment
		}
	}
	return exitCode(err)
}

// diagnosticsOf returns what an error says as diagnostics. Those that no
// program causes have no code and no place, and the kind of the error as their
// name.
func diagnosticsOf(err error, args []string) []*driver.Diagnostic {
	var program *driver.ProgramError
	var usage *usageError
	var internal *driver.InternalError
	var environment *driver.EnvironmentError
	var told *toldError
	d := &driver.Diagnostic{Severity: diag.Error, Code: &diag.Code{Name: "Environment"}}
	switch {
	case err == nil, errors.As(err, &told), errors.Is(err, errFound):
		return nil
	case errors.Is(err, errInterrupted):
		d.Code.Name, d.Message = "Interrupted", "interrupted"
	case errors.As(err, &program):
		return program.Diagnostics
	case errors.As(err, &internal):
		d.Code.Name, d.Message = "Internal", internal.Error()
		d.Helps = []string{"this is a bug of redfox, not of the program: " +
			"please report it with the output of " + debugCommand(args)}
		if os.Getenv(debugVariable) != "" {
			var text strings.Builder
			internalReport(&text, internal, args)
			d.Notes, d.Helps = []string{text.String()}, nil
		}
	case errors.As(err, &usage):
		d.Code.Name, d.Message = "Usage", usage.message
		d.Helps = append(nonempty(usage.help), usage.lists())
	case errors.As(err, &environment) && err.Error() == environment.Error():
		d.Message, d.Helps = environment.Message, nonempty(environment.Help)
	default:
		d.Message = err.Error()
	}
	return []*driver.Diagnostic{d}
}

func nonempty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}
