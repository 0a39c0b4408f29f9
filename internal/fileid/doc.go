// Package fileid identifies the contents of a file without reading them, by
// what the file system knows of the file.
//
// In: what os.File.Stat returns. Out: a text that differs once the file has
// been written, or replaced by another. It imports nothing of redfox.
package fileid
