package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// names lists what is in a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// holds fails unless a file has a text.
func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", filepath.Base(path), got, err, want)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := WriteBytes(path, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// TestFailureLeavesTheOldFile fails in each way that writing can.
func TestFailureLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	put(t, path, "old")
	boom := errors.New("boom")
	for name, write := range map[string]func(io.Writer) error{
		"at once": func(io.Writer) error { return boom },
		"after more than the buffer takes": func(w io.Writer) error {
			io.WriteString(w, strings.Repeat("x", 1<<20))
			if len(names(t, dir)) != 2 {
				t.Error("what is written is not beside the old file")
			}
			return boom
		},
		"by a panic": func(io.Writer) error { panic(boom) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if p := recover(); p != nil && p != any(boom) {
					panic(p)
				}
				holds(t, path, "old")
				if got := names(t, dir); !slices.Equal(got, []string{"out"}) {
					t.Errorf("left behind: %v", got)
				}
			}()
			if err := Write(path, write); err != boom {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestSeveral commits files that belong together when all are whole.
func TestSeveral(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a"), "old")
	var files []*File
	for _, name := range []string{"a", "b"} {
		f, err := Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Discard()
		io.WriteString(f, "new")
		if err := f.Finish(); err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	holds(t, filepath.Join(dir, "a"), "old")
	if err := files[0].Commit(); err != nil {
		t.Fatal(err)
	}
	files[1].Discard()
	files[0].Discard() // does nothing
	holds(t, filepath.Join(dir, "a"), "new")
	if got := names(t, dir); !slices.Equal(got, []string{"a"}) {
		t.Errorf("there are %v", got)
	}
}

// TestNotAFile writes to what cannot be replaced or made.
func TestNotAFile(t *testing.T) {
	dir := t.TempDir()
	put(t, os.DevNull, "x")
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("the null device is %v, %v", info.Mode(), err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "none", "out")} {
		err := WriteBytes(path, nil)
		if e := new(fs.PathError); !errors.As(err, &e) || e.Path != path ||
			strings.Contains(err.Error(), "partial") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		err := WriteBytes("/dev/full", []byte("x"))
		if !errors.Is(err, syscall.ENOSPC) ||
			err.Error() != "write /dev/full: no space left on device" {
			t.Errorf("a full device: %v", err)
		}
	}
}

// TestAtOnce writes one file from many goroutines, beside what a dead process
// has left.
func TestAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			if err := WriteBytes(path,
				[]byte(strings.Repeat(string(rune('a'+i)), 1<<17))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	got, err := os.ReadFile(path)
	if err != nil || len(got) != 1<<17 || strings.Trim(string(got), string(got[0])) != "" {
		t.Errorf("%d bytes, %v, of more than one writer", len(got), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, Leftovers)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
