// Command redfox checks, runs and explains LogiQL programs.
//
// In: a command line, program files, facts. Out: results on standard output,
// everything else on standard error, and an exit code: 0 when it is done, 1
// when the program or its data is wrong, 2 when the machine or the command line
// is, 3 when redfox is, 130 after a signal that asks it to end. It imports the
// redfox package, which does all the work, frontend/diag to render diagnostics,
// and frontend/lsp, the server for editors. It must not import any other phase
// or engine.
//
// `redfox help COMMAND` prints what each command takes; the flags are one
// table, in flags.go. REDFOX_DEBUG=1 adds to an internal error what a report of
// it needs.
package main
