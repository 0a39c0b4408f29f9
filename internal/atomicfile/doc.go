// Package atomicfile writes files that appear only when they are whole.
//
// In: a path and what is to be in the file. Out: the file, or an error and the file
// that was there before. The new one is written in the folder of the old one and
// takes its name by a rename, which a reader sees done or not done; after a failure,
// a panic or a cancelled writer nothing is left of it. Only a process that is killed
// leaves one behind, whose name Leftovers matches.
//
// Nothing is synced: after a crash of the machine, a file may be the old one or, on
// some file systems, cut short. It must not import any package of redfox.
package atomicfile
