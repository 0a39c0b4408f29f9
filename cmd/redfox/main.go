package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	goruntime "runtime"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/internal/driver"
)

func main() { os.Exit(execute(os.Args, newConsole(os.Stdin, os.Stdout, os.Stderr))) }

// errInterrupted is the cause of a context that Ctrl-C, a request to terminate
// or the end of the terminal has ended.
var errInterrupted = errors.New("interrupted")

// execute runs one command line and returns the exit code.
func execute(args []string, con *console) (code int) {
	// Only the driver recovers: engines and phases report their own panics, so
	// this one is the command's.
	defer func() {
		if r := recover(); r != nil {
			code = con.report(recovered(r), args)
		}
	}()
	if asksForDocument(args) {
		con.collect(args)
	}
	if err := canStart(); err != nil {
		return con.report(err, args)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stop := interruptible(cancel, func() { os.Exit(con.report(errInterrupted, args)) })
	defer stop()

	app := newApp(con)
	line, err := intersperse(app, args)
	if err == nil {
		err = app.RunContext(ctx, line)
	}
	if flushed := con.out.Flush(); err == nil && flushed != nil {
		err = &outputError{flushed}
	}
	if err == nil {
		driver.Settle(ctx)
	}
	if ctx.Err() != nil && err != nil {
		err = context.Cause(ctx)
	}
	return con.report(err, args)
}

// deafness is how long the process goes on after a signal where nobody looks at
// the context: in the optimiser, say, or in libLLVM.
const deafness = 3 * time.Second

// interruptible ends the context at the first signal, and calls late, which
// ends the process, if nothing has stopped within deafness. The second signal
// finds Go's own handling again and kills the process.
func interruptible(cancel context.CancelCauseFunc, late func()) (stop func()) {
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as nohup has it
			signal.Notify(signals, s)
		}
	}
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			signal.Stop(signals)
			cancel(errInterrupted)
		case <-done:
			return
		}
		select {
		case <-time.After(deafness):
			late()
		case <-done:
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// newApp returns the command tree. Its commands share nothing but con.
func newApp(con *console) *cli.App {
	app := &cli.App{
		Name:  "redfox",
		Usage: "compile and run LogiQL, a typed Datalog",
		UsageText: "redfox COMMAND [FLAGS] [PROGRAM...]\n" +
			"redfox help COMMAND",
		Description: "PROGRAM is a file of LogiQL; of a query plan when its name ends in .plan, of a compiled " +
			"program when it ends in .rfx; \"-\" is standard input. Several files of LogiQL form one program.",
		Version:                   buildVersion(),
		Flags:                     []cli.Flag{cli.HelpFlag},
		HideHelpCommand:           true,
		EnableBashCompletion:      true,
		DisableSliceFlagSeparator: true,
		Reader:                    con.in,
		Writer:                    con.out,
		ErrWriter:                 con.err,
		// Errors are reported by execute, in one place.
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   usageErrorOf,
		Action:         noCommand,
		Commands: []*cli.Command{
			runCommand(con),
			loadCommand(con),
			databaseCommand(con),
			checkCommand(con),
			compileCommand(con),
			inspectCommand(con),
			explainCommand(con),
			whyCommand(con),
			formatCommand(con),
			lspCommand(con),
			replCommand(con),
			benchCommand(con),
			enginesCommand(con),
			versionCommand(con),
			completionCommand(con),
			manCommand(con),
			helpCommand(con),
		},
	}
	for _, cmd := range app.Commands {
		cmd.HideHelpCommand = true
		cmd.OnUsageError = usageErrorOf
		cmd.Action = namingCommand(cmd.Action)
	}
	return app
}

func versionCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version of redfox and what it was built with",
		Action: func(c *cli.Context) error {
			fmt.Fprintln(con.out, "redfox", buildVersion())
			return nil
		},
	}
}

// buildVersion names the version of redfox and what it was built with.
func buildVersion() string {
	return fmt.Sprintf("%s %s %s/%s", driver.Version(), goruntime.Version(), goruntime.GOOS,
		goruntime.GOARCH)
}
