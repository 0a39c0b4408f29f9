// Package buildid tells builds of the running executable apart, so that what
// one build has generated is not taken for another's.
//
// In: the executable's file. Out: a text. It must not import any package of
// redfox.
package buildid
