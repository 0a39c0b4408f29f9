// Package enginetest holds an engine against the go engine, which is the
// reference: all whole programs of the project, random programs, and programs
// that reach every form of set, index and group table.
//
// In: an engine. Out: failures of a test. Only tests import it; it may import
// all of the compiler, and the go engine.
package enginetest
