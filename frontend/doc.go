// Package frontend is the facade of the front end: program text in, a checked
// core program and diagnostics out.
//
// In: source files. Out: package core's program, or nil and what is wrong. It
// may import all packages of the front end and must not import any other phase.
// `redfox compile --emit ast`, `--emit normal` and `--emit core` print what it
// makes.
package frontend
