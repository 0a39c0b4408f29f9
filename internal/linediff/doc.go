// Package linediff shows the difference of two texts by lines.
//
// In: texts. Out: their difference, as `redfox explain --steps` prints it. It
// imports nothing of redfox.
package linediff
