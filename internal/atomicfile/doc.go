// Package atomicfile writes files that appear only when they are whole.
//
// In: a path and what is to be in the file. Out: the file, or an error and the
// file that was there before. The new one is written in the folder of the old
// one and takes its name by a rename, which a reader sees done or not done.
// After a failure, a panic or a cancelled writer nothing is left of it. It must
// not import any package of redfox.
//
// # Processes that are killed
//
// A process that is killed leaves the old file as it was, and the unfinished
// one, whose name Leftovers matches. On Linux the writer holds a lock on that
// until it is whole. The next process that writes to the folder takes the locks
// of such files, and removes those that it gets: their writers are gone. On a
// file system that several machines share, a lock may not reach the others.
// There it removes only what was made under the running kernel, which a part of
// the name tells. A file that an earlier version left, without a lock, stays.
//
// # Power loss
//
// Create and Write promise nothing after a loss of power or a crash of the
// system: the rename may reach the disk before the data, and the file is then
// the old one, the new one or, on some file systems, empty or cut short. What
// redfox writes can be computed again, and syncing costs more than writing. A
// File that is Durable, as one that replaces a user's own text should be, is
// synced before the rename and its folder after it: the file is then the old
// one or the new one.
package atomicfile
