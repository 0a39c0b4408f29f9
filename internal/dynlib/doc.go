// Package dynlib opens shared libraries at run time, without cgo, for the
// packages that bind them.
//
// In: names of libraries and functions. Out: handles, addresses, and copies of
// C strings. It imports no package of redfox.
package dynlib
