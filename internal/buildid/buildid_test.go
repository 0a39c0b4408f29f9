package buildid

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
)

// TestGet finds the ID of the test itself, of a copy of it, and of copies that
// differ.
func TestGet(t *testing.T) {
	id, err := Get()
	if err != nil || id == "" {
		t.Fatalf("%q, %v", id, err)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	copied := func(data []byte) string {
		t.Helper()
		name := filepath.Join(t.TempDir(), "copy")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		id, err := ofFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if got := copied(data); got != id {
		t.Errorf("a copy has the ID %s, not %s", got, id)
	}
	if got := copied([]byte("#!/bin/sh\n")); !strings.HasPrefix(got, "sha256 ") ||
		got == copied([]byte("#!/bin/bash\n")) {
		t.Errorf("a script has the ID %s", got)
	}
	if _, err := ofFile(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there has an ID")
	}
	if goruntime.GOOS != "linux" {
		return
	}
	file, err := elf.Open(own)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	at := file.Section(".note.go.buildid").Offset
	for what, change := range map[string]func([]byte){
		"a text of its own": func(note []byte) { copy(note[16:], bytes.Repeat([]byte("x"), 83)) },
		"no name":           func(note []byte) { note[12] = 'X' },
		"a length too long": func(note []byte) { note[5] = 0xff },
	} {
		other := bytes.Clone(data)
		change(other[at:])
		if got := copied(other); !strings.HasPrefix(got, "sha256 ") {
			t.Errorf("with %s the ID is %s", what, got)
		}
	}
	other := bytes.Clone(data)
	other[at+16]++
	if got := copied(other); got == id || !strings.HasPrefix(got, "go ") {
		t.Errorf("another build has the ID %s, as %s", got, id)
	}
}
