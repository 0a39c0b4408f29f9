//go:build unix

package kernelcache

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// distrust returns why a file or a folder may hold what others have written,
// and a format of what to do about the folder of that name; "" if it does not.
func distrust(info fs.FileInfo) (reason, help string) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return "its owner is not known", "name another folder than %s"
	case int64(stat.Uid) != int64(os.Geteuid()) && stat.Uid != 0:
		return fmt.Sprintf("it belongs to the user with the number %d", stat.Uid),
			"let " + Variable + " name a folder of your own instead of %s"
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Sprintf("others may write to it, its mode is %v", info.Mode()),
			"delete what is in it, and run chmod go-w %s"
	}
	return "", ""
}
