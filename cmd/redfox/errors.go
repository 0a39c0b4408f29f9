package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/driver"
)

// The exit codes. They are part of the interface.
const (
	exitDone        = 0
	exitProgram     = 1 // the program or its data is wrong
	exitEnvironment = 2 // the machine or the command line is
	exitInternal    = 3 // redfox is
	exitInterrupted = 130
)

// usageError is a command line that redfox does not take.
type usageError struct {
	command string // "" if no command was found
	message string
	help    string // what to write instead; may be empty
}

// Error returns the message and the advice.
func (e *usageError) Error() string {
	text := e.message
	if e.help != "" {
		text += "; " + e.help
	}
	return text
}

// outputError is a result that could not be written.
type outputError struct{ err error }

// Error says that it is the output that failed.
func (e *outputError) Error() string { return "cannot write the result: " + e.err.Error() }

// Unwrap returns the cause.
func (e *outputError) Unwrap() error { return e.err }

// errFound says that a command whose exit code tells the outcome, such as
// fmt --list, found something. It has been printed.
var errFound = errors.New("found")

// toldError is a failure that has been printed and leaves the exit code to be
// given.
type toldError struct{ code int }

// Error says no more than that something failed.
func (e *toldError) Error() string { return "failed" }

// errTimeout is the cause of a context that --timeout has ended.
var errTimeout = errors.New("timeout")

// report prints an error to standard error, in the form its kind has, and
// returns the exit code that goes with it.
func (con *console) report(err error, args []string) int {
	if con.document != nil {
		return con.writeDocument(err, args)
	}
	var program *driver.ProgramError
	var usage *usageError
	var internal *driver.InternalError
	var told *toldError
	switch {
	case err == nil, errors.As(err, &told), errors.Is(err, errFound):
	case errors.Is(err, errInterrupted):
		fmt.Fprintln(con.err, "redfox: error: interrupted")
	case errors.As(err, &program):
		con.diagnostics(program.Diagnostics)
	case errors.As(err, &internal):
		con.internal(internal, args)
	case errors.As(err, &usage):
		fmt.Fprintln(con.err, "redfox: error:", usage)
		fmt.Fprintf(con.err, "  help: %s\n", usage.lists())
	default:
		fmt.Fprintln(con.err, headed(err.Error()))
	}
	return exitCode(err)
}

// placed is a message that starts with a place in a file.
var placed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\S+:\d+:\d+): `)
})

// headed puts in front of a message where it is from, which is redfox if it has
// no place, and that it is an error. All messages have this form.
func headed(message string) string {
	if m := placed().FindStringSubmatch(message); m != nil {
		return m[1] + ": error: " + strings.TrimPrefix(message, m[0])
	}
	return "redfox: error: " + message
}

// exitCode returns the exit code that goes with an error.
func exitCode(err error) int {
	var program *driver.ProgramError
	var internal *driver.InternalError
	var told *toldError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &told):
		return told.code
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.Is(err, errFound), errors.As(err, &program):
		return exitProgram
	case errors.As(err, &internal):
		return exitInternal
	}
	// The other errors are the machine's, such as *driver.EnvironmentError, a
	// closed pipe, a full disk and a timeout, or the command line's.
	return exitEnvironment
}

// lists says which help has what the command line may hold.
func (e *usageError) lists() string {
	if e.command != "" {
		return fmt.Sprintf("redfox help %s lists the flags", e.command)
	}
	return "redfox help lists the commands"
}

// diagnostics prints findings the way the command line asks for.
func (con *console) diagnostics(ds []*driver.Diagnostic) {
	if len(ds) == 0 {
		return
	}
	if con.document != nil {
		con.document.add(ds...)
		return
	}
	diag.Render(con.err, ds, diag.RenderOptions{Color: con.color, Max: maxDiagnostics,
		Program: "redfox"})
}

// maxDiagnostics caps what one run shows; the rest is counted.
const maxDiagnostics = 50

// recovered makes an error of a panic that no phase has caught.
func recovered(r any) error {
	stack := make([]byte, 16<<10)
	stack = stack[:goruntime.Stack(stack, false)]
	return &driver.InternalError{Phase: "the command line", Err: fmt.Errorf("%v", r),
		Stack: string(stack)}
}

// debugVariable, when set, makes an internal error print what a report of it
// needs.
const debugVariable = "REDFOX_DEBUG"

// internal prints a bug of ours and the command that dumps what mending it
// needs: the same command line, with debugVariable set.
func (con *console) internal(e *driver.InternalError, args []string) {
	fmt.Fprintln(con.err, "redfox:", e)
	if os.Getenv(debugVariable) == "" {
		fmt.Fprintln(con.err,
			"This is a bug of redfox, not of the program. Please report it with the file that this writes:")
		fmt.Fprintf(con.err, "    %s 2> redfox-bug.txt\n", debugCommand(args))
		return
	}
	internalReport(con.err, e, args)
}

// debugCommand returns the command line that dumps what mending a bug needs.
func debugCommand(args []string) string {
	quoted := []string{debugVariable + "=1", "redfox"}
	for _, a := range args[1:] {
		quoted = append(quoted, shellQuote(a))
	}
	return strings.Join(quoted, " ")
}

// internalReport writes what mending a bug needs.
func internalReport(w io.Writer, e *driver.InternalError, args []string) {
	fmt.Fprintln(w, "version:", buildVersion())
	fmt.Fprintln(w, "command line:", strings.Join(args[1:], " "))
	for _, name := range programArguments(args) {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		sum := sha256.Sum256(text)
		fmt.Fprintf(w, "program %s, %d bytes, sha256 %s:\n%s\n", name, len(text),
			hex.EncodeToString(sum[:6]), text)
	}
	fmt.Fprintf(w, "stack:\n%s\n", e.Stack)
	if e.Dump != "" {
		fmt.Fprintf(w, "%s worked on:\n%s\n", e.Phase, e.Dump)
	}
}

// programArguments returns the arguments that are program files by their names.
func programArguments(args []string) []string {
	var out []string
	for _, a := range args[1:] {
		if isProgram(a) && filepath.Ext(a) != driver.CompiledExtension {
			out = append(out, a)
		}
	}
	return out
}

// shellQuote quotes an argument for a POSIX shell where it needs it.
func shellQuote(arg string) string {
	if regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`).MatchString(arg) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

