package fileid

import (
	"io/fs"
	"time"
)

// settled is how long ago a file must have changed for the clock of its file
// system to tell a later change from the last one. FAT counts two seconds.
const settled = 3 * time.Second

// Of returns the identity of a regular file, or "" if there is none: another
// system lacks what it takes, or the file changed a moment ago and could change
// again without a trace.
func Of(info fs.FileInfo) string {
	if !info.Mode().IsRegular() || time.Since(info.ModTime()) < settled {
		return ""
	}
	return of(info)
}
