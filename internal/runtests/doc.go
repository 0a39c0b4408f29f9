// Command runtests runs `go test` and reports what failed, what was left out,
// and what took the time.
//
// In: the arguments of `go test`. Out: the text of failed tests, a line for
// each package, the slowest packages, and every skipped test with its reason,
// so that a green run never hides that a comparison had no peer or a machine no
// device. A passing test can log "left out: ..." about cases that it did not
// run; that is listed, too. Exit code 1 means that a test failed, 2 that `go
// test` could not be started. Unless the arguments have a -timeout, a package
// has an hour. The Makefile uses the command; it must not import any package of
// redfox.
package main
