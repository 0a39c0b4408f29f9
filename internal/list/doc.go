// Package list maps and filters slices into new ones, which package slices does
// not do.
//
// It imports nothing of redfox; no flag prints it.
package list
