//go:build unix

package kernelcache

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stranger is a user who is neither root nor, most likely, the one who tests.
const stranger = 54321

// TestUntrustedFolders uses no folder into which others can write.
func TestUntrustedFolders(t *testing.T) {
	for _, test := range []struct {
		name   string
		mode   os.FileMode
		owner  int // 0 leaves the folder to the user who tests
		reason string
	}{
		{"private", 0o700, 0, ""},
		{"readable", 0o755, 0, ""},
		{"of the group", 0o770, 0, "others may write to it, its mode is drwxrwx---"},
		{"of all", 0o777, 0, "others may write to it, its mode is drwxrwxrwx"},
		{"sticky", 0o777 | os.ModeSticky, 0, "others may write to it, its mode is dtrwxrwxrwx"},
		{"of a stranger", 0o700, stranger, "it belongs to the user with the number 54321"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCache(t, DefaultBound)
			c.Put("a", object("a"))
			if test.owner != 0 {
				giveTo(t, c.Dir(), test.owner)
			}
			if err := os.Chmod(c.Dir(), test.mode); err != nil {
				t.Fatal(err)
			}
			c.Put("b", object("b"))
			var untrusted *UntrustedError
			if got := c.Problem(); test.reason == "" {
				if got != nil {
					t.Error(got)
				}
			} else if !errors.As(got, &untrusted) || untrusted.Reason != test.reason ||
				!strings.Contains(untrusted.Help, c.Dir()) {
				t.Errorf("got %v, want %s", got, test.reason)
			}
			for _, key := range []string{"a", "b"} {
				if _, ok := c.Get(key); ok != (test.reason == "") {
					t.Errorf("%s is there: %v", key, ok)
				}
			}
			if _, err := os.Stat(c.path("b")); (err == nil) != (test.reason == "") {
				t.Errorf("b was written: %v", err)
			}
		})
	}
}

// giveTo changes a file's owner, which only root may.
func giveTo(t *testing.T, path string, owner int) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to others")
	}
	if err := os.Chown(path, owner, -1); err != nil {
		t.Skip(err)
	}
}

// TestUntrustedEntries uses no entry that others could have written, and
// replaces it.
func TestUntrustedEntries(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"of the group":  func(t *testing.T, path string) { chmod(t, path, 0o660) },
		"of all":        func(t *testing.T, path string) { chmod(t, path, 0o606) },
		"of a stranger": func(t *testing.T, path string) { giveTo(t, path, stranger) },
		"a link to elsewhere": func(t *testing.T, path string) {
			elsewhere := filepath.Join(t.TempDir(), "entry")
			if err := os.Rename(path, elsewhere); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(elsewhere, path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCache(t, DefaultBound)
			c.Put("a", object("a"))
			path := c.path("a")
			spoil(t, path)
			if _, ok := c.Get("a"); ok {
				t.Error("the entry is taken")
			}
			if strings.HasPrefix(name, "a link") {
				return // which Put leaves alone
			}
			c.Put("a", object("a"))
			if got, ok := c.Get("a"); !ok || !bytes.Equal(got, object("a")) {
				t.Error("the entry is not replaced")
			}
		})
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// TestModes makes folders and entries that only the user can read and write.
func TestModes(t *testing.T) {
	c := newCache(t, DefaultBound)
	c.Put("a", object("a"))
	for path, want := range map[string]string{c.Dir(): "drwx------",
		c.path("a"): "-rw-------"} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().String() != want {
			t.Errorf("%s: %v, want %s", path, info.Mode(), want)
		}
	}
}
