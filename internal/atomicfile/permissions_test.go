//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestPermissionsAndLinks(t *testing.T) {
	dir := t.TempDir()
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	path := filepath.Join(dir, "out")
	put(t, path, "1")
	mode := func(want fs.FileMode) {
		t.Helper()
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("the mode is %v, %v; want %v", info.Mode(), err, want)
		}
	}
	mode(0o640)
	if err := os.Chmod(path, 0o604); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("out", link); err != nil {
		t.Fatal(err)
	}
	put(t, link, "2")
	mode(0o604)
	holds(t, path, "2")
	if to, err := os.Readlink(link); err != nil || to != "out" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}
