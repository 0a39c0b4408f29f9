package fileid

import (
	"fmt"
	"io/fs"
	"syscall"
	"time"
)

// of names the file by its device and inode. The time of the last change of the
// inode is not a program's to set, unlike that of the last write.
func of(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || time.Since(time.Unix(stat.Ctim.Unix())) < settled {
		return ""
	}
	return fmt.Sprintf("device %d inode %d size %d written %d changed %d", stat.Dev, stat.Ino,
		info.Size(), info.ModTime().UnixNano(), stat.Ctim.Nano())
}
