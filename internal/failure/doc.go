// Package failure defines the two failures that are not the user's program:
// [Environment] for what the machine or the call lacks, and [Internal] for a
// bug. [Recover] turns a panic of a phase into an [Internal]. The package
// imports nothing of redfox, so every layer can return its errors in their
// final form.
package failure
