package scratch

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestPages(t *testing.T) {
	if !CanMap {
		t.Skip("files cannot be mapped")
	}
	dir := t.TempDir()
	p := NewPages(dir)
	var all [][]byte
	var owners []any
	const half = regionBytes / 2
	for i, n := range []int{1, 63, 64, 65, half - 1, half, 100, regionBytes + 1, 7} {
		data, owner, err := p.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) != n || cap(data) != n || owner == nil || bytes.Count(data, []byte{0}) != n {
			t.Fatalf("%d bytes: %d of %d", n, len(data), cap(data))
		}
		for j := range data {
			data[j] = byte(i + 1)
		}
		all, owners = append(all, data), append(owners, owner)
	}
	for i, data := range all {
		if bytes.Count(data, []byte{byte(i + 1)}) != len(data) {
			t.Errorf("another piece has written to piece %d", i)
		}
	}
	if p.Bytes() < 2*regionBytes {
		t.Errorf("the file has %d bytes", p.Bytes())
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("the file has a name: %v, %v", names, err)
	}
	if len(owners) != len(all) {
		t.Error("owners are lost")
	}
}

func TestPagesNowhere(t *testing.T) {
	if !CanMap {
		t.Skip("files cannot be mapped")
	}
	folder := filepath.Join(t.TempDir(), "none")
	_, _, err := NewPages(folder).Alloc(1)
	var failed *Error
	if !errors.As(err, &failed) || !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
	if want := "redfox cannot make a file in " + folder + ": no such file or directory"; err.Error() != want {
		t.Errorf("%q, not %q", err, want)
	}
}
