// Package list maps slices, which the standard library does not do.
//
// It imports nothing of redfox; no flag prints it.
package list
