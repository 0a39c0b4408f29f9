package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeIn makes a file below root.
func writeIn(root *os.Root, name, text string, perm fs.FileMode) error {
	f, err := CreateIn(root, name, name, perm)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write([]byte(text)); err != nil {
		return err
	}
	return f.Commit()
}

// TestCreateIn writes files below a folder, from which no link leads out.
func TestCreateIn(t *testing.T) {
	dir := t.TempDir()
	inside, outside := filepath.Join(dir, "inside"), filepath.Join(dir, "outside")
	for _, d := range []string{filepath.Join(inside, "deep"), outside} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"folder": outside, "file": secret, "near": "deep"} {
		if err := os.Symlink(to, filepath.Join(inside, name)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(inside)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"a", "a", "deep/b", "near/c"} {
		if err := writeIn(root, name, "text of "+name, 0); err != nil {
			t.Error(err)
		}
		if got, err := root.ReadFile(name); err != nil || string(got) != "text of "+name {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	for name, want := range map[string]string{
		"file":       "write file: this is a symbolic link, not a file",
		"deep":       "write deep: this is a folder, not a file",
		"folder/x":   "write folder/x: path escapes from parent",
		"../x":       "write ../x: path escapes from parent",
		"missing/x":  "write missing/x: no such file or directory",
		"/inside/x1": "write /inside/x1: path escapes from parent",
	} {
		if err := writeIn(root, name, "x", 0); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != "kept" {
		t.Errorf("the file outside is %q, %v", text, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", Leftovers)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if found, err := os.ReadDir(outside); err != nil || len(found) != 1 {
		t.Errorf("the folder outside has %v, %v", found, err)
	}
}

// TestPermissionsBelow gives a file the permissions that are asked for, or else
// those of the file that it replaces.
func TestPermissionsBelow(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var got []string
	for _, perm := range []fs.FileMode{0o600, 0, 0o400, 0} {
		if err := writeIn(root, "a", "x", perm); err != nil {
			t.Fatal(err)
		}
		info, err := root.Stat("a")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, info.Mode().String())
	}
	if want := "-rw------- -rw------- -r-------- -r--------"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
