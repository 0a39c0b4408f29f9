// Package randprog makes random LogiQL programs with random facts, always the
// same from a seed, and shrinks those that show a failure.
//
// In: a seed. Out: program text that the front end accepts, whose evaluation
// ends, and facts as text. It must not import any package of redfox: what it
// writes goes through the front end like any other program. Tests and the
// self-test import it.
package randprog
