package confine

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// tree makes files, which hold their names, and symbolic links in a new folder,
// and makes it the current one.
func tree(t *testing.T, files []string, links map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, name := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range links {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestOpen reads by paths of all kinds.
func TestOpen(t *testing.T) {
	dir := tree(t, []string{"a/file", "a/deep/file", "b/file", "c/file", "ab/file"},
		map[string]string{
			"a/out":        "../c/file",
			"a/folder":     "../c",
			"a/other":      "../b/file",
			"a/near":       "deep/file",
			"a/loop":       "loop",
			"a/broken":     "../c/none",
			"a/brokennear": "deep/none",
			"link":         "a",
			"sideways":     "b",
		})
	if err := os.Symlink(filepath.Join(dir, "a/deep"), "a/absolute"); err != nil {
		t.Fatal(err)
	}
	folders := Folders{"link", filepath.Join(dir, "b")}
	for path, want := range map[string]string{
		"a/file":           "a/file",
		"link/file":        "a/file",
		"a/deep/../file":   "a/file",
		"a/near":           "a/deep/file",
		"a/absolute/file":  "a/deep/file",
		"a/other":          "b/file",
		"sideways/file":    "b/file",
		"c/../b/file":      "b/file",
		dir + "/a/file":    "a/file",
		"a/none":           "missing",
		"a/none/none":      "missing",
		"a/brokennear":     "missing",
		"a/loop":           "error",
		"c/file":           "outside",
		"ab/file":          "outside",
		"a/../c/file":      "outside",
		"a/folder/file":    "outside",
		"a/folder/none":    "outside",
		"a/out":            "outside",
		"a/broken":         "outside",
		"none":             "outside",
		"/etc/passwd":      "outside",
		dir + "/c/file":    "outside",
		dir + "/a/../file": "outside",
		"":                 "outside",
	} {
		got := ""
		var outside *OutsideError
		f, err := folders.Open(path)
		switch {
		case errors.As(err, &outside):
			got = "outside"
		case errors.Is(err, fs.ErrNotExist):
			got = "missing"
		case err != nil:
			got = "error"
		default:
			text, err := io.ReadAll(f)
			if err != nil {
				t.Error(err)
			}
			got = string(text)
			f.Close()
		}
		if got != want {
			t.Errorf("%s: %s, want %s: %v", path, got, want, err)
		}
		if isOutside := folders.Check(path) != nil; isOutside != (want == "outside") {
			t.Errorf("%s: Check says %v", path, isOutside)
		}
	}
	if _, err := (Folders)(nil).Open("a/file"); !errors.As(err, new(*OutsideError)) {
		t.Errorf("without folders: %v", err)
	}
}

// TestOutsideError words where a path leads.
func TestOutsideError(t *testing.T) {
	dir := tree(t, []string{"a/file", "c/file"}, map[string]string{"a/out": "../c/file"})
	for path, want := range map[string]string{
		"c/file": "c/file is in no folder that is allowed",
		"a/out": "a/out leads to " + filepath.Join(dir, "c/file") +
			", which is in no folder that is allowed",
	} {
		if err := (Folders{"a"}).Check(path); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestWrite writes below the folders alone.
func TestWrite(t *testing.T) {
	tree(t, []string{"a/file", "c/file"},
		map[string]string{"a/out": "../c/file", "a/folder": "../c", "a/new": "../c/new",
			"a/link": "file"})
	folders := Folders{"a"}
	write := func(path string) error {
		return folders.Write(path, func(w io.Writer) error {
			_, err := io.WriteString(w, "written")
			return err
		})
	}
	for _, path := range []string{"a/file", "a/one", "a/two/three/file", "a/link"} {
		if err := write(path); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "written" {
			t.Errorf("%s holds %q, %v", path, text, err)
		}
	}
	for _, path := range []string{"c/file", "c/other", "a/out", "a/folder/file", "a/folder/other",
		"a/new", "a/../x"} {
		if err := write(path); !errors.As(err, new(*OutsideError)) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if text, err := os.ReadFile("c/file"); err != nil || string(text) != "c/file" {
		t.Errorf("the file outside holds %q, %v", text, err)
	}
	if found, err := os.ReadDir("c"); err != nil || len(found) != 1 {
		t.Errorf("outside are %v, %v", found, err)
	}
}

// TestSwappedLinks opens a file while its folder becomes a link to the outside
// and back: what is read is never from there.
func TestSwappedLinks(t *testing.T) {
	tree(t, []string{"a/x/file", "c/file"}, nil)
	if err := os.Symlink("../c", "a/link"); err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	done := make(chan error, 1)
	go func() {
		var err error
		for !stop.Load() && err == nil {
			for _, move := range [][2]string{{"a/x", "a/y"}, {"a/link", "a/x"}, {"a/x", "a/link"},
				{"a/y", "a/x"}} {
				if err == nil {
					err = os.Rename(move[0], move[1])
				}
			}
		}
		done <- err
	}()
	read := 0
	for range 3000 {
		f, err := (Folders{"a"}).Open("a/x/file")
		if err != nil {
			continue
		}
		text, err := io.ReadAll(f)
		f.Close()
		if err != nil || string(text) != "a/x/file" {
			t.Fatalf("read %q, %v", text, err)
		}
		read++
	}
	stop.Store(true)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if f, err := (Folders{"a"}).Open("a/x/file"); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
	t.Logf("read %d times", read)
}