// invalidValue is how Go's flag package words a value that does not parse.
var invalidValue = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^invalid (?:boolean )?value "(.*)" for (?:flag )?-(\S+): (it is .*)?`)
})

// usageErrorOf words what cli found wrong with a command line.
func usageErrorOf(c *cli.Context, err error, isCommand bool) error {
	usage := &usageError{message: err.Error()}
	if isCommand {
		usage.command = c.Command.Name
	}
	if m := invalidValue().FindStringSubmatch(err.Error()); m != nil {
		wrong := unparsed(m[2], m[1])
		usage.message, usage.help = wrong.message, cmp.Or(m[3], wrong.help)
	}
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		usage.message = fmt.Sprintf("there is no flag --%s before the command", name)
		usage.help = "flags follow the command, as in redfox run PROGRAM --facts DIR"
	}
	return usage
}

// unknownFlag words a flag that a command does not have.
func unknownFlag(arg, name string, known []string) error {
	slices.Sort(known)
	e := &usageError{message: fmt.Sprintf("there is no flag %s", strings.SplitN(arg, "=", 2)[0])}
	if near, ok := diag.Suggest(name, known); ok {
		e.help = fmt.Sprintf("did you mean --%s?", near)
	}
	return e
}

// namingCommand lets a usage error of an action say which command it is about.
func namingCommand(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		err := checkValues(c)
		if err == nil {
			err = action(c)
		}
		var usage *usageError
		if errors.As(err, &usage) && usage.command == "" && c.Command.Name != "help" {
			usage.command = c.Command.Name
		}
		return err
	}
}

// noCommand runs when no command was recognised.
func noCommand(c *cli.Context) error {
	if !c.Args().Present() {
		_, err := io.WriteString(c.App.Writer, appHelp(c.App))
		return err
	}
	name := c.Args().First()
	e := &usageError{message: fmt.Sprintf("there is no command %q", name)}
	if isProgram(name) {
		e.help = "did you mean redfox run " + name + "?"
		return e
	}
	var known []string
	for _, cmd := range c.App.Commands {
		known = append(known, cmd.Name)
	}
	if near, ok := diag.Suggest(name, known); ok {
		e.help = fmt.Sprintf("did you mean redfox %s?", near)
	}
	return e
}

// nearest offers the known name that resembles what was written, or all.
func nearest(name string, known []string) string {
	if near, ok := diag.Suggest(name, known); ok {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "known are " + strings.Join(known, ", ")
}

// withTimeout bounds a context by --timeout; 0 is no bound.
func withTimeout(c *cli.Context) (context.Context, context.CancelFunc, error) {
	limit := c.Duration("timeout")
	if err := notNegative("timeout", limit); err != nil {
		return nil, nil, err
	}
	if limit == 0 {
		return c.Context, func() {}, nil
	}
	cause := fmt.Errorf("%w: gave up after %v, as --timeout says", errTimeout, limit)
	ctx, cancel := context.WithTimeoutCause(c.Context, limit, cause)
	return ctx, cancel, nil
}
