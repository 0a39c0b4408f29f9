// Package testprograms finds the programs of testdata for the tests of single
// phases.
//
// In: paths. Out: the text of whole programs. It is for tests alone, and must
// not import anything of redfox, so that those of every phase may use it.
package testprograms
