package fileid

import (
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"testing"
	"time"
)

// TestOf has a file whose last change is long ago only as far as a program can
// say so, and one that is old: the executable of the test's toolchain.
func TestOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	identity := func(path string) string {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return Of(info)
	}
	if id := identity(path); id != "" {
		t.Errorf("a new file: %s", id)
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
	if id := identity(path); id != "" {
		t.Errorf("a new file with an old time: %s", id)
	}
	if id := identity(t.TempDir()); id != "" {
		t.Errorf("a folder: %s", id)
	}
	if goruntime.GOOS != "linux" {
		return
	}
	old, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell, which is an old file")
	}
	if first, again := identity(old), identity(old); first == "" || first != again {
		t.Errorf("an old file: %q, then %q", first, again)
	}
}
