// Command runtests runs `go test` and says at the end what it left out.
//
// In: the arguments of `go test`. Out: the text of failed tests, a line for each
// package, and then every skipped test with its reason, so that a green run
// never hides that a comparison had no peer or a machine no device. It exits
// with 1 if a test failed. It must not import any package of redfox; the
// Makefile uses it.
package main
